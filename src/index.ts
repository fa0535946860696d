/** Exports the library. Loads a function with its first call: an application that imports the library starts sooner. */
export type { AlarmOptions, Reported, RunOutcome } from './alarm/alarm-options.js'
export type { Connected } from './connect/connect.js'
export type { OverConnection } from './connect/over-connection.js'
export type { Cause } from './doctor/diagnose.js'
export type { DoctorOptions } from './doctor/doctor-options.js'
export type { DoctorReport, Finding, Severity } from './doctor/report.js'
export type { RollbackOptions, RolledBack } from './guarded/rollback.js'
export type { DocumentPlace, IngestOptions, ReplayOptions, TransformFunction } from './options/ingest-options.js'
export type {
  ConnectOptions,
  FreshCredentials,
  ProxyOptions,
  ServiceNowOptions,
  TableOptions,
  TargetOptions,
} from './options/connect-options.js'
export type { IngestEvent } from './options/run-events.js'
export type { ClusterInfo } from './cluster/preflight.js'
export { type Entry, type FailureCode, explain, failureCodes } from './failure/catalogue.js'
export { type Evidence, type Failure, SluiceError } from './failure/failure.js'
export type { Destination, Origin, Refused } from './flow.js'
export type { Operation } from './operation.js'
export type { AliasReceipt } from './guarded/guarded-load.js'
export {
  type Counts,
  type InputReceipt,
  type Receipt,
  type Rejections,
  isRunError as isSluiceError,
} from './ledger/receipt.js'
export type { DeletionsReceipt } from './tables/tables-receipt.js'
export type { PlanReceipt } from './traffic-plan/plan-use.js'
export type { SpoolReceipt } from './spool/spool-stdin.js'
export type { FileList, IngestSource } from './source/open-sources.js'
export type { ServeEvent, ServeOptions, ServeReceipt, ServeStatus, Serving, Waiting } from './serve/serve-options.js'
export type { VerifiedInput } from './verify/tally.js'
export type { InferOptions, InferredMapping } from './infer/infer-mapping.js'
export type { Restored, UntuneOptions } from './tuned/untune.js'
export type { Undone } from './verify/undo.js'
export type { Verification } from './verify/verify.js'
export type { UndoOptions, VerifyOptions } from './verify/verify-options.js'
import { loadedAtCall } from './options/snapshot.js'

const ingest = loadedAtCall(async () => (await import('./ingest.js')).ingest) as typeof import('./ingest.js').ingest

const inferMapping: typeof import('./infer/infer-mapping.js').inferMapping = loadedAtCall(
  async () => (await import('./infer/infer-mapping.js')).inferMapping,
)

const replay = loadedAtCall(async () => (await import('./replay.js')).replay) as typeof import('./replay.js').replay

const serve = loadedAtCall(
  async () => (await import('./serve/serve.js')).serve,
) as typeof import('./serve/serve.js').serve

const connect = loadedAtCall(
  async () => (await import('./connect/connect.js')).connect,
) as typeof import('./connect/connect.js').connect

const verify: typeof import('./verify/verify.js').verify = loadedAtCall(
  async () => (await import('./verify/verify.js')).verify,
)

const undo: typeof import('./verify/undo.js').undo = loadedAtCall(async () => (await import('./verify/undo.js')).undo)

const rollback: typeof import('./guarded/rollback.js').rollback = loadedAtCall(
  async () => (await import('./guarded/rollback.js')).rollback,
)

const restoreSettings: typeof import('./tuned/untune.js').restoreSettings = loadedAtCall(
  async () => (await import('./tuned/untune.js')).restoreSettings,
)

const reportRun: typeof import('./alarm/alarm.js').reportRun = loadedAtCall(
  async () => (await import('./alarm/alarm.js')).reportRun,
)

const diagnose: typeof import('./doctor/diagnose.js').diagnose = loadedAtCall(
  async () => (await import('./doctor/diagnose.js')).diagnose,
)

const diagnoseRefusal: typeof import('./doctor/diagnose.js').diagnoseRefusal = loadedAtCall(
  async () => (await import('./doctor/diagnose.js')).diagnoseRefusal,
)

export {
  connect,
  diagnose,
  diagnoseRefusal,
  inferMapping,
  ingest,
  replay,
  reportRun,
  restoreSettings,
  rollback,
  serve,
  undo,
  verify,
}
