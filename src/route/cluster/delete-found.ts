/** Deletes documents as they were found, and reports what happened to each: a document written since then is kept, unless forced. */
import { explain, failure } from '../../base/failure/failure.js'
import { type ClusterAnswer, nameLaterRefusal, whoAnswered } from './answers.js'
import { type BulkItem, itemsIn } from './bulk-items.js'
import { lostAnswer } from './client-connection.js'
import type { DeletingFound, FoundDocument, PartStep, Unanswered } from './documents.js'
import { findDocuments } from './find-documents.js'
import { inquire, type ReachedCluster } from './request.js'

/** Resolves when each document has its outcome. Throws what `settle` and `settled` throw. */
export async function deleteFound(
  cluster: ReachedCluster,
  documents: readonly FoundDocument[],
  deleting: DeletingFound,
): Promise<void> {
  for (const [index, group] of byIndex(documents)) {
    const found = new FoundInIndex(cluster, index, deleting)
    await deleting.settle(group, async part => await found.delete(part))
    if (found.conflicts.length > 0) await deleting.settle(found.conflicts, async part => await found.lookAgain(part))
  }
}

class FoundInIndex {
  /** Documents that were written or deleted since they were found. */
  readonly conflicts: FoundDocument[] = []
  readonly #cluster: ReachedCluster
  readonly #index: string
  readonly #deleting: DeletingFound
  /** Documents of a deletion without an answer. If such a document is gone now, we deleted it. */
  readonly #doubtful = new Set<FoundDocument>()

  constructor(cluster: ReachedCluster, index: string, deleting: DeletingFound) {
    this.#cluster = cluster
    this.#index = index
    this.#deleting = deleting
  }

  async delete(part: readonly FoundDocument[]): Promise<PartStep<FoundDocument>> {
    const { force, signal } = this.#deleting
    const answer = await deleteDocuments(this.#cluster, { index: this.#index, documents: part, force, signal })
    if (answer.kind === 'done') return this.#sort(part, answer.outcomes)
    if (answer.mayBeDone === true) for (const document of part) this.#doubtful.add(document)
    return answer
  }

  /** Finds out whether the documents of conflicts were written again or are gone. */
  async lookAgain(part: readonly FoundDocument[]): Promise<PartStep<FoundDocument>> {
    const { signal, settled } = this.#deleting
    const looked = await findDocuments(this.#cluster, { index: this.#index, by: 'id', wanted: part, signal })
    if (looked.kind !== 'found') return looked
    const there = new Set(looked.documents.map(({ id }) => id))
    for (const document of part) settled(document, there.has(document.id) ? 'changed' : this.#gone(document))
    return { kind: 'done' }
  }

  #sort(part: readonly FoundDocument[], outcomes: readonly Deleted[]): PartStep<FoundDocument> {
    const { settled } = this.#deleting
    const busy: FoundDocument[] = []
    for (const [at, outcome] of outcomes.entries()) {
      const document = part[at] as FoundDocument
      if (outcome === 'busy') busy.push(document)
      else if (outcome === 'conflict') this.conflicts.push(document)
      else settled(document, outcome === 'gone' ? this.#gone(document) : outcome)
    }
    if (busy.length === 0) return { kind: 'done' }
    const reason = `the cluster was too busy for ${busy.length} of ${part.length} deletions`
    const overloaded = failure('CLUSTER_OVERLOADED', { cluster: this.#cluster.display, reason })
    return { kind: 'again', left: busy, failure: overloaded }
  }

  #gone(document: FoundDocument): 'deleted' | 'gone' {
    return this.#doubtful.has(document) ? 'deleted' : 'gone'
  }
}

function byIndex(documents: readonly FoundDocument[]): Map<string, FoundDocument[]> {
  const groups = new Map<string, FoundDocument[]>()
  for (const document of documents) {
    const group = groups.get(document.index)
    if (group === undefined) groups.set(document.index, [document])
    else group.push(document)
  }
  return groups
}

interface Deleting {
  readonly index: string
  readonly documents: readonly FoundDocument[]
  readonly force: boolean
  readonly signal?: AbortSignal | undefined
}

/** The outcome of one document. `conflict`: written or deleted since it was found. `busy`: try again. */
type Deleted = 'deleted' | 'gone' | 'conflict' | 'busy' | { readonly status: number; readonly type: string }

type DeleteAnswer =
  /** In the order of the documents. */
  | { readonly kind: 'done'; readonly outcomes: readonly Deleted[] }
  /** `mayBeDone`: no answer says whether documents were deleted. */
  | (Unanswered & { readonly mayBeDone?: boolean })

const ANSWER_BYTES = 1 << 16
const ITEM_BYTES = 4096
/** Bytes of an answer for each deletion. */
const DONE_BYTES = 30

/** Deletes documents of one index with one request. Throws SluiceError RUN_INTERRUPTED as `inquire` does. */
export async function deleteDocuments(
  cluster: ReachedCluster,
  { index, documents, force, signal }: Deleting,
): Promise<DeleteAnswer> {
  let answer: ClusterAnswer
  try {
    answer = await inquire(cluster, {
      method: 'POST',
      path: `/${encodeURIComponent(index)}/_bulk`,
      query: { filter_path: 'items.*.status,items.*.error.type' },
      body: Buffer.from(documents.map(document => actionLine(document, force)).join('')),
      maxAnswerBytes: ANSWER_BYTES + ITEM_BYTES * documents.length,
      answerBytes: DONE_BYTES * documents.length,
      signal,
    })
  } catch (error) {
    const lost = lostAnswer(error, cluster.display)
    if (!lost.mayPass) return { kind: 'refused', failure: lost.failure }
    return { kind: 'again', failure: lost.failure, mayBeDone: lost.delivery === 'possible' }
  }
  const { statusCode: status, headers } = answer
  if (status === 200) return readItems(answer.body, documents.length, cluster.display)
  const answered = whoAnswered(answer, cluster.route)
  const named = nameLaterRefusal(answer, answered, cluster.display)
  if (status === 413) return { kind: 'tooMany', failure: named }
  if (explain(named.code).retry !== 'later') return { kind: 'refused', failure: named }
  return { kind: 'again', failure: named, mayBeDone: status !== 429, headers }
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
  const items = itemsIn(bytes)
  if (items?.length === documents) return { kind: 'done', outcomes: Array.from(items, judge) }
  const observed = `${items?.length ?? 'no'} item results for ${documents} deletions`
  return { kind: 'again', failure: failure('CLUSTER_UNAVAILABLE', { cluster, observed }), mayBeDone: true }
}

function judge({ status = 0, error }: BulkItem): Deleted {
  if (status === 200) return 'deleted'
  if (status === 404 && (error === undefined || error.type === 'index_not_found_exception')) return 'gone'
  if (status === 409) return 'conflict'
  if (status === 429 || status === 503 || status === 504) return 'busy'
  return { status, type: error?.type ?? 'error' }
}
