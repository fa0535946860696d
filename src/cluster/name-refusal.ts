import { type Failure, failure } from '../failure/failure.js'
import type { Answer, Answered } from './who-answered.js'

/** Names a refusal of the whole request. `cluster` is its URL without credentials. */
export function nameRefusal(answer: Answer, answered: Answered, cluster: string): Failure {
  const status = answer.statusCode
  switch (answered.by) {
    case 'proxy':
      return answered.failure
    case 'filter':
      return failure('EGRESS_NOT_ALLOWED', {
        cluster,
        refused: 1,
        probes: 1,
        observed: answered.message,
        status,
        requestId: answered.requestId,
      })
    case 'edge':
      if (status === 429)
        return failure('CLUSTER_OVERLOADED', { cluster, reason: answered.message, status, elapsedMs: 0 })
      if (status === 404)
        return failure('CLUSTER_UNKNOWN_HOST', { cluster, reason: answered.message, requestId: answered.requestId })
      if (status >= 500)
        return failure('CLUSTER_UNAVAILABLE', { cluster, observed: `status ${status}, ${answered.message}`, status })
      return failure('GATEWAY_REFUSED', { cluster, status, observed: answered.message, requestId: answered.requestId })
    case 'elasticsearch':
      return nameElasticsearchRefusal(status, answered, cluster)
    case 'unknown':
      if (status === 401) return failure('CLUSTER_AUTH_REJECTED', { cluster, reason: answered.observed, status })
      if (status === 429)
        return failure('CLUSTER_OVERLOADED', { cluster, reason: answered.observed, status, elapsedMs: 0 })
      if (status >= 500) return failure('CLUSTER_UNAVAILABLE', { cluster, observed: answered.observed, status })
      if (status < 300) return failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed: answered.observed, status })
      return failure('GATEWAY_REFUSED', { cluster, status, observed: answered.observed })
  }
}

/** Names a refusal of GET /, which every Elasticsearch answers: where it does not, the URL leads to a path that is none of its. */
export function nameRootRefusal(answer: Answer, answered: Answered, cluster: string): Failure {
  const named = nameRefusal(answer, answered, cluster)
  if (named.code !== 'REQUEST_REFUSED') return named
  const observed = `GET / of this URL is refused with status ${answer.statusCode}: ${String(named.evidence['reason'])}`
  return failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed, status: answer.statusCode })
}

function nameElasticsearchRefusal(
  status: number,
  { type = 'error', reason = 'no reason given' }: { type?: string; reason?: string },
  cluster: string,
): Failure {
  const evidence = { cluster, status, reason, type }
  // With 503 it is no index that is blocked, but a cluster that is starting or has no master.
  if (type === 'cluster_block_exception' && status < 500)
    return failure('INDEX_BLOCKED', { ...evidence, index: 'of this request' })
  if (status === 401) return failure('CLUSTER_AUTH_REJECTED', evidence)
  if (status === 403) return failure('CLUSTER_PRIVILEGE_MISSING', evidence)
  if (status === 429) return failure('CLUSTER_OVERLOADED', { ...evidence, elapsedMs: 0 })
  if (status >= 500)
    return failure('CLUSTER_UNAVAILABLE', { ...evidence, observed: `status ${status}, ${type}: ${reason}` })
  return failure('REQUEST_REFUSED', evidence)
}
