/** Exports the library. Loads a function with its first call: an application that imports the library starts sooner. */
export type { AlarmOptions, Reported, RunOutcome } from './alarm/alarm-options.js'
export type { Connected } from './connect/connect.js'
export type { Cause } from './doctor/diagnose.js'
export type { DoctorOptions } from './doctor/doctor-options.js'
export type { DoctorReport, Finding, Severity } from './doctor/report.js'
export type { RollbackOptions, RolledBack } from './guarded/rollback.js'
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
export type { SpoolReceipt } from './spool/spool-stdin.js'
export type { IngestSource } from './source/open-sources.js'
export type { ServeEvent, ServeOptions, ServeReceipt, ServeStatus, Serving, Waiting } from './serve/serve-options.js'
export type { VerifiedInput } from './verify/tally.js'
export type { Undone } from './verify/undo.js'
export type { Verification } from './verify/verify.js'
export type { UndoOptions, VerifyOptions } from './verify/verify-options.js'
import { snapshot } from './options/snapshot.js'

const ingest: typeof import('./ingest.js').ingest = async (...given) => {
  const options = snapshot(given)
  return await (await import('./ingest.js')).ingest(...options)
}

const replay: typeof import('./replay.js').replay = async (...given) => {
  const options = snapshot(given)
  return await (await import('./replay.js')).replay(...options)
}

const serve: typeof import('./serve/serve.js').serve = async (...given) => {
  const options = snapshot(given)
  return await (await import('./serve/serve.js')).serve(...options)
}

const connect: typeof import('./connect/connect.js').connect = async (...given) => {
  const options = snapshot(given)
  return await (await import('./connect/connect.js')).connect(...options)
}

const verify: typeof import('./verify/verify.js').verify = async (...given) => {
  const options = snapshot(given)
  return await (await import('./verify/verify.js')).verify(...options)
}

const undo: typeof import('./verify/undo.js').undo = async (...given) => {
  const options = snapshot(given)
  return await (await import('./verify/undo.js')).undo(...options)
}

const rollback: typeof import('./guarded/rollback.js').rollback = async (...given) => {
  const options = snapshot(given)
  return await (await import('./guarded/rollback.js')).rollback(...options)
}

const reportRun: typeof import('./alarm/alarm.js').reportRun = async (...given) => {
  const options = snapshot(given)
  return await (await import('./alarm/alarm.js')).reportRun(...options)
}

const diagnose: typeof import('./doctor/diagnose.js').diagnose = async (...given) => {
  const options = snapshot(given)
  return await (await import('./doctor/diagnose.js')).diagnose(...options)
}

const diagnoseRefusal: typeof import('./doctor/diagnose.js').diagnoseRefusal = async (...given) => {
  const options = snapshot(given)
  return await (await import('./doctor/diagnose.js')).diagnoseRefusal(...options)
}

export { connect, diagnose, diagnoseRefusal, ingest, replay, reportRun, rollback, serve, undo, verify }
