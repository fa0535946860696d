/** Deletes a run's documents as they were found, and counts what happened to them. */
import { type Deletion, type DeletionRefused, deleteFound } from '../cluster/delete-found.js'
import type { FoundDocument } from '../cluster/find-documents.js'
import type { OpenRun } from './open-run.js'
import type { VerifySection } from './verify-options.js'

/** Elasticsearch gives a created document version 1, and raises it with each write. */
const UNTOUCHED = 1

export class Deleter {
  readonly #run: OpenRun
  readonly #options: VerifySection
  /** `vanished`: documents that were found, but were gone before they could be deleted. */
  readonly #counts = { deleted: 0, wouldDelete: 0, changed: 0, failed: 0, vanished: 0 }
  readonly #changedIds: string[] = []
  readonly #failures = new Map<string, DeletionRefused & { documents: number }>()

  constructor(run: OpenRun, options: VerifySection) {
    this.#run = run
    this.#options = options
  }

  /** Resolves when each document is deleted, or known not to be. Throws SluiceError if the cluster cannot answer. */
  async remove(documents: readonly FoundDocument[]): Promise<void> {
    const { force, dryRun } = this.#options
    const { cluster, pace, signal } = this.#run
    const ours: FoundDocument[] = []
    for (const document of documents) {
      if (force || document.version === UNTOUCHED) ours.push(document)
      else this.#count(document, 'changed')
    }
    if (dryRun) {
      this.#counts.wouldDelete += ours.length
      return
    }
    await deleteFound(ours, {
      cluster,
      force,
      signal,
      settle: async (part, step) => await pace.settle(part, step),
      settled: (document, outcome) => this.#count(document, outcome),
    })
  }

  result() {
    return { ...this.#counts, changedIds: this.#changedIds, failures: [...this.#failures.values()] }
  }

  #count({ id }: FoundDocument, outcome: Deletion): void {
    if (outcome === 'deleted') this.#counts.deleted += 1
    else if (outcome === 'gone') this.#counts.vanished += 1
    else if (outcome === 'changed') {
      this.#counts.changed += 1
      if (this.#changedIds.length < this.#options.listed) this.#changedIds.push(id)
    } else this.#fail(outcome)
  }

  #fail({ status, type }: DeletionRefused): void {
    this.#counts.failed += 1
    const key = `${status} ${type}`
    const known = this.#failures.get(key)
    if (known === undefined) this.#failures.set(key, { status, type, documents: 1 })
    else known.documents += 1
  }
}
