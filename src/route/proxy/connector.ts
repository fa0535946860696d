/** Builds connections to the target, layer by layer: TCP, TLS to the proxy, the tunnel, TLS to the target. */
import { connect, type Socket } from 'node:net'
import { established, type SecureLayer } from './tls-layer.js'
import { openHttpTunnel } from './http-tunnel.js'
import { afterSuccess, connectingFault, connectTimeoutFault, notTlsFault } from './connect-fault.js'
import { type Phase, RouteError } from './route-error.js'
import { skipContinue } from './skip-continue.js'
import { openSocksTunnel } from './socks-tunnel.js'
import type { RouteTarget } from './destination.js'
import { addressOf } from '../../base/addresses.js'
import { accountOf, type TrafficMeter, trafficThrough } from './proxy-url.js'

/** `tunnel`: the proxy passes bytes on. `forward`: the proxy reads plain http requests and sends them on itself. */
export type RouteForm = 'direct' | 'tunnel' | 'forward'

export interface Connection {
  /** The top layer, which carries requests. */
  readonly socket: Socket
  /** Bytes that were written and have not reached the kernel yet, in all layers. */
  unsentBytes(): number
  /** Why the socket failed, as it said first. */
  firstError?: unknown
}

/** The progress of a connection, for everyone who waits for it, and the connection once it is open. */
export interface ConnectProgress {
  phase: Phase
  connection?: Connection
  /** Pending until Sluice knows whether the connection stays open after its exchange. Nothing may be written before. */
  undecided?: Promise<void>
  /** Gives up a connection that is being built, because its caller has left. */
  giveUp?: () => void
}

export class Connector {
  /** How often in a row a connection over the proxy is tried: more than once if one of two nodes or addresses fails. */
  attempts = 1
  readonly #sockets = new Set<Socket>()
  #isClosed = false
  /** Whether a connection was open before. Then scheme, host and port are right. */
  #hasOpened = false

  constructor(
    private readonly way: RouteTarget,
    private readonly form: RouteForm,
    private readonly secure: { readonly proxy?: SecureLayer; readonly target?: SecureLayer },
    private readonly meter: TrafficMeter,
  ) {}

  /** Rejects with a RouteError of delivery `none`, within the time limit for connecting and for each attempt. */
  async open(progress: ConnectProgress): Promise<Connection> {
    let isGivenUp = false
    for (let left = this.attempts; ; left -= 1) {
      try {
        return await this.#openOnce(progress, () => (isGivenUp = true))
      } catch (error) {
        // The proxy may choose the other node, or the other address, for the next one.
        if (left <= 1 || isGivenUp || this.#isClosed || !mayDiffer(error)) throw error
      }
    }
  }

  async #openOnce(progress: ConnectProgress, onGiveUp: () => void): Promise<Connection> {
    const { way } = this
    let raw = this.#connect()
    progress.giveUp = () => {
      onGiveUp()
      raw.destroy()
    }
    let late = false
    const limit = setTimeout(() => {
      late = true
      raw.destroy()
    }, way.connectTimeoutMs)
    try {
      for (; ; raw = this.#connect()) {
        const layers = await this.#build(raw, progress)
        if (layers === undefined) {
          raw.destroy()
          continue
        }
        const socket = layers.at(-1) ?? raw
        if (socket.destroyed)
          throw Object.assign(new Error('the connection closed as soon as it stood'), { code: 'ECONNRESET' })
        skipContinue(socket)
        const unsentBytes = () => layers.reduce((sum, layer) => sum + layer.writableLength, 0)
        const connection: Connection = { socket, unsentBytes }
        socket.once('error', error => (connection.firstError = error))
        this.#hasOpened = true
        return connection
      }
    } catch (error) {
      raw.destroy()
      const isNoTls = progress.phase === 'proxy-tls' && raw.bytesRead > 0 && raw.bytesRead < 7
      const fault = late
        ? connectTimeoutFault(way, progress.phase)
        : isNoTls
          ? notTlsFault(way, error)
          : error instanceof RouteError
            ? error
            : connectingFault(way, progress.phase, error)
      throw this.#hasOpened ? afterSuccess(fault) : fault
    } finally {
      clearTimeout(limit)
      delete progress.giveUp
    }
  }

  /** Ends every connection, also those that are being built. */
  destroyAll(): void {
    this.#isClosed = true
    for (const socket of this.#sockets) socket.destroy()
  }

  #connect(): Socket {
    const { way } = this
    const raw = connect({
      ...(way.proxy ?? addressOf(way.target)),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
    })
    this.#sockets.add(raw)
    raw.once('close', () => this.#sockets.delete(raw))
    return raw
  }

  /** Returns undefined if a layer has learnt a certificate and needs another connection. */
  async #build(raw: Socket, progress: ConnectProgress): Promise<Socket[] | undefined> {
    const { way, form, secure } = this
    const { proxy } = way
    const layers = [raw]
    let top = raw
    progress.phase = proxy === undefined ? 'target-connect' : 'proxy-connect'
    await established(raw, 'connect')
    this.meter.watch(raw)
    if (proxy !== undefined) trafficThrough(accountOf(proxy)).watch(raw)
    if (proxy !== undefined && secure.proxy !== undefined) {
      progress.phase = 'proxy-tls'
      const secured = await secure.proxy(top, proxy.host)
      if (secured === undefined) return undefined
      layers.push((top = secured))
    }
    if (proxy !== undefined && form === 'tunnel') {
      progress.phase = 'proxy-handshake'
      const socks = proxy.scheme === 'socks5' || proxy.scheme === 'socks5s'
      await (socks ? openSocksTunnel(top, way, proxy) : openHttpTunnel(top, way, proxy))
    }
    if (secure.target !== undefined) {
      progress.phase = 'target-tls'
      const secured = await secure.target(top, addressOf(way.target).host)
      if (secured === undefined) return undefined
      layers.push(secured)
    }
    return layers
  }
}

function mayDiffer(error: unknown): boolean {
  if (!(error instanceof RouteError)) return false
  const { phase, failure } = error
  return phase.startsWith('proxy') || (phase === 'target-tls' && failure.code === 'CLUSTER_UNAVAILABLE')
}
