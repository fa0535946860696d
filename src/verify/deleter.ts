/** Deletes a run's documents as they were found, and counts what happened to them. */
import { type Deletion, type DeletionRefused, deleteFound } from '../cluster/delete-found.js'
import type { FoundDocument } from '../cluster/find-documents.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { Pace } from './pace.js'
import type { Undone } from './verification.js'

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
  /** Documents that were found, but were gone before they could be deleted. */
  readonly vanished: number
}

/** Elasticsearch gives a created document version 1, and raises it with each write. */
const UNTOUCHED = 1

export class Deleter {
  readonly #options: DeleterOptions
  readonly #counts = { deleted: 0, wouldDelete: 0, changed: 0, failed: 0, vanished: 0 }
  readonly #changedIds: string[] = []
  readonly #failures = new Map<string, DeletionRefused & { documents: number }>()

  constructor(options: DeleterOptions) {
    this.#options = options
  }

  /** Resolves when each document is deleted, or known not to be. Throws SluiceError if the cluster cannot answer. */
  async remove(documents: readonly FoundDocument[]): Promise<void> {
    const { cluster, force, dryRun, pace, signal } = this.#options
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
      ...(signal === undefined ? {} : { signal }),
      settle: async (part, step) => await pace.settle(part, step),
      settled: (document, outcome) => this.#count(document, outcome),
    })
  }

  result(): Result {
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
