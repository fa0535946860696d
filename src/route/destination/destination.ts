/** Opens the way to one destination, and checks it before anybody uses it. Never without the proxy, unless the user said so. */
import { fail, type Failure, failure, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { ConnectSection } from '../../options/load.js'
import { askForMix, attemptsOver } from '../cluster/ask-connections.js'
import { ended } from '../cluster/preflight.js'
import { answersGreeting } from '../proxy/port-speaks.js'
import { systemClock } from '../../base/time/clock.js'
import { openRawTunnels, type RawTunnels } from '../proxy/raw-tunnels.js'
import { openRoute, type Route } from '../proxy/route.js'
import { RouteError } from '../proxy/route-error.js'
import { MOST_REQUESTS, type RequestRoute, sum, type TunnelTraffic, wayTo } from './request-route.js'
import type { TunnelEnd } from '../../base/addresses.js'
import type { InstanceOptions } from '../connect/open-servicenow.js'
import { openClusterDestination } from './open-cluster-destination.js'
import { openInstanceDestination } from './open-instance-destination.js'

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

/** Opens a host and port that Sluice knows nothing of. Throws SluiceError PROXY_*. */
async function openRaw(
  { host, port }: { readonly host: string; readonly port: number },
  connecting: ConnectSection,
  signal: AbortSignal | undefined,
): Promise<OpenDestination> {
  const target = new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
  const way = wayTo(target, connecting)
  const tunnels = openRawTunnels(way)
  const check = async (until: AbortSignal | undefined) => await checkConnections(tunnels, way, connecting, until)
  let plain: RequestRoute | undefined
  try {
    const { probes, notes } = await check(signal)
    return {
      name: `${target.hostname}:${port}`,
      target,
      tunnels,
      plain: () => (plain ??= plainRoute(openRoute({ ...way, connections: MOST_REQUESTS }))),
      probes,
      notes,
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

/**
 * Opens connections and closes them again. Returns how many were opened, and sentences about those that were not. Throws SluiceError if
 * so many fail that nobody could use them.
 */
async function checkConnections(
  tunnels: RawTunnels,
  { target, proxy }: ReturnType<typeof wayTo>,
  { preflightConnections, connectTimeoutMs = 10_000 }: ConnectSection,
  signal: AbortSignal | undefined,
): Promise<{ readonly probes: number; readonly notes: readonly string[] }> {
  // Each attempt counts on its own.
  tunnels.adapt({ attempts: 1 })
  const ask = async (): Promise<ReturnType<typeof ended>> => {
    try {
      const socket = await tunnels.open(signal)
      socket.destroy()
      return { end: 'accepted' }
    } catch (error) {
      signal?.throwIfAborted()
      return ended(failureOf(error))
    }
  }
  const most = proxy === undefined ? 1 : Math.max(1, preflightConnections)
  const greet = proxy && (async () => await answersGreeting(proxy, connectTimeoutMs / 3, signal))
  const asking = { most, ask, greet, longestWaitMs: connectTimeoutMs, clock: systemClock, signal }
  const { ends, named } = await askForMix(asking, { cluster: target.host, proxy: proxy?.display })
  const { failure: stop, warning, note } = named
  if (stop !== undefined) throw new SluiceError(stop)
  tunnels.adapt({ attempts: attemptsOver(warning?.code) })
  return {
    probes: ends.filter(({ end }) => end === 'accepted').length,
    notes: [warning?.message, note].filter(text => text !== undefined),
  }
}

/** Names why a request or a connection did not reach its destination. */
export function failureOf(error: unknown): Failure {
  if (error instanceof RouteError || isSluiceError(error)) return error.failure
  return failure('INTERNAL', { problem: error instanceof Error ? error.message : String(error) })
}

interface Opening {
  /** Needed if the destination is the instance. */
  readonly instance?: InstanceOptions | undefined
  readonly signal?: AbortSignal | undefined
}

/** Throws SluiceError: OPTION_INVALID, PROXY_*, and what a load or a pull finds before its first document. */
export async function openDestination(
  to: TunnelEnd['to'],
  connecting: ConnectSection,
  { instance, signal }: Opening,
): Promise<OpenDestination> {
  if (to === 'cluster') return await openClusterDestination(connecting, signal)
  if (to !== 'servicenow') return await openRaw(to, connecting, signal)
  if (instance === undefined) throw fail('OPTION_INVALID', { option: 'servicenow.url', problem: 'is not set' })
  return await openInstanceDestination(instance, connecting, signal)
}
