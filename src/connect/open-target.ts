import { type Cluster, openCluster } from '../cluster/open-cluster.js'
import type { Credentials } from '../cluster/credentials.js'
import { fail } from '../failure/fail.js'
import { explain } from '../failure/catalogue.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import type { TargetOptions } from '../options/ingest-options.js'
import type { ConnectSection, ProxySection } from '../options/load.js'
import { cloudUrl, readClusterUrl } from '../options/urls.js'
import { proxyTo } from './proxy-to.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import type { TlsOptions } from '../proxy/tls-layer.js'

/** The cluster's URL and the proxy that leads to it, before anything is connected. */
export interface ResolvedTarget {
  readonly url: URL
  readonly credentials?: Credentials | undefined
  readonly proxy?: ProxyUrl | undefined
  /** Decisions, for the log. */
  readonly notes: readonly string[]
}

/** Throws SluiceError: OPTION_INVALID, PROXY_URL_INVALID, PROXY_NOT_USED, CLUSTER_URL_IS_PROXY. */
export function resolveTarget({
  target,
  proxy,
}: {
  readonly target: TargetOptions
  readonly proxy: ProxySection
}): ResolvedTarget {
  const { url, username, password } = clusterUrl(target)
  const chosen = proxyTo(url, proxy)
  const credentials = credentialsOf({
    apiKey: target.apiKey,
    username: target.username ?? username,
    password: target.password ?? password,
  })
  return { url, notes: chosen.notes, credentials, proxy: chosen.proxy }
}

/** Returns how to check the cluster's certificate, and which one to show it. */
export function targetTls({ ca, caFingerprint, cert, key }: TargetOptions): TlsOptions {
  return { ca, caFingerprint, cert, key }
}

/** Opens the cluster over the route that the options describe. Throws SluiceError: see `openCluster`. */
export async function openTarget(
  connecting: ConnectSection,
  signal: AbortSignal | undefined,
): Promise<{ cluster: Cluster; way: ResolvedTarget }> {
  const { target, proxy, concurrency, timeoutMs, preflightConnections, ipCheckUrl, staticIps } = connecting
  const way = resolveTarget(connecting)
  const opening = openCluster({
    ...way,
    tls: targetTls(target),
    proxyTls: { ca: proxy.ca },
    connections: concurrency,
    timeoutMs,
    preflightConnections,
    allowPlaintext: target.allowPlaintext === true,
    ipCheckUrl,
    staticIps,
    signal,
  })
  const cluster = await opening.catch((error: unknown) => {
    throw way.proxy === undefined ? tellDirect(error, way) : error
  })
  return { cluster, way }
}

/** A filter that refuses a connection without a proxy is right to: say that there was none, and why. */
function tellDirect(error: unknown, { notes }: ResolvedTarget): unknown {
  if (!isSluiceError(error) || explain(error.code).stage !== 'egress') return error
  const message = [`${error.message.replace(/\.$/, '')}. No proxy was used`, ...notes].join('. ')
  return new SluiceError({ ...error.failure, message }, { cause: error })
}

function clusterUrl(target: TargetOptions): { url: URL; username?: string; password?: string } {
  const text = target.url ?? (target.cloudId === undefined ? undefined : cloudUrl(target.cloudId))
  if (text === undefined) {
    const [option, problem] =
      target.cloudId === undefined
        ? ['target.url', "the cluster's endpoint is not set"]
        : ['target.cloudId', 'is not a cloud id: copy the whole value from the Elastic Cloud console']
    throw fail('OPTION_INVALID', { option, problem })
  }
  const read = readClusterUrl(String(text))
  if ('problem' in read) throw fail('OPTION_INVALID', { option: 'target.url', problem: read.problem })
  return { ...read, url: new URL(read.url) }
}

export function credentialsOf({
  apiKey,
  username,
  password,
}: Pick<TargetOptions, 'apiKey' | 'username' | 'password'>): Credentials | undefined {
  if (apiKey !== undefined) return { apiKey }
  return username === undefined ? undefined : { username, password: password ?? '' }
}
