/** Opens a target that may be about to come back: a proxy that restarts while a load begins, or a cluster that does. */
import { type Failure, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import { showDuration } from '../../base/text/shown.js'
import { systemClock } from '../../base/time/clock.js'
import { backoffMs, Retries } from '../../base/time/retry.js'
import { mayComeBack } from '../cluster/ask-connections.js'

/** How long a run waits for its target at the start, and who hears that it waits. */
export interface StartPatience {
  readonly maxElapsedMs: number
  /** The option that sets the time, if the user has one. */
  readonly option?: '--max-elapsed'
  readonly warn: (message: string) => void
}

interface Asking {
  readonly patience: StartPatience
  /** For people: the target, and the proxy that leads to it. */
  readonly target: string
  /** The longest time until the first attempt has named its cause. */
  readonly limitMs: number
  readonly signal: AbortSignal | undefined
}

/** A person who waits longer asks what for. */
const QUIET_MS = 3_000

/**
 * Opens, and tries again for `maxElapsedMs` if the failure may pass by itself: see `mayComeBack`. Says so once, with what else the
 * cause may be. Also says once what it waits for, if nothing answers. Throws the last failure.
 */
export async function openPatiently<T>(open: (heard: () => void) => Promise<T>, asking: Asking): Promise<T> {
  const { patience, signal } = asking
  const { maxElapsedMs } = patience
  const waitMs = (refusals: number) => backoffMs(refusals, Math.random)
  // Patience counts from the first failure on.
  let retries: Retries | undefined
  const silence = tellIfSilent(asking)
  for (;;) {
    try {
      return await open(silence.end)
    } catch (error) {
      if (!isSluiceError(error) || signal?.aborted === true || !mayComeBack(error.failure)) throw error
      const isFirst = retries === undefined
      retries ??= new Retries({ clock: systemClock, maxElapsedMs, waitMs })
      const wait = retries.next()
      if (wait === undefined) throw isFirst ? error : afterRetries(error, retries.elapsedMs)
      if (isFirst) patience.warn(tellRetry(error.failure, patience))
      await systemClock.sleep(wait, signal)
    } finally {
      silence.end()
    }
  }
}

/** A target that accepts connections and never answers looks like a hang. */
function tellIfSilent({ patience, target, limitMs }: Asking): { readonly end: () => void } {
  const timer = setTimeout(() => {
    const left = showDuration(limitMs)
    patience.warn(`${target} has not answered yet. If no answer comes, Sluice stops within ${left} and names the cause`)
  }, QUIET_MS)
  timer.unref()
  return { end: () => clearTimeout(timer) }
}

function tellRetry({ code, message }: Failure, { maxElapsedMs, option }: StartPatience): string {
  const other = otherwise[code]
  const limit = showDuration(maxElapsedMs).replace(/ 0 s$/, '')
  return [
    message.replace(/\.$/, ''),
    ...(other === undefined ? [] : [other]),
    `Sluice retries for up to ${limit}${option === undefined ? '' : ` (${option})`}`,
  ].join('. ')
}

/** What a failure may also be, which no retry mends. */
const otherwise: Partial<Readonly<Record<Failure['code'], string>>> = {
  PROXY_UNREACHABLE: 'The proxy may be restarting, or the host or port of its URL is wrong',
  PROXY_TARGET_UNREACHABLE: 'The proxy may be restarting, or the host or port of the cluster URL is wrong',
  CLUSTER_UNAVAILABLE: 'The cluster may be restarting, or the host or port of its URL is wrong',
}

function afterRetries(error: SluiceError, elapsedMs: number): SluiceError {
  const { failure } = error
  const message = `${failure.message.replace(/\.$/, '')}. Sluice retried for ${showDuration(elapsedMs)}`
  return new SluiceError({ ...failure, message }, { cause: error })
}
