import type { Failure } from '../failure/failure.js'
import type { Batch, Origin, Outcome, Refused } from '../flow.js'
import { type Body, itemLines, itemStarts, ordinalOf } from './body.js'
import type { RefusedItem, Settled } from './verdict.js'

/** Collects the outcomes of a batch's documents, until each has one. */
export class BatchOutcome {
  readonly #batch: Batch
  readonly #counts = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: 0 }
  #unanswered = 0
  readonly #rejected: Refused[]
  #originOf: ((ordinal: number) => Origin) | undefined
  #stop: Failure | undefined

  constructor(batch: Batch) {
    this.#batch = batch
    this.#rejected = [...batch.refused]
  }

  get stopped(): boolean {
    return this.#stop !== undefined
  }

  settle(body: Body, settled: Settled, attempts: number): void {
    for (const name of ['created', 'updated', 'duplicate', 'skipped', 'unknown'] as const)
      this.#counts[name] += settled[name]
    if (settled.refused.length > 0) this.#reject(body, settled.refused, attempts)
  }

  rejectAll(body: Body, refusal: Omit<RefusedItem, 'item'>, attempts: number): void {
    const refused = Array.from({ length: body.items }, (_, item) => ({ item, ...refusal }))
    this.#reject(body, refused, attempts)
  }

  /** Counts documents of a body that was not answered: `unknown` if it may have arrived. */
  leave(items: number, as: 'unsent' | 'unknown', stop?: Failure): void {
    this.#counts[as] += items
    if (as === 'unknown') this.#unanswered += items
    this.#stop ??= stop
  }

  /** Has to be called before a body's bytes change: origins are computed from them. */
  rememberOrigins(): void {
    this.#originOf ??= this.#batch.origins()
  }

  outcome(): Outcome {
    const { refused, docs } = this.#batch
    return {
      docs: docs + refused.length,
      ...this.#counts,
      ...(this.#unanswered === 0 ? {} : { unanswered: this.#unanswered }),
      rejected: this.#rejected,
      ...(this.#stop === undefined ? {} : { stop: this.#stop }),
    }
  }

  #reject(body: Body, refused: readonly RefusedItem[], attempts: number): void {
    this.rememberOrigins()
    const starts = itemStarts(body)
    for (const { item, ...refusal } of refused) {
      const { action, document } = itemLines(body, starts, item)
      const { _id: id, routing } = addressIn(action)
      const ordinal = ordinalOf(body, item)
      const { addressed } = this.#batch
      this.#rejected.push({
        ...refusal,
        // Another batch will use this memory. The dead letter has to outlive it.
        document: Buffer.from(document),
        operation: this.#batch.operation,
        ...(id === undefined ? {} : { id }),
        ...(routing === undefined ? {} : { routing }),
        ...(addressed === undefined ? {} : { destination: addressed.destination }),
        origin: (this.#originOf as (ordinal: number) => Origin)(ordinal),
        attempts: attempts + (addressed?.attempts(ordinal) ?? 0),
      })
    }
  }
}

function addressIn(action: Buffer): { readonly _id?: string; readonly routing?: string } {
  const line = JSON.parse(action.toString('utf8')) as Record<string, { _id?: string; routing?: string }>
  return Object.values(line)[0] ?? {}
}
