/** A run that was refused has stopped: what the cause is, asked once more along the same way. */
import type { DoctorOptions } from '../doctor/doctor-options.js'
import { explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import type { Receipt } from '../index.js'
import type { Access } from '../options/access.js'
import type { Effective } from '../options/resolve.js'
import { doctorOptions } from './doctor-options.js'

/** A person waits for it. */
const PATIENCE_MS = 15_000
/** Fresh connections, however few the preflight asked for: something is known to be wrong. */
const LEAST_CONNECTIONS = 16

export interface Asking {
  readonly doctor: DoctorOptions
  /** A limit of bytes is set: nothing more is sent. */
  readonly isMetered: boolean
  /** When the time of the process is over, in milliseconds since the epoch. Absent: never. */
  readonly endsAt?: number
}

export function askingFor(effective: Effective, access: Access): Asking {
  const { byteBudget, timeBudget } = effective.values
  const doctor = doctorOptions(effective, access)
  const preflightConnections = Math.max(LEAST_CONNECTIONS, doctor.preflightConnections ?? 0)
  return {
    // A load sends nothing past the proxy, not even when it has stopped.
    doctor: { ...doctor, preflightConnections, directCheck: false, writeCheck: false },
    isMetered: byteBudget !== undefined,
    ...(timeBudget === undefined ? {} : { endsAt: performance.timeOrigin + timeBudget }),
  }
}

/** The run's receipt, or what it threw, with the cause in the place of the symptom where one is found. */
export async function tellingCause(running: Promise<Receipt>, asking: Asking, signal: AbortSignal): Promise<Receipt> {
  try {
    const receipt = await running
    const { failure: symptom } = receipt
    return symptom === undefined ? receipt : { ...receipt, failure: await causeOf(symptom, asking, signal) }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    throw new SluiceError(await causeOf(error.failure, asking, signal), { cause: error })
  }
}

/** Evidence of the cause names the symptom (`stoppedBy`) where it is another, and what to do first (`next`). */
async function causeOf(symptom: Failure, asking: Asking, signal: AbortSignal): Promise<Failure> {
  const { doctor, isMetered, endsAt = Infinity } = asking
  const patienceMs = Math.min(PATIENCE_MS, endsAt - Date.now())
  if (!isRefusal(symptom) || isMetered || signal.aborted || patienceMs <= 0) return symptom
  const { diagnoseRefusal } = await import('../doctor/after-refusal.js')
  const limited = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
  try {
    const cause = await diagnoseRefusal(symptom, { ...doctor, signal: limited })
    if (cause === undefined || (cause.isOver && !isAskedAgain(symptom))) return symptom
    const { code, message, evidence } = cause.finding
    const stoppedBy = code === symptom.code ? {} : { stoppedBy: `${symptom.code}: ${symptom.message}` }
    const next = cause.next === undefined ? {} : { next: cause.next }
    return { code, message, evidence: { ...symptom.evidence, ...evidence, ...stoppedBy, ...next } }
  } catch (error) {
    if (limited.aborted) return symptom
    throw error
  }
}

/** Whether somebody on the way has refused, or did not answer. What a bulk request holds is refused by nobody else. */
function isRefusal({ code }: Failure): boolean {
  const { stage } = explain(code)
  if (code === 'REQUEST_REFUSED' || code === 'LOOKUP_REFUSED') return false
  return stage === 'proxy' || stage === 'egress' || stage === 'cluster' || code === 'INDEX_BLOCKED'
}

/** Whether probes meet the same, as long as it lasts. Only then it is over when they do not. */
function isAskedAgain({ code }: Failure): boolean {
  const { stage } = explain(code)
  if (stage === 'proxy' || stage === 'egress') return true
  return ['CLUSTER_UNAVAILABLE', 'CLUSTER_AUTH_REJECTED', 'CLUSTER_UNKNOWN_HOST'].includes(code)
}
