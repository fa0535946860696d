/** What the cluster answers through the proxy, and without it. Sends no credentials: the IP filter judges addresses alone. */
import { ask } from '../cluster/ask.js'
import { nameRefusal } from '../cluster/name-refusal.js'
import { whoAnswered } from '../cluster/who-answered.js'
import { type Failure, failure } from '../failure/failure.js'
import type { ConnectOptions } from '../options/ingest-options.js'
import { type ResolvedTarget, proxyOptions, targetTls } from '../connect/open-target.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import { type Route, openRoute } from '../proxy/route.js'

/** `refused`: some or all connections, by the filter. `failed`: something else is in the way. */
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

/** Connections that are opened at once. */
const AT_ONCE = 8

/** On as many fresh connections as a preflight has: the proxy chooses one of its two addresses for each. */
export async function probeThrough(way: ResolvedTarget, proxy: ProxyUrl, options: ConnectOptions): Promise<Through> {
  const { ca } = proxyOptions(options.proxy)
  await using route = openRoute({
    target: way.url,
    proxy,
    connections: 1,
    targetTls: targetTls(options.target),
    ...(ca === undefined ? {} : { proxyTls: { ca } }),
  })
  // One alone first, so that a proxy that refuses the credentials does so once.
  const first = await judge(route, way, options.signal, 0)
  if (isFailed(first)) return { verdict: 'failed', detail: first.failure.message, failure: first.failure }
  const judged: Judged[] = [first]
  const probes = Math.max(1, options.preflightConnections ?? 16)
  while (judged.length < probes) {
    const wave = Array.from({ length: Math.min(AT_ONCE, probes - judged.length) }, async (_, at) => {
      return await judge(route, way, options.signal, judged.length + at)
    })
    judged.push(...(await Promise.all(wave)))
  }
  return sumUp(judged, way.url.origin)
}

export async function probeDirect(way: ResolvedTarget, { target, signal }: ConnectOptions): Promise<Direct> {
  // A client certificate is a credential too.
  const { cert: _, key: __, ...tls } = targetTls(target)
  await using route = openRoute({ target: way.url, connections: 1, targetTls: tls })
  const answer = await ask(route, question(way, signal))
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
  const detail = `let through ${probes - refusals.length} of ${probes} connections`
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

/** A connection that breaks once among many is no finding. */
async function judge(
  route: Route,
  way: ResolvedTarget,
  signal: AbortSignal | undefined,
  number: number,
): Promise<Judged> {
  // Of http targets a forwarding proxy may keep its own connection, and with it the address, for all but requests with a body.
  const asked = question(way, signal, route.form === 'forward' && number > 0)
  let answer = await ask(route, asked)
  if ('code' in answer && number > 0) answer = await ask(route, asked)
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

function question(
  { url }: ResolvedTarget,
  signal: AbortSignal | undefined,
  hasBody = false,
): Parameters<typeof ask>[1] {
  const prefix = url.pathname.replace(/\/$/, '')
  return {
    ...(hasBody
      ? { method: 'POST', path: `${prefix}/_security/user/_has_privileges`, body: '{"cluster":["monitor"]}' }
      : { method: 'GET', path: `${prefix}/` }),
    headers: {},
    timeoutMs: 30_000,
    ...(signal === undefined ? {} : { signal }),
  }
}
