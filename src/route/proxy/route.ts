/** Sends requests to a target: direct, through a tunnel, or forwarded by the proxy. */
import { type Client, type Dispatcher, Pool } from 'undici'
import type { Failure } from '../../base/failure/failure.js'
import { Connector, type RouteForm } from './connector.js'
import { Exchange } from './exchange.js'
import { Gate, openPoolConnection, type PoolDispatch } from './pool.js'
import { basicCredentials } from './http-tunnel.js'
import { type ProxyAnswer, proxyRefusal } from './proxy-answer.js'
import { type ProxyUrl, type Traffic, TrafficMeter } from './proxy-url.js'
import type { RouteRequest, RouteResponse } from './route-request.js'
import { type SecureLayer, secureLayer, type TlsOptions } from './tls-layer.js'
import type { RouteTarget } from './destination.js'

export interface RouteOptions {
  /** Only its origin counts. */
  readonly target: URL
  readonly proxy?: ProxyUrl | undefined
  /** Most connections of the pool, and most requests at once. */
  readonly connections: number
  /** Time to build a connection, all layers of it. Default 10 000 ms. */
  readonly connectTimeoutMs?: number | undefined
  /**
   * How long an idle connection is kept, whatever the target hints. Default 30 000 ms: below the idle timeouts that are common on
   * such a path (HAProxy's 50 s, cloud load balancers' and nginx's 60 to 75 s, Squid's 120 s), because a request on a connection
   * that the other side is just closing has an unknown outcome.
   */
  readonly keepAliveMs?: number | undefined
  readonly targetTls?: TlsOptions | undefined
  readonly proxyTls?: TlsOptions | undefined
}

export interface Route extends AsyncDisposable {
  readonly target: URL
  readonly form: RouteForm
  /** The proxy's URL without credentials. */
  readonly proxy?: string | undefined
  /** So far. */
  readonly traffic: Traffic
  /** Over the pool of kept connections. Rejects with RouteError. */
  request(request: RouteRequest): Promise<RouteResponse>
  /** Over a connection of its own, which is closed after the answer and does not count against the pool. Rejects with RouteError. */
  once(request: RouteRequest): Promise<RouteResponse>
  /** Sends a request over a fresh connection that the pool uses afterwards, unless `closeSpare` is called. */
  onceAndKeep(request: RouteRequest): Promise<RouteResponse>
  closeSpare(): void
  /** Returns the refusal if the proxy answered instead of the target. Inside a tunnel every answer is the target's. */
  refusal(answer: ProxyAnswer): Failure | undefined
  /** Uses other credentials for the same proxy, from the next connection on (`forward`: from the next request on). */
  renewProxy(proxy: ProxyUrl): void
  /**
   * Copes with a proxy that works half: opens at most `connections`, and makes `attempts` in a row to build one over the proxy.
   */
  adapt(to: { readonly connections: number; readonly attempts: number }): void
  /** Accepts no more requests, and waits for the current ones. */
  close(): Promise<void>
  /** Closes all connections at once. Current requests fail with code CLOSED. */
  destroy(error?: Error): Promise<void>
}

/** @throws SluiceError OPTION_INVALID for TLS options that cannot be read */
export function openRoute(options: RouteOptions): Route {
  return new PooledRoute(options)
}

/** A spare connection that is older is not used. */
const LONGEST_SPARE_MS = 3_000

class PooledRoute implements Route {
  readonly target: URL
  readonly form: RouteForm
  readonly proxy?: string | undefined
  readonly #meter = new TrafficMeter()
  /** Everything that connects shares this object, so renewed credentials reach all. */
  readonly #way: { -readonly [K in keyof RouteTarget]: RouteTarget[K] }
  readonly #connector: Connector
  readonly #openPoolConnection: () => Client
  readonly #pool: Pool
  readonly #gate: Gate
  readonly #underWay = new Set<Exchange>()
  /** Opened outside of the pool, which takes it when it needs one. */
  #spare: Client | undefined
  #keepsSpare = false
  #spareSince = 0
  #closed: { readonly cause: unknown } | undefined
  #whenIdle: (() => void) | undefined

