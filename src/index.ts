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
export type { ClusterInfo } from './cluster/version.js'
export { type Entry, type FailureCode, explain, failureCodes } from './failure/catalogue.js'
export type { Evidence, Failure } from './failure/failure.js'
export { SluiceError, isSluiceError } from './failure/sluice-error.js'
export type { Destination, Operation, Origin, Refused } from './flow.js'
export type { AliasReceipt } from './guarded/alias-receipt.js'
export type { Counts, InputReceipt, Receipt, Rejections } from './ledger/receipt.js'
export type { DeletionsReceipt } from './tables/tables-receipt.js'
export type { SpoolReceipt } from './spool/spool-stdin.js'
export type { IngestSource } from './source/open-sources.js'
export { serve } from './serve/serve.js'
export type { ServeEvent, ServeOptions, ServeReceipt, ServeStatus, Serving, Waiting } from './serve/serve-options.js'
export { undo } from './verify/undo.js'
export type { Undone } from './verify/verification.js'
export type { Verification, VerifiedInput } from './verify/verification.js'
export { verify } from './verify/verify.js'
export type { UndoOptions, VerifyOptions } from './verify/verify-options.js'
