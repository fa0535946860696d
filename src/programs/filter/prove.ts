/** Tries what the policies promise: the cluster through the proxy, and without it. */
import { resolveTarget } from '../../route/connect/open-target.js'
import { type Failure, failure } from '../../base/failure/failure.js'
import type { Clock } from '../../base/flow.js'
import type { ConnectOptions } from '../../options/connect-options.js'
import { readConnecting } from '../../options/read-options.js'
import { doublingMs, Retries } from '../../base/time/retry.js'
import { systemClock } from '../../base/time/clock.js'
import type { Guard } from './judge-guard.js'
import { type DirectSeen, probeDirect, probeThrough, type ThroughSeen } from '../../route/examine/try-filter.js'

export interface Proof {
  /** Absent without a proxy. */
  readonly through?: ThroughSeen
  /** Absent if no request may bypass the proxy. */
  readonly direct?: DirectSeen
}

interface ProveOptions {
  readonly expected: Guard['expected']
  /** Time that a change may take to reach every edge of the service, in milliseconds. */
  readonly patienceMs: number
  /** Send GET / without the proxy. Default true. Without a proxy there is no other test. */
  readonly directCheck?: boolean
  readonly clock?: Clock
}

/** Probes until the result is as expected, or until patience ends. Returns the last result. */
export async function prove(
  options: ConnectOptions,
  { expected, patienceMs, directCheck = true, clock = systemClock }: ProveOptions,
): Promise<Proof> {
  const { signal } = options
  const connecting = readConnecting(options)
  const way = resolveTarget(connecting)
  const retries = new Retries({ clock, maxElapsedMs: patienceMs, waitMs: probes => doublingMs(probes, 1000) })
  for (;;) {
    const proof: Proof = {
      ...(way.proxy === undefined
        ? {}
        : { through: await probeThrough(way, way.proxy, connecting, { clock, signal }) }),
      ...(directCheck || way.proxy === undefined ? { direct: await probeDirect(way, connecting, signal) } : {}),
    }
    const wait = isAsExpected(proof, expected) ? undefined : retries.next()
    if (wait === undefined) return proof
    await clock.sleep(wait, signal)
  }
}

/** Waiting removes no other obstacle than the filter. */
function isAsExpected({ through, direct }: Proof, expected: Guard['expected']): boolean {
  const isThrough =
    through === undefined ||
    through.verdict === 'failed' ||
    expected.through === undefined ||
    expected.through === (through.verdict === 'allowed')
  return isThrough && (direct === undefined || expected.direct === (direct.verdict === 'answers'))
}

/** Names what a proof shows and the policies do not promise. `cluster`: its URL, for messages. */
export function failuresOf({ through, direct }: Proof, { expected }: Guard, cluster: string): Failure[] {
  const isForeseen = through?.verdict === 'refused' && expected.through === false
  const isLeaking = direct?.verdict === 'answers' && !expected.direct
  return [
    ...(through?.failure === undefined || isForeseen ? [] : [through.failure]),
    ...(isLeaking ? [failure('FILTER_NOT_ENFORCED', { cluster, status: direct.status ?? 0 })] : []),
  ]
}
