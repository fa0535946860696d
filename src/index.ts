/** Exports the library. */
export { reportRun } from './alarm/alarm.js'
export type { AlarmOptions, Reported, RunOutcome } from './alarm/alarm-options.js'
export { connect, type Connected } from './connect/connect.js'
export { type Cause, diagnose, diagnoseRefusal } from './doctor/diagnose.js'
export type { DoctorOptions } from './doctor/doctor-options.js'
export type { DoctorReport, Finding, Severity } from './doctor/report.js'
export { ingest } from './ingest.js'
export { replay } from './replay.js'
export { type RollbackOptions, type RolledBack, rollback } from './guarded/rollback.js'
export type {
  ConnectOptions,
  FreshCredentials,
  IngestEvent,
  IngestOptions,
  ProxyOptions,
  ReplayOptions,
  ServiceNowOptions,
  TableOptions,
  TargetOptions,
} from './options/ingest-options.js'
export type { ClusterInfo } from './cluster/preflight.js'
export { type Entry, type FailureCode, explain, failureCodes } from './failure/catalogue.js'
export { type Evidence, type Failure, SluiceError } from './failure/failure.js'
export type { Destination, Operation, Origin, Refused } from './flow.js'
export type { AliasReceipt } from './guarded/guarded-load.js'
export {
  type Counts,
  type InputReceipt,
  type Receipt,
  type Rejections,
  isRunError as isSluiceError,
} from './ledger/receipt.js'
export type { DeletionsReceipt } from './tables/tables-receipt.js'
export type { SpoolReceipt } from './spool/spool-stdin.js'
export type { IngestSource } from './source/open-sources.js'
export { serve } from './serve/serve.js'
export type { ServeEvent, ServeOptions, ServeReceipt, ServeStatus, Serving, Waiting } from './serve/serve-options.js'
export type { VerifiedInput } from './verify/tally.js'
export { undo, type Undone } from './verify/undo.js'
export { verify, type Verification } from './verify/verify.js'
export type { UndoOptions, VerifyOptions } from './verify/verify-options.js'
