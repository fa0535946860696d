/**
 * Asks the cluster through the proxy, and without it. Sends no credentials, because the IP filter judges only
 * addresses.
 */
import { ask } from '../cluster/request.js'
import { nameRefusal, whoAnswered } from '../cluster/answers.js'
import { isBroken, questionOf } from '../cluster/preflight.js'
import { type Failure, failure } from '../failure/failure.js'
import type { ConnectSection } from '../options/load.js'
import { type ResolvedTarget, targetTls } from '../connect/open-target.js'
import { askInWaves, askUnbroken, manyListeners } from '../proxy/fresh-connections.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import { openRoute, type Route } from '../proxy/route.js'
import { checkEgress } from '../cluster/egress-check.js'
import { isSluiceError } from '../failure/sluice-error.js'

/** `refused`: the filter refuses some or all connections. `failed`: something else is the obstacle. */
export interface Through {
  readonly verdict: 'allowed' | 'refused' | 'failed'
  readonly detail: string
  readonly failure?: Failure
}

/** `unclear`: neither the cluster nor the filter answered. */
export interface Direct {
  readonly verdict: 'answers' | 'refused' | 'unclear'
  readonly detail: string
  readonly status?: number
}

type Judged = 'allowed' | { readonly refused: string } | { readonly failure: Failure }

/** On as many fresh connections as a preflight has: the proxy chooses one of its two addresses for each. */
export async function probeThrough(
  way: ResolvedTarget,
  proxy: ProxyUrl,
  { target, proxy: { ca }, preflightConnections }: ConnectSection,
  given: AbortSignal | undefined,
): Promise<Through> {
  await using route = openRoute({
    target: way.url,
    proxy,
    connections: 1,
    targetTls: targetTls(target),
    ...(ca === undefined ? {} : { proxyTls: { ca } }),
  })
  const signal = given === undefined ? undefined : manyListeners(given)
  const judged = await askInWaves<Judged>({
    most: preflightConnections,
    ask: async number => await judge(route, way, signal, number),
    isSettled: answers => answers.length === 1 && answers.every(isFailed),
  })
  return sumUp(judged, way.url.origin)
}

export async function probeDirect(
  way: ResolvedTarget,
  { target }: Pick<ConnectSection, 'target'>,
  signal?: AbortSignal,
): Promise<Direct> {
  // A client certificate is a credential too.
  const { cert: _, key: __, ...tls } = targetTls(target)
  await using route = openRoute({ target: way.url, connections: 1, targetTls: tls })
  const answer = await ask(route, { ...questionOf(route, prefixOf(way), 0), ...asked(signal) })
  if ('code' in answer) return { verdict: 'unclear', detail: answer.message }
  const status = answer.statusCode
  const { by } = whoAnswered(answer, route)
  if (by === 'elasticsearch') return { verdict: 'answers', detail: `the cluster answers (status ${status})`, status }
  return { verdict: by === 'filter' ? 'refused' : 'unclear', detail: `refused (status ${status})`, status }
}

function sumUp(judged: readonly Judged[], cluster: string): Through {
  const probes = judged.length
  const refusals = judged.flatMap(one => (typeof one === 'object' && 'refused' in one ? [one.refused] : []))
  const [observed] = refusals
  const evidence = { cluster, refused: refusals.length, probes }
  const detail = `${probes - refusals.length} of ${probes} connections accepted`
  const failed = judged.find(isFailed)
  if (observed === undefined) {
    return failed === undefined
      ? { verdict: 'allowed', detail }
      : { verdict: 'failed', detail: failed.failure.message, failure: failed.failure }
  }
  const named =
    refusals.length === probes
      ? failure('EGRESS_NOT_ALLOWED', { ...evidence, observed })
      : failure('EGRESS_PARTLY_ALLOWED', evidence)
  return { verdict: 'refused', detail, failure: named }
}

async function judge(
  route: Route,
  way: ResolvedTarget,
  signal: AbortSignal | undefined,
  number: number,
): Promise<Judged> {
  const question = { ...questionOf(route, prefixOf(way), number), ...asked(signal) }
  const { answer } = await askUnbroken(
    async () => await ask(route, question),
    unread => number > 0 && isBroken(unread),
  )
  if ('code' in answer) return { failure: answer }
  const answered = whoAnswered(answer, route)
  if (answered.by === 'elasticsearch') return 'allowed'
  return answered.by === 'filter'
    ? { refused: answered.message }
    : { failure: nameRefusal(answer, answered, way.url.origin) }
}

function isFailed(judged: Judged): judged is { readonly failure: Failure } {
  return typeof judged === 'object' && 'failure' in judged
}

function prefixOf({ url }: ResolvedTarget): string {
  return url.pathname.replace(/\/$/, '')
}

function asked(signal: AbortSignal | undefined) {
  return { headers: {}, timeoutMs: 30_000, ...(signal === undefined ? {} : { signal }) }
}

/**
 * Returns the address of this machine's own requests without the proxy, or why it is unknown. Sends no credentials.
 * The address check must accept requests from any machine.
 */
export async function findOwnAddress(
  ipCheckUrl: URL,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<{ readonly address: string } | { readonly problem: string }> {
  await using route = openRoute({ target: ipCheckUrl, connections: 1 })
  try {
    const [address] = Object.keys(await checkEgress(route, { connections: 1, ...options }))
    return address === undefined ? { problem: 'the address check answers without an address' } : { address }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { problem: error.message }
  }
}
