import type { Clock } from '../../../base/flow.js'
import { failure, SluiceError } from '../../../base/failure/failure.js'
import { backoffMs, Retries } from '../../../base/time/retry.js'
import type { InstanceVerdict } from './judge-refusal.js'

export interface Persistence {
  readonly clock: Clock
  random(): number
  /** How long one request may fail for reasons that may pass. */
  readonly maxElapsedMs: number
}

/**
 * Retries until the verdict is not `later`. When the time is over, `later` becomes `stop`. Repeats what the instance
 * may have done only if that changes nothing (`isRepeatable`). Throws SluiceError RUN_INTERRUPTED.
 */
export async function persist<T>(
  attempt: () => Promise<InstanceVerdict<T>>,
  { clock, random, maxElapsedMs }: Persistence,
  { isRepeatable, signal }: { readonly isRepeatable: boolean; readonly signal?: AbortSignal | undefined },
): Promise<Exclude<InstanceVerdict<T>, { is: 'later' }>> {
  const retries = new Retries({ clock, maxElapsedMs, waitMs: refusals => backoffMs(refusals, random) })
  for (;;) {
    const verdict = await attempt()
    if (verdict.is !== 'later') return verdict
    if (!isRepeatable && !verdict.undone) return { is: 'stop', failure: withDoubt(verdict.failure) }
    const waitMs = retries.next(verdict.afterMs)
    if (waitMs === undefined) return { is: 'stop', failure: verdict.failure }
    await sleep(clock, waitMs, signal)
  }
}

function withDoubt(known: ReturnType<typeof failure>): ReturnType<typeof failure> {
  const message = `${known.message}. Sluice does not know whether ServiceNow made the change, and does not retry it`
  return { ...known, message, evidence: { ...known.evidence, outcome: 'unknown' } }
}

async function sleep(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await clock.sleep(ms, signal)
  } catch (error) {
    throw signal?.aborted === true ? abortedByCaller(signal) : error
  }
}

export function abortedByCaller(signal: AbortSignal): SluiceError {
  const named = failure('RUN_INTERRUPTED', { reason: 'the calling program aborted the request', settled: 0 })
  return new SluiceError(named, { cause: signal.reason })
}

/** Stops waiting on abort. The work continues, because others may wait for it too. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work
  // After an abort no caller handles its rejection.
  work.catch(() => {})
  if (signal.aborted) throw abortedByCaller(signal)
  return await new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(abortedByCaller(signal))
    signal.addEventListener('abort', onAbort, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
