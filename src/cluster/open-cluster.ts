import { Client } from '@elastic/elasticsearch'
import { fail } from '../failure/fail.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import { expectsTls } from '../proxy/expects-tls.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import { openRoute, type Route } from '../proxy/route.js'
import type { TlsOptions } from '../proxy/tls-layer.js'
import { connectionOver } from './client-connection.js'
import { type Credentials, authorization, isLoopback } from './credentials.js'
import { type EgressSeen, checkEgress } from './egress-check.js'
import { type Preflight, preflight } from './preflight.js'
import type { ReachedCluster } from './request.js'

export interface ClusterOptions {
  readonly url: URL
  readonly credentials?: Credentials | undefined
  readonly tls?: TlsOptions | undefined
  /** Absent: connect directly. */
  readonly proxy?: ProxyUrl | undefined
  readonly proxyTls?: TlsOptions | undefined
  /** Connections of the pool. */
  readonly connections: number
  /** For one request, in milliseconds. */
  readonly timeoutMs: number
  /** Fresh connections that have to agree before the first document is sent. 0: ask GET / once. */
  readonly preflightConnections: number
  readonly ipCheckUrl?: URL | undefined
  readonly staticIps?: readonly string[] | undefined
  /** Send credentials over plain http to another machine. */
  readonly allowPlaintext?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** A cluster that was checked. Owns the connection pool: close it, or destroy it if the run failed. */
export interface Cluster extends AsyncDisposable, ReachedCluster {
  readonly preflight: Preflight
  /** The addresses that the egress check saw. Empty without a check. */
  readonly egress: EgressSeen
  /** Problems that are no reason to stop. */
  readonly warnings: readonly string[]
  /**
   * Checks access again, on as many fresh connections as before and on at least `atLeast`. Throws as `openCluster` does.
   */
  probe(options?: { readonly atLeast?: number; readonly signal?: AbortSignal }): Promise<Preflight>
  /** Uses other credentials from the next request on. Nothing else of the proxy may change. Throws SluiceError PLAINTEXT_CREDENTIALS. */
  renew(access: { readonly credentials?: Credentials | undefined; readonly proxy?: ProxyUrl | undefined }): void
}

/**
 * Opens one client with one pool over one route, and checks access before it sends anything.
 * Throws SluiceError: PLAINTEXT_CREDENTIALS, and every failure of the proxy, egress and cluster stages.
 */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const { url, timeoutMs } = options
  let { credentials } = options
  refusePlaintext(options)
  const route = openRoute({
    target: url,
    connections: options.connections,
    ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
    ...(options.tls === undefined ? {} : { targetTls: options.tls }),
    ...(options.proxyTls === undefined ? {} : { proxyTls: options.proxyTls }),
  })
  const prefix = url.pathname.replace(/\/$/, '')
  const display = url.origin + prefix
  // Without a proxy all connections have the same address, so one is enough.
  const connections = options.proxy === undefined ? 1 : options.preflightConnections
  const ownHeaders = () => authorization(credentials)
  const probe: Cluster['probe'] = async ({ atLeast = 1, signal = options.signal } = {}) =>
    await preflight(route, display, {
      connections: Math.max(connections, atLeast),
      prefix,
      headers: ownHeaders(),
      timeoutMs: Math.min(timeoutMs, 30_000),
      ...(signal === undefined ? {} : { signal }),
    })
  try {
    const warnings: string[] = []
    const egress = await seeEgress(options, doubt =>
      warnings.push(`${doubt}, so Sluice does not know which address these requests left from`),
    )
    const checked = await probe()
    const client = openClient(route, options, ownHeaders)
    return {
      client,
      route,
      display,
      preflight: checked,
      egress,
      warnings,
      probe,
      renew: access => {
        if (access.credentials !== undefined) {
          refusePlaintext({ ...options, credentials: access.credentials })
          credentials = access.credentials
        }
        if (access.proxy !== undefined) route.renewProxy(access.proxy)
      },
      [Symbol.asyncDispose]: async () => await client.close(),
    }
  } catch (error) {
    await route.destroy()
    throw await nameSilentPort(error, options.proxy)
  }
}

/** Finds out whether a port that closes without an answer expects TLS. A proxy that is down behaves the same. */
async function nameSilentPort(error: unknown, proxy: ProxyUrl | undefined): Promise<unknown> {
  const silent = isSluiceError(error) && (error.code === 'PROXY_UNREACHABLE' || error.code === 'CLUSTER_UNAVAILABLE')
  if (!silent || proxy === undefined || (proxy.scheme !== 'http' && proxy.scheme !== 'socks5')) return error
  if (!(await expectsTls(proxy))) return error
  const observed = `its port expects TLS, and the URL says ${proxy.scheme}://`
  return fail('PROXY_TLS_MISMATCH', { proxy: proxy.display, observed }, { cause: error })
}

function openClient(
  route: Route,
  { url, timeoutMs }: ClusterOptions,
  ownHeaders: () => Record<string, string>,
): Client {
  return new Client({
    node: url.href,
    Connection: connectionOver(route, ownHeaders),
    // The sender decides on a resend. The client's own retries might store documents twice.
    maxRetries: 0,
    requestTimeout: timeoutMs,
    compression: false,
  })
}

async function seeEgress(options: ClusterOptions, onDoubt: (observed: string) => void): Promise<EgressSeen> {
  if (options.ipCheckUrl === undefined) return {}
  const route = openRoute({
    target: options.ipCheckUrl,
    connections: 1,
    ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
    ...(options.proxyTls === undefined ? {} : { proxyTls: options.proxyTls }),
  })
  try {
    return await checkEgress(route, {
      connections: options.proxy === undefined ? 1 : Math.max(1, options.preflightConnections),
      timeoutMs: Math.min(options.timeoutMs, 30_000),
      onDoubt,
      // Without a proxy the address is this machine's own.
      ...(options.staticIps === undefined || options.proxy === undefined ? {} : { staticIps: options.staticIps }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
  } catch (error) {
    throw nameCheck(error)
  } finally {
    await route.destroy()
  }
}

/** Says that a failure about the destination is about the address check, not about the cluster. */
function nameCheck(error: unknown): unknown {
  const destination = /^(CLUSTER_|PROXY_TARGET_|PROXY_DENIED_)/
  if (!isSluiceError(error) || !destination.test(error.code)) return error
  const message = `${error.message.replace(/\.$/, '')}. This is the address check (IP_CHECK_URL), not the cluster`
  return new SluiceError({ ...error.failure, message }, { cause: error })
}

/** Throws SluiceError PLAINTEXT_CREDENTIALS if credentials would cross the network unencrypted without permission. */
export function refusePlaintext({
  url,
  credentials,
  allowPlaintext,
  proxy,
}: Pick<ClusterOptions, 'url' | 'credentials' | 'allowPlaintext' | 'proxy'>): void {
  if (url.protocol !== 'http:' || credentials === undefined || allowPlaintext === true) return
  // Through a proxy on another machine, even a request to localhost crosses the network.
  const local = isLoopback(url.hostname) && (proxy === undefined || isLoopback(proxy.host))
  if (!local) throw fail('PLAINTEXT_CREDENTIALS', { url: url.origin })
}
