/**
 * Tries what the policies promise: the cluster through the proxy, and without it. Sends no credentials, because the
 * IP filter judges only addresses.
 */
import { nameRefusal, whoAnswered } from '../../route/cluster/answers.js'
import { checkEgress } from '../../route/cluster/egress-check.js'
import { askForMix } from '../../route/cluster/ask-connections.js'
import { ended, questionOf } from '../../route/cluster/preflight.js'
import { ask } from '../../route/cluster/request.js'
import { type ResolvedTarget, resolveTarget, targetTls } from '../../route/connect/open-target.js'
import { explain } from '../../base/failure/catalogue.js'
import { type Failure, failure } from '../../base/failure/failure.js'
import type { Clock } from '../../base/flow.js'
import type { ConnectOptions } from '../../options/connect-options.js'
import type { ConnectSection } from '../../options/load.js'
import { readConnecting } from '../../options/read-options.js'
import { manyListeners } from '../../route/proxy/fresh-connections.js'
import { answersGreeting } from '../../route/proxy/port-speaks.js'
import type { ProxyUrl } from '../../route/proxy/proxy-url.js'
import { openRoute, type Route } from '../../route/proxy/route.js'
import { doublingMs, Retries } from '../../base/time/retry.js'
import { systemClock } from '../../base/time/clock.js'
import type { Guard } from './judge-guard.js'

export interface Proof {
  /** `refused`: the filter refuses some or all connections. `failed`: something else is the obstacle. Absent without a proxy. */
  readonly through?: {
    readonly verdict: 'allowed' | 'refused' | 'failed'
    readonly detail: string
    readonly failure?: Failure
  }
  /** `unclear`: neither the cluster nor the filter answered. Absent if no request may bypass the proxy. */
  readonly direct?: {
    readonly verdict: 'answers' | 'refused' | 'unclear'
    readonly detail: string
    readonly status?: number
  }
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

/** Asks on as many fresh connections as a preflight: the proxy chooses one of its two addresses for each. */
async function probeThrough(
  way: ResolvedTarget,
  proxy: ProxyUrl,
  { target, proxy: { ca }, preflightConnections, connectTimeoutMs }: ConnectSection,
  { clock, signal: given }: { readonly clock: Clock; readonly signal: AbortSignal | undefined },
): Promise<NonNullable<Proof['through']>> {
  await using route = openRoute({
    target: way.url,
    proxy,
    connections: 1,
    connectTimeoutMs,
    targetTls: targetTls(target),
    proxyTls: { ca },
  })
  const signal = given && manyListeners(given)
  const asking = {
    most: preflightConnections,
    isWhole: true,
    ask: async (number: number) => await judge(route, way, signal, number),
    greet: async () => await answersGreeting(proxy, LIMIT_MS, signal),
    longestWaitMs: LIMIT_MS,
    clock,
    signal,
  } as const
  const mix = { cluster: way.url.origin, proxy: proxy.display }
  const {
    ends,
    named: { failure: named },
  } = await askForMix(asking, mix)
  const accepted = ends.filter(({ end }) => end === 'accepted').length
  const detail = `${accepted} of ${ends.length} connections accepted`
  if (named === undefined) return { verdict: 'allowed', detail }
  return explain(named.code).stage === 'egress'
    ? { verdict: 'refused', detail, failure: named }
    : { verdict: 'failed', detail: named.message, failure: named }
}

const LIMIT_MS = 30_000

/** Sends no credentials, so a 401 of the cluster shows that the filter accepted the connection. */
async function judge(
  route: Route,
  way: ResolvedTarget,
  signal: AbortSignal | undefined,
  number: number,
): Promise<ReturnType<typeof ended>> {
  const answer = await askFilter(route, way, number, signal)
  if ('code' in answer) return ended(answer)
  const answered = whoAnswered(answer, route)
  return answered.by === 'elasticsearch' ? { end: 'accepted' } : ended(nameRefusal(answer, answered, way.url.origin))
}

async function askFilter(route: Route, { url }: ResolvedTarget, number: number, signal: AbortSignal | undefined) {
  const question = questionOf(route, url.pathname.replace(/\/$/, ''), number)
  return await ask(route, { ...question, timeoutMs: LIMIT_MS, signal })
}

export async function probeDirect(
  way: ResolvedTarget,
  { target }: Pick<ConnectSection, 'target'>,
  signal?: AbortSignal,
): Promise<NonNullable<Proof['direct']>> {
  // A client certificate is a credential too.
  const { cert: _, key: __, ...tls } = targetTls(target)
  await using route = openRoute({ target: way.url, connections: 1, targetTls: tls })
  const answer = await askFilter(route, way, 0, signal)
  if ('code' in answer) return { verdict: 'unclear', detail: answer.message }
  const status = answer.statusCode
  const { by } = whoAnswered(answer, route)
  if (by === 'elasticsearch') return { verdict: 'answers', detail: `the cluster answers (status ${status})`, status }
  return { verdict: by === 'filter' ? 'refused' : 'unclear', detail: `refused (status ${status})`, status }
}

/** Returns the address of this machine's own requests without the proxy, or why it is unknown. */
export async function findOwnAddress(
  ipCheckUrl: URL,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<{ readonly address: string } | { readonly problem: string }> {
  await using route = openRoute({ target: ipCheckUrl, connections: 1 })
  const { seen, doubts } = await checkEgress(route, { connections: 1, ...options })
  const [address] = Object.keys(seen)
  return address === undefined ? { problem: doubts.join('. ') } : { address }
}
