/** Tries what the policies promise: the cluster through the proxy, and past it without credentials, as `doctor` does. */
import { ask } from '../cluster/ask.js'
import { whoAnswered } from '../cluster/who-answered.js'
import { type Failure, failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { Clock } from '../flow.js'
import type { ConnectOptions } from '../ingest-options.js'
import { type Way, findWay, openTarget, targetTls } from '../open-target.js'
import { openRoute } from '../proxy/route.js'
import { systemClock } from '../system-clock.js'
import type { Guard } from './judge-guard.js'

/** What the cluster answered. Absent: not asked. */
export interface Proof {
  /** GET / through the proxy, on as many fresh connections as in a preflight. */
  readonly through?: {
    readonly verdict: 'allowed' | 'refused' | 'failed'
    readonly detail: string
    readonly failure?: Failure
  }
  /** GET / without the proxy and without credentials. `unclear`: neither the cluster nor the IP filter answered. */
  readonly direct?: { readonly verdict: 'answers' | 'refused' | 'unclear'; readonly detail: string; readonly status?: number }
}

interface ProveOptions {
  readonly expected: Guard['expected']
  /** How long what is expected may take to come true, in milliseconds: a change has to reach every edge of the service. */
  readonly patienceMs: number
  readonly clock?: Clock
}

/**
 * Probes until what is seen is what is expected, or patience is over; what was seen last. Without a proxy only the way past it is
 * tried. Throws SluiceError where the options contradict themselves.
 */
export async function prove(options: ConnectOptions, { expected, patienceMs, clock = systemClock }: ProveOptions): Promise<Proof> {
  const way = findWay(options.target, options.proxy)
  const begun = clock.now()
  for (let waitMs = 1000; ; waitMs *= 2) {
    const proof: Proof = {
      ...(way.proxy === undefined ? {} : { through: await askThrough(options) }),
      direct: await askDirectly(way, options),
    }
    if (isAsExpected(proof, expected) || clock.now() - begun + waitMs > patienceMs) return proof
    await clock.sleep(waitMs, options.signal)
  }
}

/** What stands in the way of a load for another reason than the filter does not pass by waiting. */
function isAsExpected({ through, direct }: Proof, expected: Guard['expected']): boolean {
  const isThrough =
    through === undefined ||
    through.verdict === 'failed' ||
    expected.through === undefined ||
    expected.through === (through.verdict === 'allowed')
  return isThrough && (direct === undefined || expected.direct === (direct.verdict === 'answers'))
}

async function askThrough({ ipCheckUrl: _, ...options }: ConnectOptions): Promise<NonNullable<Proof['through']>> {
  try {
    const { cluster } = await openTarget(options)
    await using _closed = cluster
    const { probes, allowed } = cluster.preflight
    return { verdict: 'allowed', detail: `let through ${allowed} of ${probes} connections` }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    const isFilter = error.code === 'EGRESS_NOT_ALLOWED' || error.code === 'EGRESS_PARTLY_ALLOWED'
    return { verdict: isFilter ? 'refused' : 'failed', detail: error.message, failure: error.failure }
  }
}

async function askDirectly(way: Way, { target, signal }: ConnectOptions): Promise<NonNullable<Proof['direct']>> {
  await using route = openRoute({ target: way.url, connections: 1, targetTls: targetTls(target) })
  const answer = await ask(route, {
    method: 'GET',
    path: `${way.url.pathname.replace(/\/$/, '')}/`,
    headers: {},
    timeoutMs: 30_000,
    ...(signal === undefined ? {} : { signal }),
  })
  if ('code' in answer) return { verdict: 'unclear', detail: answer.message }
  const status = answer.statusCode
  const { by } = whoAnswered(answer, route)
  if (by === 'elasticsearch') return { verdict: 'answers', detail: `the cluster answers (status ${status})`, status }
  return { verdict: by === 'filter' ? 'refused' : 'unclear', detail: `refused (status ${status})`, status }
}

/** What a proof says that policies alone do not. `guard` is what they promise. */
export function failuresOf({ through, direct }: Proof, guard: Guard, cluster: string): Failure[] {
  const isLeaking = direct?.verdict === 'answers' && !guard.expected.direct
  return [
    ...(through?.failure === undefined || (through.verdict === 'refused' && guard.expected.through === false)
      ? []
      : [through.failure]),
    ...(isLeaking ? [failure('FILTER_NOT_ENFORCED', { cluster, status: direct.status ?? 0 })] : []),
  ]
}
