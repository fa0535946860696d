import { join } from 'node:path'
import { issueCertificate } from './certificates.js'
import { type Elasticsearch, type ElasticsearchOptions, startElasticsearch } from './elasticsearch.js'
import { type IpFilter, startIpFilter } from './ip-filter.js'
import type { Owner } from './owner.js'
import { type Major, type Parts, required } from './parts.js'

export interface Cluster {
  readonly elasticsearch: Elasticsearch
  readonly filter: IpFilter
  readonly caFile: string
  /** May do everything on indices, and GET /. */
  readonly apiKey: string
  /** May create documents in `least-*`, and nothing else. */
  readonly leastPrivilegeApiKey: string
  /** Asked past the filter; refreshes first. 0 where the index is missing. */
  count(index: string): Promise<number>
  /** All documents as JSON texts, asked past the filter; refreshes first. */
  documents(index: string): Promise<readonly string[]>
  /** The raw JSON text, asked past the filter; undefined where it is missing. */
  source(index: string, id: string): Promise<string | undefined>
}

export interface ClusterOptions extends Pick<ElasticsearchOptions, 'heap' | 'settings'> {
  readonly major: Major
}

/** Elasticsearch behind an IP filter that accepts no address yet. */
export async function startCluster(
  parts: Parts,
  owner: Owner,
  { major, ...options }: ClusterOptions,
): Promise<Cluster> {
  const { version, home, java } = parts.elasticsearch[major]
  const openssl = required(parts.openssl, 'openssl')
  const nginx = required(parts.nginx, 'nginx')
  const elasticsearch = await owner.own(
    startElasticsearch({
      ...options,
      home,
      java: required(java, `a JDK for Elasticsearch ${version}`),
      folder: join(owner.folder, 'elasticsearch'),
    }),
  )
  const certificate = await issueCertificate(openssl, join(owner.folder, 'cluster-tls'), 'cluster')
  const folder = join(owner.folder, 'nginx')
  const filter = await owner.own(startIpFilter({ nginx, folder, certificate, clusterPort: elasticsearch.port }))
  return {
    elasticsearch,
    filter,
    caFile: certificate.caFile,
    apiKey: await newApiKey(elasticsearch, { cluster: ['monitor'], indices: [{ names: ['*'], privileges: ['all'] }] }),
    leastPrivilegeApiKey: await newApiKey(elasticsearch, {
      indices: [{ names: ['least-*'], privileges: ['create_doc', 'auto_configure'] }],
    }),
    count: index => countDocuments(elasticsearch, index),
    documents: index => readDocuments(elasticsearch, index),
    source: (index, id) => readSource(elasticsearch, index, id),
  }
}

async function newApiKey({ ask }: Elasticsearch, role: object): Promise<string> {
  const { status, text } = await ask('POST', '/_security/api_key', {
    name: 'sluice',
    role_descriptors: { sluice: role },
  })
  if (status !== 200) throw new Error(`no API key: ${status} ${text}`)
  return (JSON.parse(text) as { encoded: string }).encoded
}

async function countDocuments({ ask }: Elasticsearch, index: string): Promise<number> {
  const name = encodeURIComponent(index)
  const refreshed = await ask('POST', `/${name}/_refresh`)
  if (refreshed.status === 404) return 0
  const { status, text } = await ask('GET', `/${name}/_count`)
  if (status !== 200) throw new Error(`no count of ${index}: ${status} ${text}`)
  return (JSON.parse(text) as { count: number }).count
}

async function readDocuments({ ask }: Elasticsearch, index: string): Promise<string[]> {
  const name = encodeURIComponent(index)
  const refreshed = await ask('POST', `/${name}/_refresh`)
  if (refreshed.status === 404) return []
  const { status, text } = await ask('GET', `/${name}/_search?size=10000`)
  if (status !== 200) throw new Error(`no documents of ${index}: ${status} ${text}`)
  const { hits } = JSON.parse(text.replaceAll(STRING_OR_NUMBER, keptNumber)) as {
    hits: { hits: readonly { _source: unknown }[] }
  }
  return hits.hits.map(hit => JSON.stringify(hit._source).replaceAll(KEPT_NUMBER, '$1'))
}

/** JavaScript would write some numbers anew: the index holds them as they came. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g
const KEPT_NUMBER = /"\\u0001([^"]*)"/g

function keptNumber(token: string): string {
  return token.startsWith('"') ? token : `"\\u0001${token}"`
}

async function readSource({ ask }: Elasticsearch, index: string, id: string): Promise<string | undefined> {
  const { status, text } = await ask('GET', `/${encodeURIComponent(index)}/_source/${encodeURIComponent(id)}`)
  if (status === 404) return undefined
  if (status !== 200) throw new Error(`no source of ${index}/${id}: ${status} ${text}`)
  return text
}
