/** Finds which ids are in an index, with one request, and judges the answer. */
import { explain, failure } from '../../base/failure/failure.js'
import { parseJson } from '../../base/json/parse-json.js'
import type { FoundDocument, IdQuestion, Looked, Wanted } from './documents.js'
import { inquire, type ReachedCluster } from './request.js'
import { lostAnswer, routeErrorOf } from './client-connection.js'
import { type ClusterAnswer, nameLaterRefusal, whoAnswered } from './answers.js'
import { inUrls } from './many-indices.js'
import { ANSWER_UNREADABLE } from './read-answer.js'

/** Most bytes of an answer, in all and for each id. Names of indices have at most 255 bytes, ids 512. */
const ANSWER_BYTES = 1 << 16
const ID_BYTES = 2048
/** Bytes of a found document besides its id and the name of its index. */
const FOUND_BYTES = 200
/** Asks for this many copies of an id that is in several indices. */
const COPIES = 2
/** `index.max_result_window` */
const MOST_HITS = 10_000

/** Throws SluiceError RUN_INTERRUPTED as `inquire` does, and the client's error if it is a bug. */
export async function findDocuments(cluster: ReachedCluster, finding: IdQuestion): Promise<Looked> {
  const { index } = finding
  if (typeof index === 'string') return await findIn(cluster, index, finding)
  const documents: FoundDocument[] = []
  for (const names of inUrls(index)) {
    const looked = await findIn(cluster, names, finding)
    if (looked.kind !== 'found') return looked
    documents.push(...looked.documents)
  }
  return { kind: 'found', documents }
}

async function findIn(
  cluster: ReachedCluster,
  index: string | readonly string[],
  finding: Omit<IdQuestion, 'index'>,
): Promise<Looked> {
  const { by, wanted, fields, signal } = finding
  const names = typeof index === 'string' ? encodeURIComponent(index) : index.map(encodeURIComponent).join(',')
  const path = `/${names}/${by === 'id' ? '_mget' : '_search'}`
  const size = Math.min(MOST_HITS, wanted.length * COPIES + 1)
  const request = by === 'id' ? byId(wanted, fields) : bySearch(wanted, size, fields, typeof index !== 'string')
  const maxAnswerBytes = ANSWER_BYTES + ID_BYTES * (by === 'id' ? wanted.length : size)
  let answer: ClusterAnswer
  try {
    const nameBytes = Math.max(0, ...[index].flat().map(name => name.length))
    const answerBytes = wanted.reduce((sum, { id }) => sum + id.length + nameBytes + FOUND_BYTES, 0)
    answer = await inquire(cluster, { method: 'POST', path, ...request, maxAnswerBytes, answerBytes, signal })
  } catch (error) {
    const lost = lostAnswer(error, cluster.display)
    const isTooLong = routeErrorOf(error)?.code === ANSWER_UNREADABLE
    if (isTooLong && wanted.length > 1) return { kind: 'tooMany', failure: lost.failure }
    return { kind: lost.mayPass ? 'again' : 'refused', failure: lost.failure }
  }
  if (answer.statusCode !== 200) return judgeRefusal(answer, cluster)
  const read = by === 'id' ? readMget(answer.body) : readHits(answer.body, size)
  if (Array.isArray(read)) return { kind: 'found', documents: read }
  const short = { cluster: cluster.display, observed: read.observed }
  const named = failure('CLUSTER_UNAVAILABLE', short)
  if (read.isPartial) return { kind: 'again', failure: named }
  if (wanted.length > 1) return { kind: 'tooMany', failure: named }
  return { kind: read === cutOff ? 'again' : 'refused', failure: named }
}

function byId(wanted: readonly Wanted[], fields: readonly string[] | undefined) {
  const docs = wanted.map(({ id, routing }) => ({ _id: id, ...(routing === undefined ? {} : { routing }) }))
  const query = fields === undefined ? { _source: 'false' } : { _source_includes: fields.join(',') }
  return { query, body: { docs } }
}

function bySearch(wanted: readonly Wanted[], size: number, fields: readonly string[] | undefined, mayMiss: boolean) {
  return {
    // With half an answer, documents that exist would seem missing.
    query: { allow_partial_search_results: 'false', ...(mayMiss ? { ignore_unavailable: 'true' } : {}) },
    body: {
      size,
      _source: fields ?? false,
      track_total_hits: false,
      version: true,
      seq_no_primary_term: true,
      sort: ['_doc'],
      query: { ids: { values: wanted.map(({ id }) => id) } },
    },
  }
}

function judgeRefusal(answer: ClusterAnswer, { display, route }: ReachedCluster): Looked {
  const { statusCode: status, headers } = answer
  const answered = whoAnswered(answer, route)
  if (answered.by === 'elasticsearch' && status === 404 && answered.type === 'index_not_found_exception')
    return { kind: 'found', documents: [] }
  const named = nameLaterRefusal(answer, answered, display)
  if (status === 413) return { kind: 'tooMany', failure: named }
  if (explain(named.code).retry === 'later') return { kind: 'again', failure: named, headers }
  if (named.code !== 'REQUEST_REFUSED') return { kind: 'refused', failure: named }
  const reason = answered.by === 'elasticsearch' ? `${answered.type}: ${answered.reason}` : named.message
  return { kind: 'refused', failure: failure('LOOKUP_REFUSED', { cluster: display, status, reason }) }
}

/** Why an answer is incomplete. `isPartial`: parts of the index gave no answer. Else the answer was cut off. */
interface Short {
  readonly isPartial: boolean
  readonly observed: string
}

interface RawDocument {
  _index: string
  _id: string
  found?: boolean
  _version?: number
  _seq_no?: number
  _primary_term?: number
  _routing?: string
  _source?: Record<string, unknown>
  error?: { type?: string; reason?: string }
}

function readMget(bytes: Buffer): FoundDocument[] | Short {
  const docs = (parseJson(bytes) as { docs?: RawDocument[] } | undefined)?.docs
  if (!Array.isArray(docs)) return cutOff
  const failed = docs.find(({ error }) => error !== undefined && error.type !== 'index_not_found_exception')
  if (failed !== undefined) return { isPartial: true, observed: `${failed.error?.type}: ${failed.error?.reason}` }
  return docs.filter(({ found }) => found === true).map(readDocument)
}

function readHits(bytes: Buffer, size: number): FoundDocument[] | Short {
  const answer = parseJson(bytes) as
    | { timed_out?: boolean; _shards?: { failed?: number }; hits?: { hits?: RawDocument[] } }
    | undefined
  const hits = answer?.hits?.hits
  if (!Array.isArray(hits)) return cutOff
  if (answer?.timed_out === true) return { isPartial: true, observed: 'the search ran out of time' }
  const failed = answer?._shards?.failed ?? 0
  if (failed > 0) return { isPartial: true, observed: `${failed} shards could not be searched` }
  if (hits.length >= size) return { isPartial: false, observed: 'ids that exist in many indices' }
  return hits.map(readDocument)
}

const cutOff: Short = { isPartial: false, observed: 'an answer that does not fit a lookup' }

function readDocument(raw: RawDocument): FoundDocument {
  return {
    id: raw._id,
    index: raw._index,
    version: raw._version ?? 0,
    seqNo: raw._seq_no ?? 0,
    primaryTerm: raw._primary_term ?? 0,
    ...(raw._routing === undefined ? {} : { routing: raw._routing }),
    ...(raw._source === undefined ? {} : { fields: raw._source }),
  }
}
