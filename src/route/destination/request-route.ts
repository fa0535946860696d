/** What the destinations have in common: how requests reach one, the way there, and its traffic. */
import { proxyTo, unusedProxy } from '../connect/route-to.js'
import { fail, type Failure } from '../../base/failure/failure.js'
import type { ConnectSection } from '../../options/load.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import type { Route } from '../proxy/route.js'

type RouteResponse = Awaited<ReturnType<Route['request']>>

/** How requests reach a destination. */
export interface RequestRoute {
  readonly route: Route
  /** Path of the destination's URL, without a slash at its end. */
  readonly prefix: string
  /** Returns the header with the configured credentials. Absent: there are none. */
  readonly login?: ((signal: AbortSignal) => Promise<Readonly<Record<string, string>>>) | undefined
  readonly isReader?: (headers: RouteResponse['headers']) => boolean
  /** Throws SluiceError PLAINTEXT_CREDENTIALS if credentials would cross the network unencrypted. */
  checkPlaintext(): void
  /** Returns the failure if something before the destination itself refused. */
  judge(answer: RefusedAnswer): Failure | undefined
}

/** An answer with a status of 400 or more, with the first bytes of its body. */
interface RefusedAnswer {
  readonly statusCode: number
  readonly headers: RouteResponse['headers']
  readonly body: Buffer
}

export type TunnelTraffic = Route['traffic']

/** Requests of a tool at once. Connections are opened as they are needed. */
export const MOST_REQUESTS = 64

/** The proxy that leads to a URL. Throws SluiceError PROXY_NOT_USED without one: a tunnel that leads past the proxy is none. */
function proxyFor(target: URL, { proxy, staticIps }: ConnectSection): ProxyUrl | undefined {
  const chosen = proxyTo(target, proxy)
  if (chosen.proxy === undefined && !proxy.direct) {
    const problem = unusedProxy(chosen, proxy, staticIps) ?? 'a tunnel leads through the proxy, but no proxy is set'
    throw fail('PROXY_NOT_USED', { problem })
  }
  return chosen.proxy
}

export function wayTo(target: URL, connecting: ConnectSection) {
  const { proxy, connectTimeoutMs } = connecting
  return { target, proxy: proxyFor(target, connecting), proxyTls: { ca: proxy.ca }, connectTimeoutMs }
}

export function sum(parts: readonly TunnelTraffic[]): TunnelTraffic {
  const total = (of: (part: TunnelTraffic) => number) => parts.map(of).reduce((all, one) => all + one, 0)
  return {
    connections: total(({ connections }) => connections),
    bytesSent: total(({ bytesSent }) => bytesSent),
    bytesReceived: total(({ bytesReceived }) => bytesReceived),
  }
}
