/** Opens a cluster from options: for the rest of Sluice, and with a client for embedders. */
import type { Client } from '@elastic/elasticsearch'
import { type ClientClass, type Cluster, longestOpeningMs, openCluster } from '../cluster/open-cluster.js'
import { openPatiently, type StartPatience } from './open-patiently.js'
import { problemOfManagedUrl } from '../cluster/managed-endpoint.js'
import type { Credentials } from '../cluster/credentials.js'
import { explain, fail, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { ConnectOptions, TargetOptions } from '../../options/connect-options.js'
import type { ConnectSection } from '../../options/load.js'
import { cloudUrl, readClusterUrl } from '../../base/addresses.js'
import { SharedConnection } from './shared-connection.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import type { TlsOptions } from '../proxy/tls-layer.js'
import { proxyTo, unusedProxy } from './route-to.js'
import { invalid } from '../../options/option-checks.js'
import { readConnecting } from '../../options/read-options.js'
import type { ClusterInfo } from '../cluster/answers.js'

/** The cluster's URL and the proxy that leads to it, before anything is connected. */
export interface ResolvedTarget {
  readonly url: URL
  readonly credentials?: Credentials | undefined
  readonly proxy?: ProxyUrl | undefined
  /** Decisions, for the log. */
  readonly notes: readonly string[]
  /** Why Sluice uses no proxy although the options ask for one. */
  readonly unused?: string | undefined
}

/** Throws SluiceError: OPTION_INVALID, PROXY_URL_INVALID, PROXY_NOT_USED, CLUSTER_URL_IS_PROXY. */
export function resolveTarget({
  target,
  proxy: given,
  staticIps,
}: Pick<ConnectSection, 'target' | 'proxy'> & Partial<Pick<ConnectSection, 'staticIps'>>): ResolvedTarget {
  const { url, username, password } = clusterUrl(target)
  const chosen = proxyTo(url, given)
  const { apiKey } = target
  const login = { username: target.username ?? username, password: target.password ?? password }
  return {
    url,
    notes: chosen.notes,
    credentials: credentialsOf({ apiKey, ...login }),
    proxy: chosen.proxy,
    unused: unusedProxy(chosen, given, staticIps),
  }
}

export function targetTls({ ca, caFingerprint, cert, key }: TargetOptions): TlsOptions {
  return { ca, caFingerprint, cert, key }
}

interface OpenTargetOptions {
  /** Whether the end of an open connection waits for what uses this. */
  readonly isAwaited?: boolean
  /** Others bring their own credentials: a cluster that asks for some accepts the connection. */
  readonly isLoginOptional?: boolean
  /** Whether Sluice only reads the cluster: it may then have an older version, or be OpenSearch. */
  readonly isReadOnly?: boolean
  /** Hears of a new route before it carries anything. */
  readonly opening?: (route: Cluster['route']) => void
  /** Retries if the target may come back. Absent: the first failure counts. */
  readonly patience?: StartPatience | undefined
}

/** Opens the cluster over the route that the options describe. Throws SluiceError: see `openCluster`. */
export async function openTarget(
  connecting: ConnectSection,
  signal: AbortSignal | undefined,
  { isAwaited = true, isLoginOptional = false, isReadOnly = false, opening: hear, patience }: OpenTargetOptions = {},
): Promise<{ cluster: Cluster; way: ResolvedTarget }> {
  const {
    target,
    proxy,
    concurrency,
    timeoutMs,
    connectTimeoutMs,
    preflightConnections,
    ipCheckUrl,
    staticIps,
    openedWith,
  } = connecting
  const way = resolveTarget(connecting)
  if (openedWith instanceof SharedConnection) return { cluster: await openedWith.open(way, signal, isAwaited), way }
  const given = {
    ...way,
    tls: targetTls(target),
    proxyTls: { ca: proxy.ca },
    connections: concurrency,
    timeoutMs,
    connectTimeoutMs,
    preflightConnections,
    allowPlaintext: target.allowPlaintext === true,
    isLoginOptional,
    isReadOnly,
    ipCheckUrl,
    staticIps,
    signal,
    opening: hear,
  }
  const open = async (heard?: () => void) =>
    await openCluster({ ...given, heard }).catch((error: unknown) => {
      throw way.proxy === undefined ? tellDirect(error, way) : error
    })
  if (patience === undefined) return { cluster: await open(), way }
  const by = way.proxy === undefined ? '' : ` through the proxy ${way.proxy.display}`
  const limitMs = longestOpeningMs({ timeoutMs, connectTimeoutMs })
  return { cluster: await openPatiently(open, { patience, target: way.url.origin + by, limitMs, signal }), way }
}

/** Opens a target for questions about documents and indices, which a managed ingest endpoint does not answer. */
export async function openClusterItself(
  connecting: ConnectSection,
  signal: AbortSignal | undefined,
  hears: Pick<OpenTargetOptions, 'opening' | 'patience' | 'isReadOnly'> = {},
): Promise<{ cluster: Cluster; way: ResolvedTarget }> {
  // A receiver has no end of its own.
  const opened = await openTarget(connecting, signal, { isAwaited: false, ...hears })
  if (!opened.cluster.isManaged) return opened
  await opened.cluster.route.destroy()
  throw needsCluster('target.url')
}

/** The error for what a managed ingest endpoint cannot do. `what` says it. */
export function needsCluster(option: string, what = 'is not a cluster'): SluiceError {
  const problem = `${what}. The target is the managed ingest endpoint, which only queues new documents. Use the URL of the cluster itself`
  return fail('OPTION_INVALID', { option, problem })
}

/** Adds to a refusal of the IP filter that no proxy was used, and why. It is the reason if a proxy is meant to be used. */
function tellDirect(error: unknown, { notes, unused }: ResolvedTarget): unknown {
  if (!isSluiceError(error) || explain(error.code).stage !== 'egress') return error
  if (unused !== undefined) return fail('PROXY_NOT_USED', { problem: `${unused}. ${error.message}` }, { cause: error })
  const message = [`${error.message.replace(/\.$/, '')}. No proxy was used`, ...notes].join('. ')
  return new SluiceError({ ...error.failure, message }, { cause: error })
}

function clusterUrl(target: TargetOptions): { url: URL; username?: string; password?: string } {
  const text = target.url ?? (target.cloudId === undefined ? undefined : cloudUrl(target.cloudId))
  if (text === undefined) {
    const [option, problem] =
      target.cloudId === undefined
        ? ['target.url', "the cluster's endpoint is not set"]
        : ['target.cloudId', 'is not a cloud id. Copy the whole value from the Elastic Cloud console']
    throw fail('OPTION_INVALID', { option, problem })
  }
  const read = readClusterUrl(String(text))
  if ('problem' in read) throw fail('OPTION_INVALID', { option: 'target.url', problem: read.problem })
  const url = new URL(read.url)
  const problem = problemOfManagedUrl(url)
  if (problem !== undefined) throw fail('OPTION_INVALID', { option: 'target.url', problem })
  return { ...read, url }
}

export function credentialsOf({
  apiKey,
  username,
  password,
}: Pick<TargetOptions, 'apiKey' | 'username' | 'password'>): Credentials | undefined {
  if (apiKey !== undefined) return { apiKey }
  return username === undefined ? undefined : { username, password: password ?? '' }
}

export type { ClusterInfo }

/** A checked and open connection to a cluster. */
export interface Connected<C = Client> extends AsyncDisposable {
  /** The official client over one pool through the proxy. It retries nothing by itself. */
  readonly client: C
  /** The answer to GET /. Absent if the credentials may not ask for it. */
  readonly cluster?: ClusterInfo | undefined
  /** The proxy in use, `scheme://host:port` without credentials. Absent if connected directly. */
  readonly proxy?: string | undefined
  /** Waits for current loads and requests, then closes the pool. */
  close(): Promise<void>
}

/**
 * Opens the official Elasticsearch client through the static-IP proxy, for everything else that an application asks of its cluster.
 * Runs the same preflight as `ingest`, over one pool of at most `concurrency` connections. Without `proxy` it connects directly.
 *
 * ```ts
 * await using connection = await connect({ target: { url, apiKey }, proxy: process.env.STATIC_PROXY_URL })
 * await connection.client.indices.refresh({ index: 'logs' })
 * ```
 * The client's own requests throw the client's own errors.
 * @throws SluiceError OPTION_INVALID, PROXY_*, EGRESS_*, CLUSTER_*, GATEWAY_REFUSED, PLAINTEXT_CREDENTIALS
 */
export async function connect<C>(options: ConnectOptions & { readonly Client: ClientClass<C> }): Promise<Connected<C>>
export async function connect(options: ConnectOptions): Promise<Connected>
export async function connect<C>(
  // A program without types may pass nothing. The checks of options report it.
  options = {} as ConnectOptions & { readonly Client?: ClientClass<C> },
): Promise<Connected<C | Client>> {
  // A program without types may pass nothing.
  const { Client: ClientClass, ...given } = options ?? {}
  if (ClientClass !== undefined && typeof ClientClass !== 'function')
    throw invalid('Client', 'is not the class of an Elasticsearch client')
  const { cluster, way } = await openTarget(readConnecting(given), options.signal)
  const { route, preflight } = cluster
  const shared = new SharedConnection(cluster, given, way)
  const close = async () => await shared.close()
  const connection = {
    client: cluster.openClient(ClientClass),
    cluster: preflight.info,
    proxy: route.proxy,
    close,
    [Symbol.asyncDispose]: close,
  }
  shared.standBehind(connection)
  return connection
}
