/** Builds connections to the target, layer by layer: TCP, TLS to the proxy, the tunnel, TLS to the target. */
import { type Socket, connect } from 'node:net'
import { established } from './established.js'
import { openHttpTunnel } from './http-tunnel.js'
import { connectTimeoutFault, connectingFault, notTlsFault } from './connect-fault.js'
import { type Phase, RouteError } from './route-error.js'
import { openSocksTunnel } from './socks-tunnel.js'
import type { SecureLayer } from './tls-layer.js'
import type { TrafficMeter } from './traffic.js'
import { type RouteTarget, addressOf } from './destination.js'

/** `tunnel`: the proxy passes bytes on. `forward`: the proxy reads plain http requests and sends them on itself. */
export type RouteForm = 'direct' | 'tunnel' | 'forward'

export interface Connection {
  /** The top layer, which carries requests. */
  readonly socket: Socket
  /** Bytes that were written and have not reached the kernel yet, in all layers. */
  unsentBytes(): number
}

/** Shared with whoever waits for the connection: how far it has come, and the connection once it stands. */
export interface ConnectProgress {
  phase: Phase
  connection?: Connection
  /** Pending until it is known whether the connection outlives its exchange. Nothing may be written before. */
  undecided?: Promise<void>
  /** While the connection is being built: gives it up, since nobody waits for it any more. */
  giveUp?: () => void
}

export class Connector {
  readonly #sockets = new Set<Socket>()

  constructor(
    private readonly way: RouteTarget,
    private readonly form: RouteForm,
    private readonly secure: { readonly proxy?: SecureLayer; readonly target?: SecureLayer },
    private readonly meter: TrafficMeter,
  ) {}

  /** Rejects with a RouteError of delivery `none`, within the time limit for connecting. */
  async open(progress: ConnectProgress): Promise<Connection> {
    const { way } = this
    const raw = connect({
      ...(way.proxy ?? addressOf(way.target)),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
    })
    this.#sockets.add(raw)
    raw.once('close', () => this.#sockets.delete(raw))
    progress.giveUp = () => raw.destroy()
    let late = false
    const limit = setTimeout(() => {
      late = true
      raw.destroy()
    }, way.connectTimeoutMs)
    try {
      const layers = await this.#build(raw, progress)
      const socket = layers.at(-1) ?? raw
      if (socket.destroyed)
        throw Object.assign(new Error('the connection closed as soon as it stood'), { code: 'ECONNRESET' })
      return { socket, unsentBytes: () => layers.reduce((sum, layer) => sum + layer.writableLength, 0) }
    } catch (error) {
      raw.destroy()
      if (late) throw connectTimeoutFault(way, progress.phase)
      if (progress.phase === 'proxy-tls' && raw.bytesRead > 0 && raw.bytesRead < 7) throw notTlsFault(way, error)
      throw error instanceof RouteError ? error : connectingFault(way, progress.phase, error)
    } finally {
      clearTimeout(limit)
      delete progress.giveUp
    }
  }

  /** Ends every connection, also those that are being built. */
  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #build(raw: Socket, progress: ConnectProgress): Promise<Socket[]> {
    const { way, form, secure } = this
    const { proxy } = way
    const layers = [raw]
    let top = raw
    progress.phase = proxy === undefined ? 'target-connect' : 'proxy-connect'
    await established(raw, 'connect')
    this.meter.watch(raw)
    if (proxy !== undefined && secure.proxy !== undefined) {
      progress.phase = 'proxy-tls'
      top = await secure.proxy(top, proxy.host)
      layers.push(top)
    }
    if (proxy !== undefined && form === 'tunnel') {
      progress.phase = 'proxy-handshake'
      const socks = proxy.scheme === 'socks5' || proxy.scheme === 'socks5s'
      await (socks ? openSocksTunnel(top, way, proxy) : openHttpTunnel(top, way, proxy))
    }
    if (secure.target !== undefined) {
      progress.phase = 'target-tls'
      top = await secure.target(top, addressOf(way.target).host)
      layers.push(top)
    }
    return layers
  }
}
