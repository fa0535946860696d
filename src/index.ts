/** Exports the library. Loads a function with its first call: an application that imports the library starts sooner. */
export type { AlarmOptions, Reported, RunOutcome } from './programs/alarm/alarm.js'
export type { ClusterInfo, Connected } from './route/connect/open-target.js'
export type { OverConnection } from './route/connect/over-connection.js'
export type { Cause } from './programs/doctor/diagnose.js'
export type { DoctorOptions } from './route/examine/examine-options.js'
export type { DoctorReport, Finding, Severity } from './programs/doctor/report.js'
export type { RollbackOptions, RolledBack, AliasReceipt } from './features/guarded/rollback.js'
export type {
  DocumentPlace,
  FromOptions,
  IngestOptions,
  ReplayOptions,
  TransformFunction,
} from './options/ingest-options.js'
export type {
  ConnectOptions,
  FreshCredentials,
  ProxyOptions,
  ServiceNowOptions,
  TableOptions,
  TargetOptions,
} from './options/connect-options.js'
export type { IngestEvent } from './options/run-events.js'
export {
  type Entry,
  type FailureCode,
  explain,
  failureCodes,
  type Evidence,
  type Failure,
  SluiceError,
} from './base/failure/failure.js'
export type { Destination, Origin, Refused } from './base/flow.js'
export type { Operation } from './base/operation.js'
export {
  type Counts,
  type InputReceipt,
  type Receipt,
  type Rejections,
  isRunError as isSluiceError,
} from './pipeline/ledger/receipt.js'
export type { DeletionsReceipt } from './features/tables/open-platform.js'
export type { PlanReceipt } from './features/limits/traffic-plan/plan-use.js'
export type { SpoolReceipt } from './features/spool/segments.js'
export type { FileList, IngestSource } from './pipeline/source/open-sources.js'
export type { ServeEvent, ServeOptions, ServeReceipt, ServeStatus, Serving, Waiting } from './programs/serve/serve.js'
export type { InferOptions, InferredMapping } from './features/mapping/infer-mapping.js'
export type { Restored, UntuneOptions } from './features/tuned/untune.js'
export type { Undone, UndoOptions } from './programs/verify/undo.js'
export type {
  ComparedCounts,
  ComparedInput,
  Verification,
  VerifiedInput,
  VerifyOptions,
} from './programs/verify/verify.js'
export type { DeepVerification, VerifyDeepOptions } from './programs/verify/verify-deep.js'
import { loadedAtCall } from './base/caller.js'

const ingest = loadedAtCall(async () => (await import('./ingest.js')).ingest) as typeof import('./ingest.js').ingest

const inferMapping: typeof import('./features/mapping/infer-mapping.js').inferMapping = loadedAtCall(
  async () => (await import('./features/mapping/infer-mapping.js')).inferMapping,
)

const replay = loadedAtCall(async () => (await import('./replay.js')).replay) as typeof import('./replay.js').replay

const serve = loadedAtCall(
  async () => (await import('./programs/serve/serve.js')).serve,
) as typeof import('./programs/serve/serve.js').serve

const connect = loadedAtCall(
  async () => (await import('./route/connect/open-target.js')).connect,
) as typeof import('./route/connect/open-target.js').connect

const verify: typeof import('./programs/verify/verify.js').verify = loadedAtCall(
  async () => (await import('./programs/verify/verify.js')).verify,
)

const verifyDeep: typeof import('./programs/verify/verify-deep.js').verifyDeep = loadedAtCall(
  async () => (await import('./programs/verify/verify-deep.js')).verifyDeep,
)

const undo: typeof import('./programs/verify/undo.js').undo = loadedAtCall(
  async () => (await import('./programs/verify/undo.js')).undo,
)

const rollback: typeof import('./features/guarded/rollback.js').rollback = loadedAtCall(
  async () => (await import('./features/guarded/rollback.js')).rollback,
)

const restoreSettings: typeof import('./features/tuned/untune.js').restoreSettings = loadedAtCall(
  async () => (await import('./features/tuned/untune.js')).restoreSettings,
)

const reportRun: typeof import('./programs/alarm/alarm.js').reportRun = loadedAtCall(
  async () => (await import('./programs/alarm/alarm.js')).reportRun,
)

const diagnose: typeof import('./programs/doctor/diagnose.js').diagnose = loadedAtCall(
  async () => (await import('./programs/doctor/diagnose.js')).diagnose,
)

const diagnoseRefusal: typeof import('./programs/doctor/diagnose.js').diagnoseRefusal = loadedAtCall(
  async () => (await import('./programs/doctor/diagnose.js')).diagnoseRefusal,
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
  verifyDeep,
}
