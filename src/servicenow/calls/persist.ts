import type { Clock } from '../../flow.js'
import { failure } from '../../failure/failure.js'
import { Retries, backoffMs } from '../../time/retry.js'
import { abortedByCaller } from './lost-answer.js'
import type { InstanceVerdict } from './judge-refusal.js'

/** How long to go on asking, and by which clock. */
export interface Patience {
  readonly clock: Clock
  /** Gives [0, 1). */
  random(): number
  /** How long one request may be refused, or find nobody, before it fails. */
  readonly maxElapsedMs: number
}

/**
 * Asks again until the answer is more than "later", or the time is over; then `later` has become `stop`. What may have been done is
 * asked again only where doing it twice is the same as once (`isRepeatable`). Throws SluiceError RUN_INTERRUPTED.
 */
export async function persist<T>(
  attempt: () => Promise<InstanceVerdict<T>>,
  { clock, random, maxElapsedMs }: Patience,
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
  const message = `${known.message}. Sluice does not know whether ServiceNow did it, and does not retry`
  return { ...known, message, evidence: { ...known.evidence, outcome: 'unknown' } }
}

async function sleep(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await clock.sleep(ms, signal)
  } catch (error) {
    throw signal?.aborted === true ? abortedByCaller(signal) : error
  }
}
