/** Opens the way to one destination, and checks it before anybody uses it. Never without the proxy, unless the user said so. */
import { proxyTo, unusedProxy } from '../connect/route-to.js'
import { fail, type Failure, failure, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { ConnectSection } from '../../options/load.js'
import { askInWaves } from '../proxy/fresh-connections.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import { openRawTunnels, type RawTunnels } from '../proxy/raw-tunnels.js'
import { openRoute, type Route } from '../proxy/route.js'
import { RouteError } from '../proxy/route-error.js'

export type RouteResponse = Awaited<ReturnType<Route['request']>>

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

/** A destination that was checked. */
export interface OpenDestination {
  /** For people: `cluster`, `ServiceNow`, `db.example.com:5432`. */
  readonly name: string
  /** Scheme, host and port. */
  readonly target: URL
  /** Present if requests reach it over connections that Sluice encrypts itself. Otherwise its port passes bytes. */
  readonly requests?: RequestRoute
  /** For requests that callers send unencrypted. Undefined: the destination only takes encrypted ones. */
  plain(): RequestRoute | undefined
  readonly tunnels: RawTunnels
  /** Fresh connections that were accepted. */
  readonly probes: number
  readonly notes: readonly string[]
  /** On the wire to the proxy, so far. */
  traffic(): TunnelTraffic
  /** Checks access again. Throws SluiceError. */
  check(signal: AbortSignal | undefined): Promise<void>
  close(): Promise<void>
}

export type TunnelTraffic = Route['traffic']

/** Requests of a tool at once. Connections are opened as they are needed. */
export const MOST_REQUESTS = 64

/** If one of two nodes or addresses failed, so many connections would all miss it one time in 64. */
const RAW_PROBES = 7

/** Opens a host and port that Sluice knows nothing of. Throws SluiceError PROXY_*. */
export async function openRaw(
  { host, port }: { readonly host: string; readonly port: number },
  connecting: ConnectSection,
  signal: AbortSignal | undefined,
): Promise<OpenDestination> {
  const target = new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
  const way = wayTo(target, connecting)
  const tunnels = openRawTunnels(way)
  const most = way.proxy === undefined ? 1 : Math.min(Math.max(1, connecting.preflightConnections), RAW_PROBES)
  const check = async (until: AbortSignal | undefined) => await checkConnections(tunnels, most, until)
  let plain: RequestRoute | undefined
  try {
    return {
      name: `${target.hostname}:${port}`,
      target,
      tunnels,
      plain: () => (plain ??= plainRoute(openRoute({ ...way, connections: MOST_REQUESTS }))),
      probes: await check(signal),
      notes: [],
      traffic: () => sum([tunnels.traffic, ...(plain === undefined ? [] : [plain.route.traffic])]),
      check: async until => void (await check(until)),
      close: async () => {
        tunnels.destroy()
        await plain?.route.destroy()
      },
    }
  } catch (error) {
    tunnels.destroy()
    throw error
  }
}

/** A user who names a host and a port decides what goes there. */
function plainRoute(route: Route): RequestRoute {
  return { route, prefix: '', checkPlaintext: () => undefined, judge: () => undefined }
}

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

/** Opens connections and closes them again. Returns how many. Throws SluiceError if one fails. */
async function checkConnections(tunnels: RawTunnels, most: number, signal: AbortSignal | undefined): Promise<number> {
  const ask = async (): Promise<unknown> => {
    try {
      const socket = await tunnels.open(signal)
      socket.destroy()
      return undefined
    } catch (error) {
      return error
    }
  }
  const hasFailed = (one: unknown) => one !== undefined
  const ends = await askInWaves({ most, ask, isSettled: answers => answers.some(hasFailed) })
  const failed = ends.filter(hasFailed)
  if (failed.length === 0) return ends.length
  const known = failureOf(failed[0])
  if (failed.length === ends.length) throw new SluiceError(known, { cause: failed[0] })
  const message = `${known.message.replace(/\.$/, '')}. ${ends.length - failed.length} of ${ends.length} connections were opened`
  throw new SluiceError({ ...known, message }, { cause: failed[0] })
}

/** Names why a request or a connection did not reach its destination. */
export function failureOf(error: unknown): Failure {
  if (error instanceof RouteError || isSluiceError(error)) return error.failure
  return failure('INTERNAL', { problem: error instanceof Error ? error.message : String(error) })
}
