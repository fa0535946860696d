/** The means of every probe: its limits, and routes whose requests are counted. */
import { ENOUGH } from '../cluster/ask-connections.js'
import { type Failure, isSluiceError } from '../../base/failure/failure.js'
import type { Clock } from '../../base/flow.js'
import { askUnbroken } from '../proxy/fresh-connections.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import { openRoute, type Route, type RouteOptions } from '../proxy/route.js'

export interface Means {
  readonly clock: Clock
  /** The machine's time of day, in milliseconds since the epoch. */
  readonly today: () => number
  readonly signal: AbortSignal | undefined
  /** Multiplies the doctor's own limits of time. */
  readonly patience: number
  /** Limit for building one connection, and for answering one request. */
  readonly limitMs: number
  readonly proxyTls: NonNullable<RouteOptions['proxyTls']>
  readonly requests: { sent: number }
  /** How far this machine is ahead of each answer with a date. */
  readonly skews: { readonly skewMs: number; readonly comparedWith: string }[]
}

/** Another proxy for a probe, or none. */
export type OtherProxy = ProxyUrl | 'none'

/** Returns how to reach a target. `by`: in place of its own proxy. */
export function routeTo(
  { limitMs, proxyTls }: Means,
  way: { readonly url: URL; readonly proxy?: ProxyUrl | undefined; readonly tls?: RouteOptions['targetTls'] },
  by?: OtherProxy,
): RouteOptions {
  const proxy = by === 'none' ? undefined : (by ?? way.proxy)
  return { target: way.url, connections: 1, connectTimeoutMs: limitMs, targetTls: way.tls, proxy, proxyTls }
}

/** Opens a route that counts its requests. */
export function openCounted({ requests }: Means, options: RouteOptions): Route {
  const route = openRoute(options)
  const [request, once] = [route.request.bind(route), route.once.bind(route)]
  const counted = (send: Route['once']) => async (asked: Parameters<Route['once']>[0]) => {
    requests.sent += 1
    return await send(asked)
  }
  return Object.assign(route, { request: counted(request), once: counted(once) })
}

/** A connection that takes longer to break will not be better a second time, and a person waits. */
const BREAKS_WITHIN_MS = 1_000

/** Asks until a connection does not break. One broken connection among many is no finding. */
export async function askAgain<T>(
  { clock, patience }: Means,
  ask: () => Promise<T>,
  isBroken: (answer: T) => boolean,
): Promise<{ readonly answer: T; readonly broken: number }> {
  const until = clock.now() + BREAKS_WITHIN_MS * patience
  return await askUnbroken(ask, answer => isBroken(answer) && clock.now() < until)
}

/**
 * Asks once, and if that fails on other connections side by side. Returns the first answer that does not fail, and how many failed
 * before others did not.
 */
export async function askOthers<T>(
  ask: () => Promise<T>,
  isFailed: (answer: T) => boolean,
): Promise<{ readonly answer: T; readonly broken: number }> {
  const first = await ask()
  if (!isFailed(first)) return { answer: first, broken: 0 }
  const all = [first, ...(await Promise.all(Array.from({ length: ENOUGH - 1 }, ask)))]
  const good = all.find(answer => !isFailed(answer))
  return { answer: good ?? first, broken: good === undefined ? 0 : all.filter(isFailed).length }
}

/** Returns why something was refused instead of throwing it. Throws an abort. */
export async function orFailure<T>(work: Promise<T>): Promise<{ readonly given: T } | { readonly failure: Failure }> {
  try {
    return { given: await work }
  } catch (error) {
    if (isSluiceError(error) && error.code !== 'RUN_INTERRUPTED') return { failure: error.failure }
    throw error
  }
}

export function noteDate({ skews, today }: Means, header: unknown, comparedWith: string): void {
  const skewMs = today() - Date.parse(String(header))
  if (!Number.isNaN(skewMs)) skews.push({ skewMs, comparedWith })
}
