/** A run that was refused has stopped: what the cause is, asked once more along the same way. */
import type { Cause } from '../doctor/diagnose.js'
import type { DoctorOptions } from '../doctor/doctor-options.js'
import { explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import type { Receipt } from '../index.js'
import type { Effective } from '../options/resolve.js'
import { doctorOptions } from './doctor-flags.js'
import { loadAccess } from './load-options.js'
import { serviceNowOptions } from './servicenow-options.js'
import type { Terminal } from './terminal/terminal.js'

/** A person waits for it. */
const PATIENCE_MS = 15_000
/** Fresh connections, however few the preflight asked for: something is known to be wrong. */
const LEAST_CONNECTIONS = 16

export interface Asking {
  /** Returns the doctor's options at that time: the load may have renewed its credentials. */
  readonly doctor: () => Promise<DoctorOptions>
  /** A limit of bytes is set: nothing more is sent. */
  readonly isMetered: boolean
  /** When the time of the process is over, in milliseconds since the epoch. Absent: never. */
  readonly endsAt?: number
}

/** `index` and `op`: set if the load has only one index and one operation. `tables`: set if the load reads tables. */
export function askingFor(
  effective: Effective,
  terminal: Terminal,
  { index, op }: Pick<DoctorOptions, 'index' | 'op'>,
  tables: readonly string[] = [],
): Asking {
  const { byteBudget, timeBudgetMs } = effective.values
  return {
    doctor: async () => {
      const platform = tables.length === 0 ? undefined : await serviceNowOptions(effective, terminal)
      const doctor = doctorOptions(effective, await loadAccess(effective, terminal), platform, tables[0])
      const preflightConnections = Math.max(LEAST_CONNECTIONS, doctor.preflightConnections ?? 0)
      // A load sends nothing past the proxy, not even when it has stopped.
      return { ...doctor, index, op, preflightConnections, directCheck: false, writeCheck: false }
    },
    isMetered: byteBudget !== undefined,
    ...(timeBudgetMs === undefined ? {} : { endsAt: performance.timeOrigin + timeBudgetMs }),
  }
}

/** Returns the run's receipt, or throws its error, with the cause instead of the symptom if one is found. */
export async function tellingCause(running: Promise<Receipt>, asking: Asking, signal: AbortSignal): Promise<Receipt> {
  try {
    const receipt = await running
    const { failure: symptom } = receipt
    // The doctor checks the route to the cluster, so it cannot explain why an input is unreadable.
    const isOfInput = receipt.inputs.some(input => input.failure === symptom)
    if (symptom === undefined || isOfInput) return receipt
    return { ...receipt, failure: await causeOf(symptom, asking, signal) }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    throw new SluiceError(await causeOf(error.failure, asking, signal), { cause: error })
  }
}

async function causeOf(symptom: Failure, asking: Asking, signal: AbortSignal): Promise<Failure> {
  const { doctor, isMetered, endsAt = Infinity } = asking
  const patienceMs = Math.min(PATIENCE_MS, endsAt - Date.now())
  if (!isRefusal(symptom) || isMetered || signal.aborted || patienceMs <= 0) return symptom
  const patience = new AbortController()
  const timer = setTimeout(() => patience.abort(), patienceMs)
  try {
    const { diagnoseRefusal } = await import('../doctor/diagnose.js')
    const limited = AbortSignal.any([signal, patience.signal])
    const cause = await diagnoseRefusal(symptom, { ...(await doctor()), signal: limited })
    return cause === undefined ? symptom : named(symptom, cause)
  } catch {
    // The diagnosis took too long, was interrupted, or could not read a file. The receipt must not be lost for that.
    return symptom
  } finally {
    clearTimeout(timer)
  }
}

/** Adds evidence to the cause: the symptom (`stoppedBy`) if different, and the first thing to do (`next`). */
function named(symptom: Failure, { finding, next, isOver }: Cause): Failure {
  if (isOver ? !isAskedAgain(symptom) : isLess(finding, symptom)) return symptom
  const { code, message, evidence } = finding
  const seen = code === symptom.code ? symptom.evidence : { stoppedBy: `${symptom.code}: ${symptom.message}` }
  return { code, message, evidence: { ...seen, ...evidence, ...(next === undefined ? {} : { next }) } }
}

/**
 * A passing problem does not explain a certain refusal, and a diagnosis of seconds does not explain a wait of
 * minutes.
 */
function isLess({ code }: Pick<Failure, 'code'>, symptom: Failure): boolean {
  if (explain(code).retry !== 'later') return false
  return explain(symptom.code).retry === 'no' || (code === symptom.code && code.endsWith('_TIMEOUT'))
}

/**
 * Returns whether somebody on the route refused or did not answer. Only the cluster refuses the contents of a bulk
 * request.
 */
function isRefusal({ code }: Failure): boolean {
  const { stage } = explain(code)
  if (code === 'REQUEST_REFUSED' || code === 'LOOKUP_REFUSED') return false
  return (
    stage === 'proxy' || stage === 'egress' || stage === 'cluster' || isOfInstance(code) || code === 'INDEX_BLOCKED'
  )
}

/** Refused before a table was looked at, or a whole table: what is wrong with a query, probes do not ask. */
function isOfInstance(code: Failure['code']): boolean {
  return explain(code).stage === 'servicenow' && !ofOneRequest.has(code)
}

const ofOneRequest: ReadonlySet<Failure['code']> = new Set([
  'SERVICENOW_PAGE_TRUNCATED',
  'SERVICENOW_QUERY_IGNORED',
  'SERVICENOW_REQUEST_REFUSED',
  'SERVICENOW_TABLE_UNKNOWN',
])

/**
 * Returns whether probes meet the same failure while it lasts. Only then a successful probe means that the failure is
 * over.
 */
function isAskedAgain({ code, evidence }: Failure): boolean {
  const { stage } = explain(code)
  if (stage === 'proxy' || stage === 'egress') return true
  // A passing failure is over if probes succeed. A status may have applied to one request only.
  if (stage === 'servicenow') return explain(code).retry === 'no' || evidence['status'] === undefined
  // A cluster that answers so to a bulk request (no master, a gateway's time limit) may answer what probes ask.
  if (code === 'CLUSTER_UNAVAILABLE') return evidence['status'] === undefined
  return code === 'CLUSTER_AUTH_REJECTED' || code === 'CLUSTER_UNKNOWN_HOST'
}
