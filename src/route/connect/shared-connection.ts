/** A connection that several loads use, one after another or at once. */
import { type Cluster, withQuestions } from '../cluster/open-cluster.js'
import type { Credentials } from '../cluster/credentials.js'
import type { Preflight } from '../cluster/preflight.js'
import { explain, fail, isSluiceError } from '../../base/failure/failure.js'
import type { ConnectOptions } from '../../options/connect-options.js'
import type { ProxySection } from '../../options/load.js'
import { defaults } from '../../options/describe-option.js'
import { proxySection } from '../../options/read-options.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import type { Route } from '../proxy/route.js'

interface Access {
  readonly credentials?: Credentials | undefined
  readonly proxy?: ProxyUrl | undefined
}

const behind = new WeakMap<object, SharedConnection>()

export class SharedConnection {
  /** Returns what stands behind a connection that an application got. */
  static behind(connection: unknown): SharedConnection | undefined {
    return typeof connection === 'object' && connection !== null ? behind.get(connection) : undefined
  }

  readonly #cluster: Cluster
  #target: ConnectOptions['target']
  #proxy: ProxySection
  readonly #options: ConnectOptions
  /** Every login so far. The options of a load may hold an earlier one. */
  readonly #logins = new Set<string>()
  #preflight: Preflight
  #loads = 0
  #whenIdle: (() => void) | undefined
  #closing: Promise<void> | undefined
  /** A load has lost access since the last test of the connection. */
  #isDoubtful = false

  constructor(cluster: Cluster, options: ConnectOptions, access: Access) {
    this.#cluster = cluster
    this.#options = options
    this.#target = options.target
    this.#proxy = proxySection(options.proxy)
    this.#logins.add(textIn(access))
    this.#preflight = cluster.preflight
  }

  /** Most requests at once. */
  get concurrency(): number {
    return this.#options.concurrency ?? defaults.concurrency
  }

  /** The options of the connection, with the credentials of now. */
  get options(): ConnectOptions {
    const { timeoutMs, preflightConnections, staticIps, ipCheckUrl } = this.#options
    const { target, proxy } = { target: this.#target, proxy: this.#proxy }
    return { target, proxy, concurrency: this.concurrency, timeoutMs, preflightConnections, staticIps, ipCheckUrl }
  }

  /** Lets loads of the application use `connection`. */
  standBehind(connection: object): void {
    behind.set(connection, this)
  }

  /** Takes what made a load fail: if access was lost, the next load tests the connection first. */
  note(error: unknown): void {
    if (isSluiceError(error) && ['proxy', 'egress', 'cluster'].includes(explain(error.code).stage))
      this.#isDoubtful = true
  }

  /** Throws SluiceError OPTION_INVALID if the connection is closed. */
  refuseClosed(): void {
    const problem = 'is closed. Open another one with connect()'
    if (this.#closing !== undefined) throw fail('OPTION_INVALID', { option: 'connection', problem })
  }

  /**
   * Returns the cluster for one load, which ends with `route.destroy()`. Tests the connection as at its opening if an earlier load lost
   * access. `isAwaited`: closing waits for the load. Throws SluiceError OPTION_INVALID if the connection is closed, and as `openCluster`
   * does.
   */
  async open(access: Access, signal: AbortSignal | undefined, isAwaited: boolean): Promise<Cluster> {
    this.refuseClosed()
    const release = isAwaited ? this.#hold() : () => {}
    try {
      if (!this.#logins.has(textIn(access))) this.#renew(access)
      if (this.#isDoubtful) {
        this.#preflight = await this.#cluster.probe(signal === undefined ? {} : { signal })
        this.#isDoubtful = false
      }
      return this.#ofLoad(release)
    } catch (error) {
      release()
      throw error
    }
  }

  /** Waits for current loads and requests, then closes the pool. */
  async close(): Promise<void> {
    await (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    if (this.#loads > 0) await new Promise<void>(resolve => (this.#whenIdle = resolve))
    await this.#cluster.route.close()
  }

  /** Keeps the connection open until the result is called. */
  #hold(): () => void {
    let isHeld = true
    this.#loads += 1
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#loads -= 1
      if (this.#loads === 0) this.#whenIdle?.()
    }
  }

  #ofLoad(release: () => void): Cluster {
    const end = async () => await Promise.resolve(release())
    return withQuestions({
      ...this.#cluster,
      preflight: this.#preflight,
      route: routeOfLoad(this.#cluster.route, end),
      renew: access => this.#renew(access),
      [Symbol.asyncDispose]: end,
    })
  }

  #renew(access: Access): void {
    this.#cluster.renew(access)
    const { credentials, proxy } = access
    if (credentials !== undefined) this.#target = { ...this.#target, ...withoutLogin, ...credentials }
    if (proxy !== undefined) this.#proxy = { ...this.#proxy, url: textOf(proxy) }
    this.#logins.add(textIn(access))
  }
}

const withoutLogin = { apiKey: undefined, username: undefined, password: undefined }

function textIn({ credentials, proxy }: Access): string {
  return JSON.stringify([credentials, proxy])
}

function textOf({ display, username, password = '' }: ProxyUrl): string {
  if (username === undefined) return display
  return display.replace('://', `://${encodeURIComponent(username)}:${encodeURIComponent(password)}@`)
}

/** Returns a route that counts the traffic since now. Its end leaves the connections to others. */
function routeOfLoad(route: Route, end: () => Promise<void>): Route {
  const before = route.traffic
  return {
    target: route.target,
    form: route.form,
    proxy: route.proxy,
    get traffic() {
      const { connections, bytesSent, bytesReceived } = route.traffic
      return {
        connections: connections - before.connections,
        bytesSent: bytesSent - before.bytesSent,
        bytesReceived: bytesReceived - before.bytesReceived,
      }
    },
    request: async request => await route.request(request),
    once: async request => await route.once(request),
    onceAndKeep: async request => await route.onceAndKeep(request),
    closeSpare: () => route.closeSpare(),
    refusal: answer => route.refusal(answer),
    renewProxy: proxy => route.renewProxy(proxy),
    adapt: to => route.adapt(to),
    close: end,
    destroy: end,
    [Symbol.asyncDispose]: end,
  }
}
