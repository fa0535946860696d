/** Deletes documents as they were found, and tells what happened to each: a document written since then is kept, unless forced. */
import { type Failure, failure } from '../failure/failure.js'
import { type DeleteAnswer, deleteDocuments } from './delete-documents.js'
import { type FoundDocument, findDocuments } from './find-documents.js'
import type { Cluster } from './open-cluster.js'

/** What one request did about its part of a list. */
export type PartStep<T> =
  | { readonly kind: 'done' }
  /** Ask again for `left`, later. */
  | {
      readonly kind: 'again'
      readonly left: readonly T[]
      readonly failure: Failure
      readonly retryAfter?: string | string[] | undefined
    }
  | { readonly kind: 'tooMany'; readonly failure: Failure }
  | { readonly kind: 'refused'; readonly failure: Failure }

export type TakeStep<T> = (part: readonly T[]) => Promise<PartStep<T>>

/** `gone`: somebody else deleted the document. `changed`: somebody wrote it since it was found. Otherwise the cluster refused. */
export type Deletion = 'deleted' | 'gone' | 'changed' | DeletionRefused

export interface DeletionRefused {
  readonly status: number
  readonly type: string
}

export interface DeletingFound {
  readonly cluster: Cluster
  /** Delete a document also if it was written since it was found. */
  readonly force: boolean
  readonly signal?: AbortSignal
  /** Takes the step with parts of the documents until all are done. Throws SluiceError. */
  settle(documents: readonly FoundDocument[], step: TakeStep<FoundDocument>): Promise<void>
  /** Called once for each document. May throw to end the deletion. */
  settled(document: FoundDocument, outcome: Deletion): void
}

/** Resolves when each document has its outcome. Throws what `settle` and `settled` throw. */
export async function deleteFound(documents: readonly FoundDocument[], deleting: DeletingFound): Promise<void> {
  for (const [index, group] of byIndex(documents)) {
    const found = new FoundInIndex(index, deleting)
    await deleting.settle(group, async part => await found.delete(part))
    if (found.conflicts.length > 0) await deleting.settle(found.conflicts, async part => await found.lookAgain(part))
  }
}

class FoundInIndex {
  /** Documents that were written or deleted since they were found. */
  readonly conflicts: FoundDocument[] = []
  readonly #index: string
  readonly #deleting: DeletingFound
  /** Documents of a deletion without an answer. If such a document is gone now, we deleted it. */
  readonly #doubtful = new Set<FoundDocument>()

  constructor(index: string, deleting: DeletingFound) {
    this.#index = index
    this.#deleting = deleting
  }

  async delete(part: readonly FoundDocument[]): Promise<PartStep<FoundDocument>> {
    const { cluster, force, signal } = this.#deleting
    const stopping = signal === undefined ? {} : { signal }
    const answer = await deleteDocuments(cluster, { index: this.#index, documents: part, force, ...stopping })
    if (answer.kind === 'busy') {
      if (answer.mayBeDone) for (const document of part) this.#doubtful.add(document)
      return { ...answer, kind: 'again', left: part }
    }
    return answer.kind === 'done' ? this.#sort(part, answer) : answer
  }

  /** Finds out whether the documents of conflicts were written again or are gone. */
  async lookAgain(part: readonly FoundDocument[]): Promise<PartStep<FoundDocument>> {
    const { cluster, signal, settled } = this.#deleting
    const stopping = signal === undefined ? {} : { signal }
    const looked = await findDocuments(cluster, { index: this.#index, by: 'id', wanted: part, ...stopping })
    if (looked.kind === 'busy') return { ...looked, kind: 'again', left: part }
    if (looked.kind !== 'found') return looked
    const there = new Set(looked.documents.map(({ id }) => id))
    for (const document of part) settled(document, there.has(document.id) ? 'changed' : this.#gone(document))
    return { kind: 'done' }
  }

  #sort(
    part: readonly FoundDocument[],
    { outcomes }: Extract<DeleteAnswer, { kind: 'done' }>,
  ): PartStep<FoundDocument> {
    const { cluster, settled } = this.#deleting
    const busy: FoundDocument[] = []
    for (const [at, outcome] of outcomes.entries()) {
      const document = part[at] as FoundDocument
      if (outcome === 'busy') busy.push(document)
      else if (outcome === 'conflict') this.conflicts.push(document)
      else settled(document, outcome === 'gone' ? this.#gone(document) : outcome)
    }
    if (busy.length === 0) return { kind: 'done' }
    const reason = `the cluster was too busy for ${busy.length} of ${part.length} deletions`
    const overloaded = failure('CLUSTER_OVERLOADED', { cluster: cluster.display, elapsedMs: 0, reason })
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
