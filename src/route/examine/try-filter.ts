/**
 * Asks what shows whether an IP filter works: the administration that holds its rules, the cluster through the proxy, and the cluster
 * without it. Sends the cluster no credentials, because the filter judges only addresses.
 */
import { nameRefusal, whoAnswered } from '../cluster/answers.js'
import { checkEgress } from '../cluster/egress-check.js'
import { askForMix } from '../cluster/ask-connections.js'
import { ended, questionOf } from '../cluster/preflight.js'
import { ask } from '../cluster/request.js'
import { type ResolvedTarget, targetTls } from '../connect/open-target.js'
import { explain, type Failure } from '../../base/failure/failure.js'
import type { Clock } from '../../base/flow.js'
import type { ConnectSection } from '../../options/load.js'
import { manyListeners } from '../proxy/fresh-connections.js'
import { answersGreeting } from '../proxy/port-speaks.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import { openRoute, type Route } from '../proxy/route.js'

/** The way to the administration of a hosting service: directly, because the proxy must not see its key. */
export interface AdminWay extends AsyncDisposable {
  ask(question: Parameters<typeof ask>[1]): ReturnType<typeof ask>
}

export type AdminSaid = Awaited<ReturnType<AdminWay['ask']>>

export function openAdminWay(url: URL): AdminWay {
  const route = openRoute({ target: url, connections: 1 })
  return {
    ask: async question => await ask(route, question),
    [Symbol.asyncDispose]: async () => await route.destroy(),
  }
}

const LIMIT_MS = 30_000

/** `refused`: the filter refuses some or all connections. `failed`: something else is the obstacle. */
export interface ThroughSeen {
  readonly verdict: 'allowed' | 'refused' | 'failed'
  readonly detail: string
  readonly failure?: Failure
  /** One node of the proxy fails, or a limit is reached. The filter does neither. */
  readonly warning?: Failure
}

/** `unclear`: neither the cluster nor the filter answered. */
export interface DirectSeen {
  readonly verdict: 'answers' | 'refused' | 'unclear'
  readonly detail: string
  readonly status?: number
}

/** Asks on as many fresh connections as a preflight: the proxy chooses one of its two addresses for each. */
export async function probeThrough(
  way: ResolvedTarget,
  proxy: ProxyUrl,
  { target, proxy: { ca }, preflightConnections, connectTimeoutMs }: ConnectSection,
  { clock, signal: given }: { readonly clock: Clock; readonly signal: AbortSignal | undefined },
): Promise<ThroughSeen> {
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
    named: { failure: named, warning },
  } = await askForMix(asking, mix)
  const accepted = ends.filter(({ end }) => end === 'accepted').length
  const detail = `${accepted} of ${ends.length} connections accepted`
  if (named === undefined) return { verdict: 'allowed', detail, ...(warning === undefined ? {} : { warning }) }
  return explain(named.code).stage === 'egress'
    ? { verdict: 'refused', detail, failure: named }
    : { verdict: 'failed', detail: named.message, failure: named }
}

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
): Promise<DirectSeen> {
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
