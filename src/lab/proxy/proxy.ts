import type { SecureContextOptions } from 'node:tls'
import { type Egress, staticPair } from '../egress.js'
import type { FaultPlan } from '../faults.js'
import { type Arrival, type Listening, listen, reset } from '../listener.js'
import type { Refusals } from '../refusals.js'
import type { Credentials } from './credentials.js'
import { createHttpProxy } from './http.js'
import { meaningOf } from './refusal.js'
import { type Route, isUp } from './route.js'
import { serveSocks } from './socks.js'

export interface ProxyOptions {
  readonly credentials: Credentials
  readonly egress: Egress
  readonly egressPer: 'connection' | 'upstream'
  readonly faults: FaultPlan
  readonly refusals: Refusals
  readonly tls: SecureContextOptions
  readonly connectTimeoutMs: number
  readonly ports: { readonly http: number; readonly https: number; readonly socks5: number; readonly socks5s: number }
  readonly onArrival: (arrival: Arrival) => void
  readonly onListening: (listening: Listening) => void
}

export interface Proxy {
  readonly http: Listening
  readonly https: Listening
  readonly socks5: Listening
  readonly socks5s: Listening
  /** The single nodes of the pair: HTTP ports that always leave from one address. */
  readonly nodes: readonly [Listening, Listening]
}

/**
 * Starts the proxy's six ports. Rejects if a port is taken. Then the caller closes the ports that are already open.
 */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const { ports, tls } = options
  // Opens ports one by one, so that the caller knows of every open port if one fails.
  return {
    http: await open('http', ports.http, 'http'),
    https: await open('https', ports.https, 'http', { tls }),
    socks5: await open('socks5', ports.socks5, 'socks'),
    socks5s: await open('socks5s', ports.socks5s, 'socks', { tls }),
    nodes: [
      await open('node-1', 0, 'http', { address: staticPair[0] }),
      await open('node-2', 0, 'http', { address: staticPair[1] }),
    ],
  }

  async function open(
    name: string,
    port: number,
    protocol: 'http' | 'socks',
    { tls, address }: { tls?: SecureContextOptions; address?: string } = {},
  ): Promise<Listening> {
    const route = routeBy(options, address)
    const serve = protocol === 'http' ? createHttpProxy(route) : serveSocks(route)
    const listening = await listen({
      at: 'proxy',
      name,
      port,
      ...(tls && { tls }),
      admit(arrival) {
        options.onArrival(arrival)
        const chosen = route.choose()
        if (chosen === undefined || !isUp(chosen, options.faults)) {
          reset(arrival)
          return false
        }
        arrival.egress = chosen
        return true
      },
      serve,
    })
    options.onListening(listening)
    return listening
  }
}

function routeBy(options: ProxyOptions, pinned: string | undefined): Route {
  const { credentials, faults, connectTimeoutMs, egressPer, egress, refusals } = options
  return {
    credentials,
    faults,
    connectTimeoutMs,
    refused: ({ from }, request, { status, ...refusal }) =>
      refusals.add({ by: 'proxy', from, request, ...(status !== undefined && { status }), why: meaningOf(refusal) }),
    egressPer: pinned === undefined ? egressPer : 'connection',
    choose: () => pinned ?? egress.choose(),
    connect(host, port, address) {
      return address === undefined || !isUp(address, faults) ? undefined : egress.connect(host, port, address)
    },
  }
}
