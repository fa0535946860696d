/** Opens a tunnel: local ports and a local proxy that lead to a few destinations, and to nothing else, over the static-IP proxy. */
import { randomBytes } from 'node:crypto'
import type { InstanceOptions } from '../../route/connect/open-servicenow.js'
import { fail, type Failure } from '../../base/failure/failure.js'
import type { ConnectOptions } from '../../options/connect-options.js'
import type { TunnelEnd } from '../../base/addresses.js'
import { readConnecting } from '../../options/read-options.js'
import { openEntrance, type Passage } from './entrance.js'
import { openForwardProxy } from './forward-proxy.js'
import type { LoopbackPort } from './loopback-port.js'
import { type OpenDestination, openDestination } from '../../route/destination/destination.js'
import { tokenGuard } from './callers.js'

export interface TunnelOptions {
  readonly destinations: readonly TunnelEnd[]
  readonly connecting: ConnectOptions
  /** Needed if a destination is the instance. */
  readonly instance?: InstanceOptions | undefined
  /** Whether every destination gets a port, or only those with a port of their own. */
  readonly ports: 'all' | 'asked'
  /** Whether programs may use the tunnel as their proxy. */
  readonly hasProxy: boolean
  /** Add the configured credentials to requests with the token. */
  readonly withLogin: boolean
  /** Default: a random one. */
  readonly token?: string | undefined
  readonly idleMs: number
  readonly signal?: AbortSignal | undefined
  /** Something between a caller and its destination refused. Returns the failure as the caller may see it. */
  onRefusal(name: string, known: Failure): Failure
  /** A program wanted to go elsewhere. */
  onForeign(address: string): void
}

interface Opened {
  readonly name: string
  /** Scheme, host and port. */
  readonly target: string
  readonly probes: number
  /** How tools reach it: a URL, or HOST:PORT if Sluice does not know what passes. Absent: only over the proxy. */
  readonly local?: string | undefined
  readonly notes: readonly string[]
}

export interface Tunnel {
  readonly opened: readonly Opened[]
  /** Host and port of the local proxy. */
  readonly proxy?: string | undefined
  readonly token: string
  /** Connections of callers so far. */
  readonly callers: number
  /** By the name of the destination, so far. */
  traffic(): Readonly<Record<string, ReturnType<OpenDestination['traffic']>>>
  /** Checks access to every destination again. Throws SluiceError. */
  check(signal?: AbortSignal): Promise<void>
  /** Accepts no more callers, and waits for open connections until `givenUp` aborts. */
  close(givenUp: AbortSignal): Promise<void>
}

/** Where tools look for a cluster. */
const CLUSTER_PORT = 9200

/** Throws SluiceError: OPTION_INVALID, PROXY_*, and what a load or a pull finds before its first document. */
export async function openTunnel(options: TunnelOptions): Promise<Tunnel> {
  const { destinations, withLogin, token = randomBytes(24).toString('base64url') } = options
  const connecting = readConnecting(options.connecting)
  const opened: OpenDestination[] = []
  const ports: { readonly port: LoopbackPort; readonly to: OpenDestination | undefined }[] = []
  let isClosing = false
  const passage: Passage = {
    idleMs: options.idleMs,
    hasLogin: withLogin,
    isKnown: tokenGuard(token),
    isClosing: () => isClosing,
    onRefusal: ({ name }, known) => options.onRefusal(name, known),
  }
  const close = async (givenUp: AbortSignal): Promise<void> => {
    isClosing = true
    await Promise.all(ports.map(async ({ port }) => await port.close(givenUp)))
    await Promise.all(opened.map(async to => await to.close()))
  }
  try {
    for (const wanted of destinations) opened.push(await openDestination(wanted.to, connecting, options))
    if (withLogin) checkLogins(opened)
    for (const [at, to] of opened.entries()) {
      const local = destinations[at]?.local
      if (local === undefined && options.ports === 'asked') continue
      const usual = to.name === 'cluster' ? CLUSTER_PORT : 0
      ports.push({ port: await openEntrance(to, local ?? usual, passage), to })
    }
    const proxy = options.hasProxy
      ? await openForwardProxy(opened, { ...passage, onForeign: address => options.onForeign(address) })
      : undefined
    if (proxy !== undefined) ports.push({ port: proxy, to: undefined })
    const portOf = (to: OpenDestination) => ports.find(one => one.to === to)?.port.port
    return {
      opened: opened.map(to => describe(to, portOf(to))),
      proxy: proxy === undefined ? undefined : `127.0.0.1:${proxy.port}`,
      token,
      get callers() {
        return ports.reduce((all, { port }) => all + port.accepted, 0)
      },
      traffic: () => Object.fromEntries(opened.map(to => [to.name, to.traffic()])),
      check: async signal => {
        for (const to of opened) await to.check(signal)
      },
      close,
    }
  } catch (error) {
    await close(AbortSignal.abort())
    throw error
  }
}

function checkLogins(opened: readonly OpenDestination[]): void {
  const without = opened.find(({ requests }) => requests?.login === undefined)
  if (without === undefined) return
  const problem =
    without.requests === undefined
      ? `adds credentials only to requests to the cluster and ServiceNow, not to ${without.name}`
      : `needs credentials for ${without.name}, but none are set`
  throw fail('OPTION_INVALID', { option: '--with-login', problem })
}

function describe({ name, target, requests, probes, notes }: OpenDestination, port: number | undefined): Opened {
  const address = `127.0.0.1:${port}`
  const local = port === undefined ? undefined : requests === undefined ? address : `http://${address}`
  return { name, target: requests === undefined ? target.host : target.origin, probes, local, notes }
}
