import { type Failure, failure } from '../failure/failure.js'
import { quote } from '../failure/quote.js'
import { parseJson } from '../text/parse-json.js'

/** The cluster as GET / describes it. */
export interface ClusterInfo {
  readonly name: string
  readonly uuid?: string
  /** `version.number`. Serverless answers a constant, so `flavor` decides there. */
  readonly version: string
  readonly flavor: 'stack' | 'serverless'
}

/** Reads the body of GET /. Returns a failure if it is not Elasticsearch 8, 9 or serverless. */
export function readClusterInfo(body: string, cluster: string): ClusterInfo | Failure {
  const info = parse(body)
  const version = info?.version?.number
  if (info === undefined || typeof version !== 'string') {
    return failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed: 'GET / holds no version.number' })
  }
  const { distribution } = info.version ?? {}
  if (distribution !== undefined) {
    const observed = `it calls itself ${JSON.stringify(distribution).slice(0, 40)}`
    return failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed })
  }
  const flavor = info.version?.build_flavor === 'serverless' ? 'serverless' : 'stack'
  const major = Number.parseInt(version, 10)
  if (flavor === 'stack' && major !== 8 && major !== 9) {
    return failure('CLUSTER_VERSION_UNSUPPORTED', { cluster, version: version.slice(0, 40) })
  }
  return {
    name: typeof info.cluster_name === 'string' ? quote(info.cluster_name) : '',
    ...(typeof info.cluster_uuid === 'string' ? { uuid: info.cluster_uuid } : {}),
    version,
    flavor,
  }
}

/** Returns whether the cluster knows `include_source_on_error`. False if its version is not known. */
export function canHideSource(info: ClusterInfo | undefined): boolean {
  if (info === undefined) return false
  const [major = 0, minor = 0] = info.version.split('.', 2).map(Number)
  return info.flavor === 'serverless' || major > 8 || (major === 8 && minor >= 18)
}

interface RootAnswer {
  cluster_name?: unknown
  cluster_uuid?: unknown
  /** Products that were forked from Elasticsearch have a `distribution`. */
  version?: { number?: unknown; build_flavor?: unknown; distribution?: unknown } | null
}

function parse(body: string): RootAnswer | undefined {
  const value = parseJson(body)
  return typeof value === 'object' && value !== null ? value : undefined
}
