/** Asks about an index: which one it is, how many documents it has, and how its copies are. */
import { type Failure, failure } from '../failure/failure.js'
import { quote } from '../failure/quote.js'
import { isObject } from '../text/parse-json.js'
import { type ClusterAnswer, jsonIn, nameRefusal, whoAnswered } from './answers.js'
import { whyUnanswered } from './client-connection.js'
import { type ReachedCluster, call, inquire } from './request.js'

/** What is behind an index name. */
export type IndexSeen =
  | { readonly kind: 'index'; readonly uuid: string }
  /** An alias or a data stream. It stays when the indices behind it change: a rollover adds one. */
  | { readonly kind: 'name'; readonly behind: readonly string[] }
  | { readonly kind: 'missing' }
  /** The credentials may not ask, or the cluster gave no answer that Sluice knows. */
  | { readonly kind: 'unreadable'; readonly observed: string; readonly failure: Failure }

/** An alias has a few indices, hundreds at most. */
const ANSWER_BYTES = 1 << 20

/** Asks for the uuid of an index: an index that is deleted and made again has another one. Never throws. */
export async function seeIndex(cluster: ReachedCluster, index: string, signal?: AbortSignal): Promise<IndexSeen> {
  const path = `/${encodeURIComponent(index)}/_settings/index.uuid`
  const aborting = signal === undefined ? {} : { signal }
  let answer: ClusterAnswer
  try {
    answer = await inquire(cluster, { method: 'GET', path, maxAnswerBytes: ANSWER_BYTES, ...aborting })
  } catch (error) {
    return { kind: 'unreadable', observed: 'no answer', failure: whyUnanswered(error, cluster.display) }
  }
  const { statusCode } = answer
  if (statusCode === 404) return { kind: 'missing' }
  if (statusCode === 200) return readSettings(jsonIn(answer), index, cluster.display)
  const named = nameRefusal(answer, whoAnswered(answer, cluster.route), cluster.display)
  return { kind: 'unreadable', observed: `status ${statusCode}`, failure: named }
}

interface Settings {
  readonly settings?: { readonly index?: { readonly uuid?: unknown } }
}

/** Reads an answer of `_settings`. Each name in it has a uuid, else it is another answer. */
function readSettings(json: object, index: string, cluster: string): IndexSeen {
  const found = Object.entries(json)
  const uuids = found.map(([, one]) => (one as Settings | null)?.settings?.index?.uuid)
  const [uuid] = uuids
  if (typeof uuid !== 'string' || uuids.some(one => typeof one !== 'string')) {
    const observed = 'an answer without a uuid'
    return { kind: 'unreadable', observed, failure: failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed }) }
  }
  // An alias or a data stream answers with the names behind it.
  if (!found.some(([name]) => name === index)) return { kind: 'name', behind: found.map(([name]) => name) }
  return { kind: 'index', uuid: quote(uuid) }
}

/** Makes all stored documents findable. Resolves to a failure if it could not. Never throws: a search works without it. */
export async function refresh(cluster: ReachedCluster, index: string): Promise<Failure | undefined> {
  try {
    const path = `/${encodeURIComponent(index)}/_refresh`
    const answer = await inquire(cluster, { method: 'POST', path, maxAnswerBytes: 1 << 16 })
    if (answer.statusCode === 200) return undefined
    return nameRefusal(answer, whoAnswered(answer, cluster.route), cluster.display)
  } catch (error) {
    return whyUnanswered(error, cluster.display)
  }
}

/** Makes all documents visible. Throws SluiceError: see `call`. */
export async function makeVisible(cluster: ReachedCluster, index: string): Promise<void> {
  await call(cluster, { method: 'POST', path: `/${encodeURIComponent(index)}/_refresh` })
}

export interface Counted {
  readonly documents: number
  /** Shards that did not answer: their documents are not counted. */
  readonly failedShards: number
}

/** Counts the documents in an index, or only those that match a query. Throws SluiceError: see `call`. */
export async function countDocuments(cluster: ReachedCluster, index: string, query?: object): Promise<Counted> {
  const path = `/${encodeURIComponent(index)}/_count`
  const { json } = await call(cluster, { method: 'POST', path, ...(query === undefined ? {} : { body: { query } }) })
  const { count, _shards: shards } = json
  const failed = isObject(shards) ? shards['failed'] : undefined
  return {
    documents: typeof count === 'number' ? count : 0,
    failedShards: typeof failed === 'number' ? failed : 0,
  }
}

/** How the copies of an index are. `unknown`: the credentials may not ask (needs the cluster privilege `monitor`). */
export type Health = 'green' | 'yellow' | 'red' | 'unknown'

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
