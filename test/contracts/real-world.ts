import { type ClusterOptions, startCluster } from '../real/servers/cluster.js'
import type { refusals } from '../real/servers/ip-filter.js'
import { newOwner } from '../real/servers/owner.js'
import { findParts } from '../real/servers/parts.js'
import { startStaticProxy } from '../real/servers/static-proxy.js'
import type { Registered, World } from './world.js'

export type RealWorldOptions = ClusterOptions

export interface RealWorld extends World {
  /** What the IP filter's 403 says: one of the two documented bodies, or plain text; `long` at first. */
  refuseWith(body: keyof typeof refusals): Promise<void>
  /** Rewrites the filter's rules with any addresses. */
  allow(addresses: readonly string[]): Promise<void>
  /** Asks the cluster as its superuser, past proxy and filter. `body` is sent as JSON, or as it is if it is a text. */
  ask(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly text: string }>
}

const staticIps = ['127.0.0.2', '127.0.0.3'] as const

/**
 * The world of real servers: Squid and microsocks as the static-IP proxy, nginx as the IP filter and the IP check,
 * Elasticsearch with security. Both addresses are registered at first. Throws, naming it, when a part is missing.
 */
export async function startRealWorld(options: RealWorldOptions): Promise<RealWorld> {
  const parts = findParts()
  const owner = await newOwner()
  const [proxy, cluster] = await owner.all([
    startStaticProxy(parts, owner, staticIps),
    startCluster(parts, owner, options),
  ])
  const { elasticsearch, filter } = cluster
  await filter.allow(staticIps)
  return {
    name: `Squid, microsocks, nginx and Elasticsearch ${parts.elasticsearch[options.major].version}`,
    proxy: proxy.urls,
    proxyCaFile: proxy.caFile,
    staticIps,
    ipCheckUrl: `http://127.0.0.1:${filter.ipCheckPort}/`,
    cluster: {
      url: `https://127.0.0.1:${filter.httpsPort}`,
      httpUrl: `http://127.0.0.1:${filter.httpPort}`,
      caFile: cluster.caFile,
      apiKey: cluster.apiKey,
      username: elasticsearch.username,
      password: elasticsearch.password,
      leastPrivilegeApiKey: cluster.leastPrivilegeApiKey,
      major: options.major,
    },
    register: which => filter.allow(addresses(which)),
    refuseWith: body => filter.refuseWith(body),
    allow: allowed => filter.allow(allowed),
    ask: (method, path, body) => elasticsearch.ask(method, path, body),
    connections: () => filter.arrivals.list(),
    forget: () => filter.arrivals.forget(),
    count: index => cluster.count(index),
    documents: index => cluster.documents(index),
    source: (index, id) => cluster.source(index, id),
    [Symbol.asyncDispose]: async () => owner[Symbol.asyncDispose](),
  }
}

function addresses(which: Registered): readonly string[] | 'everyone' {
  switch (which) {
    case 'both':
      return staticIps
    case 'first':
      return [staticIps[0]]
    case 'second':
      return [staticIps[1]]
    case 'none':
      return []
    case 'everyone':
      return 'everyone'
  }
}
