import type { Client } from '@elastic/elasticsearch'
import { invalid } from '../../options/option-checks.js'
import { readConnecting } from '../../options/read-options.js'
import type { ClientClass } from '../cluster/open-cluster.js'
import type { ClusterInfo } from '../cluster/answers.js'
import type { ConnectOptions } from '../../options/connect-options.js'
import { openTarget } from './open-target.js'
import { SharedConnection } from './shared-connection.js'

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