  constructor(options: RouteOptions) {
    const { target, proxy, connections, connectTimeoutMs = 10_000, keepAliveMs = 30_000 } = options
    this.target = target
    this.form = routeFormOf(target, proxy)
    this.proxy = proxy?.display
    this.#way = { target, connectTimeoutMs, proxy }
    this.#connector = new Connector(this.#way, this.form, layersOf(options), this.#meter)
    // Host header and TLS are ours: for undici the origin is but a name, and as https:// it would choose TLS names itself.
    const origin = target.origin.replace(/^https:/, 'http:')
    const settings: Client.Options = {
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      keepAliveTimeoutThreshold: 1_000,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 64 * 1024,
    }
    this.#openPoolConnection = () => openPoolConnection(origin, settings, this.#connector)
    this.#pool = new Pool(origin, {
      ...settings,
      connections,
      factory: () => this.#takeFreshSpare() ?? this.#openPoolConnection(),
    })
    this.#gate = new Gate(connections)
  }

  get traffic(): Traffic {
    const { connections, bytesSent, bytesReceived } = this.#meter
    return { connections, bytesSent, bytesReceived }
  }

  request(request: RouteRequest): Promise<RouteResponse> {
    const admit = (): void => this.#dispatch(this.#pool, exchange, request)
    const exchange = this.#begin(request, {
      over: () => this.#gate.giveUp(admit),
      freed: () => this.#gate.leave(),
    })
    if (!exchange.over) this.#gate.enter(admit)
    return exchange.response
  }

  once(request: RouteRequest): Promise<RouteResponse> {
    const connection = this.#openPoolConnection()
    const exchange = this.#begin(request, {
      over: () => {},
      // Not from within undici's own callback.
      freed: () => void setImmediate(() => void connection.destroy()),
    })
    if (!exchange.over) this.#dispatch(connection, exchange, request, { reset: true })
    return exchange.response
  }

  onceAndKeep(request: RouteRequest): Promise<RouteResponse> {
    this.#keepsSpare = true
    const connection = this.#openPoolConnection()
    const freed = (): void => {
      if (this.#keepsSpare && this.#spare === undefined && this.#closed === undefined) {
        this.#spare = connection
        this.#spareSince = performance.now()
      } else setImmediate(() => void connection.destroy())
    }
    const exchange = this.#begin(request, { over: () => {}, freed })
    if (!exchange.over) this.#dispatch(connection, exchange, request)
    return exchange.response
  }

  closeSpare(): void {
    this.#keepsSpare = false
    void this.#takeSpare()?.destroy()
  }

  refusal(answer: ProxyAnswer): Failure | undefined {
    return proxyRefusal(answer, this)
  }

  /** Proxies close connections that are idle. The first body must not meet that moment. */
  #takeFreshSpare(): Client | undefined {
    const spare = this.#takeSpare()
    if (performance.now() - this.#spareSince < LONGEST_SPARE_MS) return spare
    void spare?.destroy()
    return undefined
  }

  #takeSpare(): Client | undefined {
    const spare = this.#spare
    this.#spare = undefined
    return spare
  }

  renewProxy(proxy: ProxyUrl): void {
    this.#way.proxy = proxy
  }

  adapt({ connections, attempts }: { readonly connections: number; readonly attempts: number }): void {
    this.#gate.limit = connections
    this.#connector.attempts = attempts
  }

  async close(): Promise<void> {
    this.#closed ??= { cause: undefined }
    if (this.#underWay.size > 0) await new Promise<void>(resolve => (this.#whenIdle = resolve))
    await this.#end()
  }

  async destroy(error?: Error): Promise<void> {
    this.#closed ??= { cause: error }
    for (const exchange of this.#underWay) exchange.close(error)
    await this.#end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.destroy()
  }

  #begin(request: RouteRequest, calls: { over: () => void; freed: () => void }): Exchange {
    const over = (): void => {
      this.#underWay.delete(exchange)
      calls.over()
      if (this.#underWay.size === 0) this.#whenIdle?.()
    }
    const exchange: Exchange = new Exchange(this.#way, this.form === 'forward', request, { over, freed: calls.freed })
    this.#underWay.add(exchange)
    if (this.#closed !== undefined) exchange.close(this.#closed.cause)
    else if (request.signal?.aborted === true) exchange.abort()
    return exchange
  }

  #dispatch(dispatcher: Dispatcher, exchange: Exchange, request: RouteRequest, single: { reset?: true } = {}): void {
    const options: PoolDispatch = {
      exchange,
      method: request.method,
      path: this.form === 'forward' ? this.target.origin + request.path : request.path,
      headers: { ...withoutOwn(request.headers), ...this.#ownHeaders() },
      body: request.body ?? null,
      ...single,
    }
    dispatcher.dispatch(options, exchange)
  }

  #ownHeaders(): Record<string, string> {
    const { target, proxy } = this.#way
    const credentials = this.form === 'forward' && proxy !== undefined ? basicCredentials(proxy) : undefined
    return { host: target.host, ...(credentials === undefined ? {} : { 'proxy-authorization': credentials }) }
  }

  async #end(): Promise<void> {
    await this.#takeSpare()?.destroy()
    await this.#pool.destroy()
    this.#connector.destroyAll()
  }
}

export function routeFormOf(target: URL, proxy: ProxyUrl | undefined): RouteForm {
  if (proxy === undefined) return 'direct'
  const plain = target.protocol === 'http:'
  return plain && (proxy.scheme === 'http' || proxy.scheme === 'https') ? 'forward' : 'tunnel'
}

/** @throws SluiceError OPTION_INVALID for TLS options that cannot be read */
export function layersOf(options: Pick<RouteOptions, 'target' | 'proxy' | 'proxyTls' | 'targetTls'>): {
  proxy?: SecureLayer
  target?: SecureLayer
} {
  const { target, proxy, proxyTls = {}, targetTls = {} } = options
  const secureProxy = proxy?.scheme === 'https' || proxy?.scheme === 'socks5s'
  return {
    ...(secureProxy ? { proxy: secureLayer(proxyTls, 'TLS to the proxy') } : {}),
    ...(target.protocol === 'https:' ? { target: secureLayer(targetTls, 'TLS to the cluster') } : {}),
  }
}

/** The caller's headers but those that are the route's: inside a tunnel the proxy's credentials would reach the target. */
function withoutOwn(headers: RouteRequest['headers']): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(host|connection|proxy-authorization)$/i.test(name)),
  )
}
