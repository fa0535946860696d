/** Opens the routes of a client that somebody else has made, of any version. */
import { refusePlaintext } from '../cluster/credentials.js'
import { connectionOver, type NodeWay } from '../cluster/client-connection.js'
import type { ConnectionClass, NodeConnection, NodeSettings } from '../cluster/node-connection.js'
import { fail } from '../../base/failure/failure.js'
import type { ConnectOptions, ProxyOptions } from '../../options/connect-options.js'
import type { ProxySection } from '../../options/load.js'
import { checkThroughOptions } from '../../options/check-options.js'
import { invalid } from '../../options/option-checks.js'
import { defaults } from '../../options/describe-option.js'
import { proxySection } from '../../options/read-options.js'
import { parseProxyUrl } from '../proxy/proxy-url.js'
import { openRoute, type Route } from '../proxy/route.js'
import type { TlsOptions } from '../proxy/tls-layer.js'
import { proxyTo } from './route-to.js'

export type { ConnectionClass }

export interface ThroughOptions extends Pick<ConnectOptions, 'concurrency'> {
  /** The proxy's URL, or an object with `url` and `ca`. Required: without a proxy nothing connects. */
  readonly proxy: string | URL | Pick<ProxyOptions, 'url' | 'ca' | 'origin'> | undefined
  /** Time to build one connection, in milliseconds: 1,000 to 600,000. Default 10,000. */
  readonly connectTimeoutMs?: number | undefined
  /** Send credentials over plain http to another machine. Default false: PLAINTEXT_CREDENTIALS. */
  readonly allowPlaintext?: boolean | undefined
}

/**
 * Makes the `Connection` of an official Elasticsearch client, of any version: each request leaves through the static-IP proxy, and
 * none leaves beside it, not even to nodes that the client finds by itself.
 *
 * ```ts
 * const client = new Client({ node, auth: { apiKey }, Connection: connectionThrough({ proxy: process.env.STATIC_PROXY_URL }) })
 * ```
 * Errors are of the client's own classes. Their message begins with the code of the cause and ends with the fix, and `cause` is a
 * SluiceError. Clients and nodes that share the class also share its connections to an address.
 * @throws SluiceError OPTION_INVALID, PROXY_URL_INVALID, PROXY_NOT_USED
 */
export function connectionThrough(options: ThroughOptions): ConnectionClass {
  checkThroughOptions(options)
  const proxy = { ...proxySection(options.proxy), requireProxy: true }
  if (proxy.url === undefined) throw fail('PROXY_NOT_USED', { problem: 'no proxy was passed to connectionThrough' })
  parseProxyUrl(proxy.url, proxy.origin)
  const routes = new Routes(options, proxy)
  return connectionOver({ isNamed: true, check: checkNode, open: node => routes.open(node) })
}

interface SharedRoute {
  readonly route: Route
  users: number
}

/** One route for each address and its TLS settings. The last connection that uses a route closes it. */
class Routes {
  readonly #options: ThroughOptions
  readonly #proxy: ProxySection
  readonly #open = new Map<string, SharedRoute>()

  constructor(options: ThroughOptions, proxy: ProxySection) {
    this.#options = options
    this.#proxy = proxy
  }

  open(node: NodeConnection): NodeWay {
    const { concurrency = defaults.concurrency, connectTimeoutMs, allowPlaintext } = this.#options
    const { url } = node
    const { proxy } = proxyTo(url, this.#proxy)
    if (proxy === undefined) throw fail('PROXY_NOT_USED', { problem: `no proxy leads to ${url.host}` })
    const targetTls = tlsOf(node)
    const key = JSON.stringify([url.origin, Object.entries(targetTls).map(([name, value]) => [name, String(value)])])
    const shared = this.#open.get(key) ?? {
      users: 0,
      route: openRoute({
        target: url,
        connections: concurrency,
        connectTimeoutMs,
        proxy,
        targetTls,
        proxyTls: { ca: this.#proxy.ca },
      }),
    }
    this.#open.set(key, shared)
    shared.users += 1
    return {
      route: shared.route,
      headers: given => {
        const isWithLogin = given['authorization'] != null
        if (isWithLogin) refusePlaintext({ url, proxy, allowPlaintext, credentials: { apiKey: '' } })
        return given
      },
      close: async () => {
        shared.users -= 1
        if (shared.users > 0) return
        this.#open.delete(key)
        await shared.route.close()
      },
    }
  }
}

type TlsName = Exclude<keyof TlsOptions, 'caFingerprint'>

const tlsNames: ReadonlySet<string> = new Set<TlsName>([
  'ca',
  'cert',
  'key',
  'passphrase',
  'rejectUnauthorized',
  'servername',
])

/** Refuses settings of the client that its connections would have to ignore. */
function checkNode({ agent, proxy, tls }: NodeSettings): void {
  if (proxy != null)
    throw invalid('proxy', 'of the client cannot be combined with connectionThrough. Pass the proxy only there')
  if (agent != null && agent !== false)
    throw invalid('agent', 'of the client cannot be combined with connectionThrough')
  for (const [name, value] of Object.entries(tls ?? {}) as [string, unknown][]) {
    // The client sets this one by itself for a cloud id.
    const isImplied = name === 'secureProtocol' && value === 'TLSv1_2_method'
    if (value == null || isImplied) continue
    if (!tlsNames.has(name))
      throw invalid(`tls.${name}`, `is not known to connectionThrough. It takes ${[...tlsNames].join(', ')}`)
  }
}

function tlsOf({ tls, caFingerprint }: NodeConnection): TlsOptions {
  const given = (tls ?? {}) as Partial<Record<TlsName, unknown>>
  const known = Object.fromEntries(Object.entries(given).filter(([name, value]) => tlsNames.has(name) && value != null))
  const ca = given.ca === undefined ? {} : { ca: pemOf(given.ca) }
  return { ...known, ...ca, ...(caFingerprint === null ? {} : { caFingerprint }) }
}

/** Node also takes a list of certificates. */
function pemOf(ca: unknown): string | undefined {
  if (ca == null) return undefined
  return (Array.isArray(ca) ? ca : [ca]).map(String).join('\n')
}
