/** Tries what the policies promise: the cluster through the proxy, and without it. */
import { type Failure, failure } from '../failure/failure.js'
import type { Clock } from '../flow.js'
import type { ConnectOptions } from '../options/ingest-options.js'
import { readConnecting } from '../options/read-options.js'
import { resolveTarget } from '../connect/open-target.js'
import { Retries, doublingMs } from '../time/retry.js'
import { systemClock } from '../time/system-clock.js'
import type { Guard } from './judge-guard.js'
import { type Direct, type Through, probeDirect, probeThrough } from './probe.js'

export interface Proof {
  /** Absent without a proxy. */
  readonly through?: Through
  /** Absent if no request may bypass the proxy. */
  readonly direct?: Direct
}

interface ProveOptions {
  readonly expected: Guard['expected']
  /** How long what is expected may take to come true, in milliseconds: a change has to reach every edge of the service. */
  readonly patienceMs: number
  /** Send GET / without the proxy and without credentials. Default true. Without a proxy there is no other test. */
  readonly directCheck?: boolean
  readonly clock?: Clock
}

/**
 * Probes until the result is as expected, or until patience ends. Returns the last result. Throws SluiceError if the
 * options contradict themselves.
 */
export async function prove(
  options: ConnectOptions,
  { expected, patienceMs, directCheck = true, clock = systemClock }: ProveOptions,
): Promise<Proof> {
  const { signal } = options
  const connecting = readConnecting(options)
  const way = resolveTarget(connecting)
  const waitMs = (probes: number) => doublingMs(probes, 1000)
  const retries = new Retries({ clock, maxElapsedMs: patienceMs, waitMs })
  for (;;) {
    const proof: Proof = {
      ...(way.proxy === undefined ? {} : { through: await probeThrough(way, way.proxy, connecting, signal) }),
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

/**
 * Names differences between a proof and the policies. `guard`: the promise of the policies. `cluster`: the URL for
 * messages.
 */
export function failuresOf({ through, direct }: Proof, guard: Guard, cluster: string): Failure[] {
  const isForeseen = through?.verdict === 'refused' && guard.expected.through === false
  const isLeaking = direct?.verdict === 'answers' && !guard.expected.direct
  return [
    ...(through?.failure === undefined || isForeseen ? [] : [through.failure]),
    ...(isLeaking ? [failure('FILTER_NOT_ENFORCED', { cluster, status: direct?.status ?? 0 })] : []),
  ]
}
