/** Asks about an index: which one it is, how many documents it has, how its copies are, and who may delete from it. */
import { type Failure, failure, quote } from '../../base/failure/failure.js'
import type { Health, IndexSeen, Shown } from './indices.js'
import { isObject } from '../../base/json/parse-json.js'
import { type ClusterAnswer, jsonIn, nameLaterRefusal, whoAnswered } from './answers.js'
import { whyUnanswered } from './client-connection.js'
import { type ReachedCluster, call, inquire } from './request.js'

/** An alias has a few indices, hundreds at most. */
const ANSWER_BYTES = 1 << 20

/** What shows which index it is, and how it treats documents. */
export const SHOWN = 'index.uuid,index.refresh_interval,index.default_pipeline,index.final_pipeline'

/** Asks for the uuid of an index: an index that is deleted and made again has another one. Never throws. */
export async function seeIndex(cluster: ReachedCluster, index: string, signal?: AbortSignal): Promise<IndexSeen> {
  const path = `/${encodeURIComponent(index)}/_settings/${SHOWN}`
  let answer: ClusterAnswer
  try {
    answer = await inquire(cluster, { method: 'GET', path, maxAnswerBytes: ANSWER_BYTES, signal })
  } catch (error) {
    return { kind: 'unreadable', observed: 'no answer', failure: whyUnanswered(error, cluster.display) }
  }
  const { statusCode } = answer
  if (statusCode === 404) return { kind: 'missing' }
  if (statusCode === 200) return readSettings(jsonIn(answer), index, cluster.display)
  const named = nameLaterRefusal(answer, whoAnswered(answer, cluster.route), cluster.display)
  return { kind: 'unreadable', observed: `status ${statusCode}`, failure: named }
}

/** Reads an answer of `_settings`. Each name in it has a uuid, else it is another answer. */
export function readSettings(json: object, index: string, cluster: string): IndexSeen {
  const found = Object.entries(json as Record<string, { settings?: { index?: Partial<Described> } } | null>)
  const uuids = found.map(([, one]) => one?.settings?.index?.uuid)
  const isOff = found.some(([, one]) => one?.settings?.index?.refresh_interval === '-1')
  const shown: Shown = {
    ...(isOff ? { isUnrefreshed: true } : {}),
    ...(found.some(([, one]) => hasPipeline(one)) ? { isPiped: true } : {}),
  }
  const [uuid] = uuids
  if (typeof uuid !== 'string' || uuids.some(one => typeof one !== 'string')) {
    const observed = 'an answer without a uuid'
    return { kind: 'unreadable', observed, failure: failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed }) }
  }
  // An alias or a data stream answers with the names behind it.
  if (!found.some(([name]) => name === index))
    return { kind: 'name', behind: found.map(([name]) => name), uuids: uuids.map(one => quote(String(one))), ...shown }
  return { kind: 'index', uuid: quote(uuid), ...shown }
}

function hasPipeline(described: { readonly settings?: { readonly index?: Partial<Described> } } | null): boolean {
  const { default_pipeline: first = '_none', final_pipeline: last = '_none' } = described?.settings?.index ?? {}
  return first !== '_none' || last !== '_none'
}

interface Described {
  readonly uuid: unknown
  readonly refresh_interval: unknown
  readonly default_pipeline: unknown
  readonly final_pipeline: unknown
}

/** Makes all stored documents findable. Resolves to a failure if it could not. Never throws: a search works without it. */
export async function refresh(cluster: ReachedCluster, index: string): Promise<Failure | undefined> {
  return await refreshed(cluster, encodeURIComponent(index), {})
}

/** `names`: as they stand in the path. Resolves to a failure if it could not. Never throws. */
export async function refreshed(
  cluster: ReachedCluster,
  names: string,
  query: Readonly<Record<string, string>>,
): Promise<Failure | undefined> {
  try {
    const answer = await inquire(cluster, {
      method: 'POST',
      path: `/${names}/_refresh`,
      query,
      maxAnswerBytes: 1 << 16,
    })
    if (answer.statusCode === 200) return undefined
    return nameLaterRefusal(answer, whoAnswered(answer, cluster.route), cluster.display)
  } catch (error) {
    return whyUnanswered(error, cluster.display)
  }
}

/** Makes all documents visible. Throws SluiceError: see `call`. */
export async function makeVisible(cluster: ReachedCluster, index: string): Promise<void> {
  await call(cluster, { method: 'POST', path: `/${encodeURIComponent(index)}/_refresh` })
}

/**
 * Counts the documents in an index, or only those that match a query. Does not count those of `failedShards`, which did not answer.
 * Throws SluiceError: see `call`.
 */
export async function countDocuments(
  cluster: ReachedCluster,
  index: string,
  query?: object,
): Promise<{ readonly documents: number; readonly failedShards: number }> {
  const path = `/${encodeURIComponent(index)}/_count`
  const { json } = await call(cluster, { method: 'POST', path, ...(query === undefined ? {} : { body: { query } }) })
  const { count, _shards: shards } = json
  const failed = isObject(shards) ? shards['failed'] : undefined
  return {
    documents: typeof count === 'number' ? count : 0,
    failedShards: typeof failed === 'number' ? failed : 0,
  }
}

/** Waits up to `seconds` for every copy. Does not wait for copies that have no node. */
export async function waitForCopies(cluster: ReachedCluster, index: string, seconds: number): Promise<Health> {
  const path = `/_cluster/health/${encodeURIComponent(index)}`
  const now = await askHealth(cluster, path, {})
  if (now.health !== 'yellow' || now.dataNodes < 2) return now.health
  return (await askHealth(cluster, path, { wait_for_status: 'green', timeout: `${seconds}s` })).health
}

async function askHealth(
  cluster: ReachedCluster,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<{ health: Health; dataNodes: number }> {
  // 408: the time was over. The answer has the health.
  const { json } = await call(cluster, { method: 'GET', path, query, expects: [408, 'security_exception'] })
  const { status: health, number_of_data_nodes: dataNodes } = json
  if (health !== 'green' && health !== 'yellow' && health !== 'red') return { health: 'unknown', dataNodes: 0 }
  return { health, dataNodes: typeof dataNodes === 'number' ? dataNodes : 0 }
}
