/**
 * Knows Elastic's managed ingest endpoint: a queue in front of a cluster. It takes bulk requests at the path /_es, and serves besides
 * that only its root and _license. Its IP filter, ids and indices are not those of the cluster.
 */
import type { Route } from '../proxy/route.js'
import { type Answered, type ClusterAnswer, nameRefusal } from './answers.js'
import { type Failure, failure } from '../../base/failure/failure.js'
import { ask } from './request.js'

const PATH = '/_es'

/** Hosts of Elastic Cloud that take data for a queue: with the path /_es in bulk requests, without it in OTLP. */
const ofElastic =
  /^[^.]+\.ingest\.(?:[^.]+\.)?[a-z0-9-]+\.(?:aws|gcp|azure)\.(?:found\.io|cloud\.es\.io|elastic-cloud\.com|elastic\.cloud)$/i

/** Returns what is wrong with a URL that leads to the right host, and to another service there. */
export function problemOfManagedUrl({ hostname, pathname, origin }: URL): string | undefined {
  if (!ofElastic.test(hostname) || hasPath(pathname)) return undefined
  return `is the host of the managed OTLP endpoint. For its _bulk endpoint, write ${origin}${PATH}`
}

function hasPath(pathname: string): boolean {
  return pathname.replace(/\/$/, '').endsWith(PATH)
}

interface Asking {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Returns whether the URL is that of a managed endpoint: by its host and path, or by its path and its answer. Every cluster answers
 * _authenticate, and the endpoint does not serve it.
 */
export async function isManaged(route: Route, { url, ...asking }: Asking): Promise<boolean> {
  if (!hasPath(url.pathname)) return false
  if (/^[^.]+\.ingest\./i.test(url.hostname)) return true
  const prefix = url.pathname.replace(/\/$/, '')
  const answer = await ask(route, { ...asking, path: `${prefix}/_security/_authenticate` })
  return 'statusCode' in answer && answer.statusCode === 404
}

/** Names a refusal of the managed endpoint. Its 403 is about the key, because no IP filter guards it. */
export function nameManagedRefusal(answer: ClusterAnswer, answered: Answered, cluster: string): Failure {
  const { statusCode: status } = answer
  // No gateway stands before the endpoint: this is its own queue.
  if (status === 429 && answered.by === 'unknown')
    return failure('CLUSTER_OVERLOADED', { cluster, reason: answered.observed, status })
  if (status !== 403 || answered.by === 'proxy' || answered.by === 'filter')
    return nameRefusal(answer, answered, cluster)
  const reason = reasonIn(answered)
  return failure('CLUSTER_PRIVILEGE_MISSING', { cluster, reason, status })
}

/** Returns the text of the answer. */
export function reasonIn(answered: Exclude<Answered, { by: 'proxy' }>): string {
  if (answered.by === 'unknown') return answered.observed
  return (answered.by === 'elasticsearch' ? answered.reason : answered.message) ?? 'no reason given'
}

/**
 * Returns the failure if the endpoint's root refuses the request. Its content is not documented, so Sluice accepts any other answer.
 */
export function judgeManagedRoot(answer: ClusterAnswer, answered: Answered, cluster: string): Failure | undefined {
  const { statusCode: status } = answer
  const isTaken =
    status < 300 || (answered.by !== 'proxy' && answered.by !== 'edge' && (status === 404 || status === 405))
  return isTaken ? undefined : nameManagedRefusal(answer, answered, cluster)
}
