/** Asks the doctor, for the command `doctor` and for the cause of a refused run. */
import type { Cause } from '../../programs/doctor/diagnose.js'
import type { DoctorOptions } from '../../route/examine/examine-options.js'
import { explain, type Failure, isSluiceError, reachedBefore, SluiceError } from '../../base/failure/failure.js'
import type { Receipt, ServiceNowOptions } from '../../index.js'
import type { Effective } from '../settings/resolve.js'
import { optionNames, shownOption } from '../../options/describe-option.js'
import { hidden } from '../../base/secrets.js'
import { connectOptions } from '../settings/library-options.js'
import type { ClusterAccess } from '../settings/option-files.js'
import { nodeUrls } from '../../base/addresses.js'
import { loadAccess, serviceNowOptions } from './load-options.js'
import { recordCause } from './record-failure.js'
import type { Terminal } from '../terminal/terminal.js'

/** Returns the doctor's options from the user's settings. `servicenow`: set to check an instance. */
export function doctorOptions(
  effective: Effective,
  access: ClusterAccess,
  servicenow?: ServiceNowOptions,
  table?: string,
): DoctorOptions {
  const { index, op, nodes, noDirectCheck, writeCheck } = effective.values
  return {
    ...connectOptions(effective, access),
    servicenow,
    table,
    index,
    op,
    nodes: nodeUrls(nodes),
    directCheck: !noDirectCheck,
    writeCheck,
    settings: settingsOf(effective),
  }
}

function settingsOf({ values, origins }: Effective): NonNullable<DoctorOptions['settings']> {
  return optionNames.flatMap(name => {
    // A report goes to others, and a user name may be a password in the wrong place.
    const isUser = /username$/i.test(name) && values[name] !== undefined
    const value = isUser ? hidden : shownOption(name, values[name])
    if (value === undefined) return []
    return [{ name, value: typeof value === 'string' ? value : JSON.stringify(value), from: origins[name] }]
  })
}

/** A person waits for the diagnosis. */
const PATIENCE_MS = 15_000
/** Fresh connections at least: something is known to be wrong. */
const LEAST_CONNECTIONS = 16

export interface Asking {
  /** Returns the doctor's options at that time: the load may have renewed its credentials. */
  readonly doctor: () => Promise<DoctorOptions>
  /** Called with the cause of a refusal, and the run that it ended. */
  readonly found?: (run: string | undefined, cause: Failure) => Promise<void>
  /** With a byte budget Sluice sends nothing more. */
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
      // A load never connects directly, not even to find a cause.
      return { ...doctor, index, op, preflightConnections, directCheck: false, writeCheck: false }
    },
    found: async (run, cause) => await recordCause(effective, terminal, run, cause),
    isMetered: byteBudget !== undefined,
    ...(timeBudgetMs === undefined ? {} : { endsAt: performance.timeOrigin + timeBudgetMs }),
  }
}

/** Returns the run's receipt or throws its error. Replaces the symptom by its cause if the doctor finds one. */
export async function tellingCause(running: Promise<Receipt>, asking: Asking, signal: AbortSignal): Promise<Receipt> {
  try {
    const receipt = await running
    const { failure: symptom } = receipt
    // The doctor checks the route to the cluster, so it cannot explain why an input is unreadable.
    const isOfInput = receipt.inputs.some(input => input.failure === symptom)
    if (symptom === undefined || isOfInput) return receipt
    const failure = await causeOf(symptom, receipt, asking, signal)
    return { ...receipt, failure, exit: explain(failure.code).exit }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    const { failure, run } = error
    throw new SluiceError(await causeOf(failure, { run }, asking, signal), { cause: error, run })
  }
}

async function causeOf(
  symptom: Failure,
  { run, requests = 0 }: { readonly run: string | undefined; readonly requests?: number },
  asking: Asking,
  signal: AbortSignal,
): Promise<Failure> {
  const { doctor, found, isMetered, endsAt = Infinity } = asking
  const patienceMs = Math.min(PATIENCE_MS, endsAt - Date.now())
  // The doctor checks the target.
  if (symptom.evidence['side'] === 'from') return symptom
  if (!isRefusal(symptom) || isMetered || signal.aborted || patienceMs <= 0) return symptom
  const patience = new AbortController()
  const timer = setTimeout(() => patience.abort(), patienceMs)
  try {
    const { diagnoseRefusal } = await import('../../programs/doctor/diagnose.js')
    const limited = AbortSignal.any([signal, patience.signal])
    const cause = await diagnoseRefusal(symptom, { ...(await doctor()), signal: limited })
    const failure = cause === undefined ? symptom : named(symptom, requests === 0 ? cause : afterRequests(cause))
    if (failure !== symptom) await found?.(run, failure)
    return failure
  } catch {
    // The diagnosis took too long, was interrupted, or could not read a file. The user still needs the receipt.
    return symptom
  } finally {
    clearTimeout(timer)
  }
}

/** The load sent requests, so it had reached the proxy. */
function afterRequests(cause: Cause): Cause {
  const { next: _, ...others } = cause
  const finding = reachedBefore(cause.finding)
  return finding === cause.finding ? cause : { ...others, finding }
}

/** Adds evidence to the cause: the symptom (`stoppedBy`) if different, and the first thing to do (`next`). */
function named(symptom: Failure, { finding, next, isOver }: Cause): Failure {
  if (isOver ? !isAskedAgain(symptom) : isLess(finding, symptom)) return symptom
  const { code, message, evidence } = finding
  const first = next === undefined ? {} : { next }
  if (sawFewer(finding, symptom)) return { ...symptom, evidence: { ...symptom.evidence, ...first } }
  const seen = code === symptom.code ? symptom.evidence : { stoppedBy: `${symptom.code}: ${symptom.message}` }
  const { exit, retry } = explain(code)
  return { code, message, evidence: { ...seen, ...evidence, ...first }, exit, retry }
}

/** On a slow machine, the diagnosis may get too few answers in time. Then the report shows the evidence of the load. */
function sawFewer({ code, evidence }: Pick<Failure, 'code' | 'evidence'>, symptom: Failure): boolean {
  return code === symptom.code && Number(evidence['probes']) < Number(symptom.evidence['probes'])
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

/** Probes find why an instance or a whole table is refused, but not what is wrong with a query. */
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
  // A cluster may refuse bulk requests (no master, a gateway's time limit) and still answer probes.
  if (code === 'CLUSTER_UNAVAILABLE') return evidence['status'] === undefined
  return code === 'CLUSTER_AUTH_REJECTED' || code === 'CLUSTER_UNKNOWN_HOST'
}
