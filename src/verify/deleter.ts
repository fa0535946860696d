/** Deletes documents as they were found: what was written since is left. */
import { deleteDocuments } from '../cluster/delete-documents.js'
import { type FoundDocument, findDocuments } from '../cluster/find-documents.js'
import type { Cluster } from '../cluster/open-cluster.js'
import { failure } from '../failure/failure.js'
import type { Pace, Step } from './pace.js'
import type { Undone } from './undone.js'

export interface DeleterOptions {
  readonly cluster: Cluster
  readonly pace: Pace
  readonly dryRun: boolean
  readonly force: boolean
  /** Most ids of changed documents. */
  readonly listed: number
  readonly signal?: AbortSignal
}

type Result = Pick<Undone, 'deleted' | 'wouldDelete' | 'changed' | 'failed' | 'changedIds' | 'failures'> & {
  /** There when they were looked up, and gone when they were to be deleted. */
  readonly vanished: number
}

/** A document that is created is of version 1; whoever writes it again makes it 2. */
const UNTOUCHED = 1

export class Deleter {
  readonly #options: DeleterOptions
  readonly #counts = { deleted: 0, wouldDelete: 0, changed: 0, failed: 0, vanished: 0 }
  readonly #changedIds: string[] = []
  readonly #failures = new Map<string, { status: number; type: string; documents: number }>()

  constructor(options: DeleterOptions) {
    this.#options = options
  }

  /** Resolves when each of them is deleted, or known not to be. Throws SluiceError: what keeps the cluster from answering. */
  async remove(documents: readonly FoundDocument[]): Promise<void> {
    const { force, dryRun, pace } = this.#options
    const isOurs = ({ version }: FoundDocument) => force || version === UNTOUCHED
    this.#leave(documents.filter(document => !isOurs(document)))
    const ours = documents.filter(isOurs)
    if (dryRun) {
      this.#counts.wouldDelete += ours.length
      return
    }
    for (const [index, group] of byIndex(ours)) {
      // Of a deletion without an answer: what is gone then went by it.
      const doubtful = new Set<FoundDocument>()
      const conflicts: FoundDocument[] = []
      await pace.settle(group, async part => await this.#attempt(index, part, doubtful, conflicts))
      if (conflicts.length > 0) {
        await pace.settle(conflicts, async part => await this.#lookAgain(index, part, doubtful))
      }
    }
  }

  result(): Result {
    return { ...this.#counts, changedIds: this.#changedIds, failures: [...this.#failures.values()] }
  }

  async #attempt(
    index: string,
    part: readonly FoundDocument[],
    doubtful: Set<FoundDocument>,
    conflicts: FoundDocument[],
  ): Promise<Step<FoundDocument>> {
    const { cluster, force, signal } = this.#options
    const stopping = signal === undefined ? {} : { signal }
    const answer = await deleteDocuments(cluster, { index, documents: part, force, ...stopping })
    if (answer.kind === 'busy') {
      if (answer.mayBeDone) for (const document of part) doubtful.add(document)
      return { ...answer, kind: 'again', left: part }
    }
    if (answer.kind !== 'done') return answer
    const busy: FoundDocument[] = []
    for (const [at, outcome] of answer.outcomes.entries()) {
      const document = part[at] as FoundDocument
      if (outcome === 'busy') busy.push(document)
      else if (outcome === 'conflict') conflicts.push(document)
      else if (outcome === 'deleted') this.#counts.deleted += 1
      else if (outcome === 'gone') this.#vanish(document, doubtful)
      else this.#fail(outcome)
    }
    if (busy.length === 0) return { kind: 'done' }
    const reason = `${busy.length} of ${part.length} deletions were refused as busy`
    const overloaded = failure('CLUSTER_OVERLOADED', { cluster: cluster.display, elapsedMs: 0, reason })
    return { kind: 'again', left: busy, failure: overloaded }
  }

  /** Written again, or gone? */
  async #lookAgain(
    index: string,
    part: readonly FoundDocument[],
    doubtful: ReadonlySet<FoundDocument>,
  ): Promise<Step<FoundDocument>> {
    const { cluster, signal } = this.#options
    const stopping = signal === undefined ? {} : { signal }
    const looked = await findDocuments(cluster, { index, by: 'id', wanted: part, ...stopping })
    if (looked.kind === 'busy') return { ...looked, kind: 'again', left: part }
    if (looked.kind !== 'found') return looked
    const there = new Set(looked.documents.map(({ id }) => id))
    this.#leave(part.filter(({ id }) => there.has(id)))
    for (const document of part) if (!there.has(document.id)) this.#vanish(document, doubtful)
    return { kind: 'done' }
  }

  #vanish(document: FoundDocument, doubtful: ReadonlySet<FoundDocument>): void {
    this.#counts[doubtful.has(document) ? 'deleted' : 'vanished'] += 1
  }

  #leave(changed: readonly FoundDocument[]): void {
    this.#counts.changed += changed.length
    const room = this.#options.listed - this.#changedIds.length
    if (room > 0) this.#changedIds.push(...changed.slice(0, room).map(({ id }) => id))
  }

  #fail({ status, type }: { readonly status: number; readonly type: string }): void {
    this.#counts.failed += 1
    const key = `${status} ${type}`
    const known = this.#failures.get(key)
    if (known === undefined) this.#failures.set(key, { status, type, documents: 1 })
    else known.documents += 1
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
