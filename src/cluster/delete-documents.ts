/** Deletes documents of one index as they were found, with one request, and judges the answer. */
import { explain } from '../failure/catalogue.js'
import { fail } from '../failure/fail.js'
import { type Failure, failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import { isObject } from '../text/parse-json.js'
import { type ClusterAnswer, itemsIn, jsonIn, nameRefusal, whoAnswered } from './answers.js'
import { bounded } from './bounds.js'
import { lostAnswer, routeErrorOf } from './client-connection.js'
import type { FoundDocument } from './find-documents.js'
import { type ReachedCluster, inquire, postBulk } from './request.js'

export interface Deleting {
  readonly index: string
  readonly documents: readonly FoundDocument[]
  /** Deletes them even if they were written since they were found. */
  readonly force: boolean
  readonly signal?: AbortSignal
}

/** The outcome of one document. `conflict`: written or deleted since it was found. `busy`: try again. */
type Deleted = 'deleted' | 'gone' | 'conflict' | 'busy' | { readonly status: number; readonly type: string }

export type DeleteAnswer =
  /** In the order of the documents. */
  | { readonly kind: 'done'; readonly outcomes: readonly Deleted[] }
  | { readonly kind: 'tooMany'; readonly failure: Failure }
  /** `mayBeDone`: no answer says whether documents were deleted. */
  | {
      readonly kind: 'busy'
      readonly failure: Failure
      readonly mayBeDone: boolean
      readonly retryAfter?: string | string[] | undefined
    }
  | { readonly kind: 'refused'; readonly failure: Failure }

interface Item {
  status?: number
  error?: { type?: string }
}

const ANSWER_BYTES = 1 << 16
const ITEM_BYTES = 4096
/** Bytes of an answer for each deletion. */
const DONE_BYTES = 30

/** Throws SluiceError RUN_INTERRUPTED if a budget refuses the request, and the client's error if it was aborted. */
export async function deleteDocuments(
  cluster: ReachedCluster,
  { index, documents, force, signal = cluster.bounds?.givenUp }: Deleting,
): Promise<DeleteAnswer> {
  const body = Buffer.from(documents.map(document => actionLine(document, force)).join(''))
  const admission = cluster.bounds?.budget?.admitQuestion(body.length, DONE_BYTES * documents.length)
  let answer: ClusterAnswer
  try {
    answer = await bounded(admission, async admitted => {
      const posted = await postBulk(cluster, {
        path: `/${encodeURIComponent(index)}/_bulk`,
        query: { filter_path: 'items.*.status,items.*.error.type' },
        headers: {},
        body,
        maxAnswerBytes: ANSWER_BYTES + ITEM_BYTES * documents.length,
        ...(signal === undefined ? {} : { signal }),
      })
      admitted?.answered(posted.body.length)
      return posted
    })
  } catch (error) {
    if (isSluiceError(error) || routeErrorOf(error)?.code === 'ABORTED') throw error
    const lost = lostAnswer(error, cluster.display)
    if (!lost.mayPass) return { kind: 'refused', failure: lost.failure }
    return { kind: 'busy', failure: lost.failure, mayBeDone: lost.delivery === 'possible' }
  }
  const { statusCode: status, headers } = answer
  if (status === 200) return readItems(answer.body, documents.length, cluster.display)
  const answered = whoAnswered(answer, cluster.route)
  const named = nameRefusal(answer, answered, cluster.display)
  if (status === 413) return { kind: 'tooMany', failure: named }
  if (explain(named.code).retry !== 'later') return { kind: 'refused', failure: named }
  return { kind: 'busy', failure: named, mayBeDone: status !== 429, retryAfter: headers['retry-after'] }
}

function actionLine({ id, routing, seqNo, primaryTerm }: FoundDocument, force: boolean): string {
  const action = {
    _id: id,
    ...(routing === undefined ? {} : { routing }),
    ...(force ? {} : { if_seq_no: seqNo, if_primary_term: primaryTerm }),
  }
  return `${JSON.stringify({ delete: action })}\n`
}

function readItems(bytes: Buffer, documents: number, cluster: string): DeleteAnswer {
  const items = itemsIn<Item>(bytes)
  if (items?.length === documents) return { kind: 'done', outcomes: items.map(judge) }
  const observed = `${items?.length ?? 'no'} item results for ${documents} deletions`
  return { kind: 'refused', failure: failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed }) }
}

function judge({ status = 0, error }: Item): Deleted {
  if (status === 200) return 'deleted'
  if (status === 404 && (error === undefined || error.type === 'index_not_found_exception')) return 'gone'
  if (status === 409) return 'conflict'
  if (status === 429 || status === 503 || status === 504) return 'busy'
  return { status, type: error?.type ?? 'error' }
}

/**
 * Checks that the credentials may search and delete documents of an index. A cluster without security does not say.
 * `isNamed`: the name is not an alias. For an alias the answer would be about the alias only.
 * Throws SluiceError CLUSTER_PRIVILEGE_MISSING if they may not.
 */
export async function mayDelete(
  cluster: ReachedCluster,
  index: string,
  { isNamed }: { readonly isNamed: boolean },
): Promise<void> {
  if (!isNamed) return
  const has = await askPrivileges(cluster, index)
  if (has === undefined) return
  const missing = [
    ...(has['read'] === false ? ['read'] : []),
    ...(has['delete'] === false && has['write'] === false ? ['delete'] : []),
  ]
  if (missing.length === 0) return
  const reason = `Sluice cannot follow deleted rows without ${missing.join(' and ')} on ${index}`
  throw fail('CLUSTER_PRIVILEGE_MISSING', { cluster: cluster.display, status: 403, reason, missing, index })
}

async function askPrivileges(
  cluster: ReachedCluster,
  index: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const path = '/_security/user/_has_privileges'
  const body = { index: [{ names: [index], privileges: ['read', 'delete', 'write'] }] }
  try {
    const answer = await inquire(cluster, { method: 'POST', path, body, maxAnswerBytes: 1 << 16 })
    if (answer.statusCode !== 200) return undefined
    const { index: of } = jsonIn(answer)
    const indices = isObject(of) ? of[index] : undefined
    return isObject(indices) ? indices : undefined
  } catch (error) {
    if (isSluiceError(error)) throw error
    // The deletion itself will show it.
    return undefined
  }
}
