/** The means of every probe: its limits, and routes whose requests are counted. */
import { type Failure, isSluiceError } from '../../base/failure/failure.js'
import type { Clock } from '../../base/flow.js'
import { manyListeners, SURE } from '../proxy/fresh-connections.js'
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

/**
 * Asks on one connection. If it fails or takes long, asks on others side by side, because the proxy may choose its other node for them.
 * Returns the first answer that does not fail, and gives up the others. If all fail, returns the answer of the first.
 */
export async function askOthers<T>(
  { clock, patience, signal }: Pick<Means, 'clock' | 'patience' | 'signal'>,
  ask: (signal: AbortSignal) => Promise<T>,
  isFailed: (answer: T) => boolean,
): Promise<T> {
  const settled = new AbortController()
  const until = manyListeners(AbortSignal.any([settled.signal, ...(signal === undefined ? [] : [signal])]))
  const good = async (asked: Promise<T>) => {
    const answer = await asked
    if (isFailed(answer)) throw new Error('this connection failed')
    return { answer }
  }
  const first = ask(until)
  let open = [good(first)]
  try {
    const late = clock.sleep(LATE_MS * patience, until)
    const early = await Promise.race([open[0], late]).catch(() => undefined)
    if (early !== undefined) return early.answer
    for (const more of [FEW, SURE - 1 - FEW]) {
      open = [...open, ...Array.from({ length: more }, async () => await good(ask(until)))]
      const found = await Promise.any(open).catch(() => undefined)
      signal?.throwIfAborted()
      if (found !== undefined) return found.answer
    }
    return await first
  } finally {
    settled.abort()
    await Promise.allSettled(open)
  }
}

/** Connections of the first wave of others: if one of two nodes works, they find it seven times in eight. */
const FEW = 3
/** A connection that takes longer does not delay the others. */
const LATE_MS = 1_500

/** Returns why something was refused instead of throwing it. Throws an abort. */
export async function orFailure<T>(work: Promise<T>): Promise<{ readonly given: T } | { readonly failure: Failure }> {
  try {
    return { given: await work }
  } catch (error) {
    if (isSluiceError(error) && error.code !== 'RUN_INTERRUPTED') return { failure: error.failure }
    throw error
  }
}

export function noteDate(
  { skews, today }: Pick<Means, 'skews' | 'today'>,
  header: unknown,
  comparedWith: string,
): void {
  const skewMs = today() - Date.parse(String(header))
  if (!Number.isNaN(skewMs)) skews.push({ skewMs, comparedWith })
}
