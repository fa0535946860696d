import { taken, type Taken } from '../../base/operation.js'
import type { Failure } from '../../base/failure/failure.js'
import type { Batch, Outcome, Rejected } from '../../base/flow.js'
import { RejectedItems } from './rejected-items.js'
import type { Body, RefusedItem, Settled } from './send.js'

/** Outcomes that few loads have are absent. */
type Counted = Record<'created' | 'updated' | 'duplicate' | 'skipped' | 'unknown' | 'unsent', number> &
  Partial<Record<Taken | 'unanswered', number>>

/** Collects the outcomes of a batch's documents, until each has one. */
export class BatchOutcome {
  readonly #batch: Batch
  readonly #counts: Counted = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: 0 }
  /** Documents that were sent. */
  readonly #rejected: RejectedItems
  #stop: Failure | undefined

  constructor(batch: Batch) {
    this.#batch = batch
    this.#rejected = new RejectedItems(batch)
  }

  get stopped(): boolean {
    return this.#stop !== undefined
  }

  settle(body: Body, settled: Settled, attempts: number): void {
    for (const name of [...taken, 'skipped', 'unknown'] as const) this.#add(name, settled[name] ?? 0)
    this.#rejected.add(body, settled.refused, attempts)
  }

  rejectAll(body: Body, refusal: Omit<RefusedItem, 'item'>, attempts: number): void {
    const refused = Array.from({ length: body.items }, (_, item) => ({ item, ...refusal }))
    this.#rejected.add(body, refused, attempts)
  }

  /** Counts documents of a body that was not answered: `unknown` if it may have arrived. */
  leave(items: number, as: 'unsent' | 'unknown', stop?: Failure): void {
    this.#add(as, items)
    if (as === 'unknown') this.#add('unanswered', items)
    this.#stop ??= stop
  }

  /** Copies the facts about its documents from the bytes of the batch. The caller calls this before these bytes change. */
  beforeChange(): void {
    this.#rejected.beforeChange()
  }

  /** Its rejected documents stand in the batch's memory, unless they are kept before the batch is released. */
  outcome(): Outcome {
    const { refused, docs } = this.#batch
    return {
      docs: docs + refused.length,
      ...this.#counts,
      rejected: both(refused, this.#rejected),
      ...(this.#stop === undefined ? {} : { stop: this.#stop }),
    }
  }

  #add(name: keyof Counted, documents: number): void {
    if (documents > 0) this.#counts[name] = (this.#counts[name] ?? 0) + documents
  }
}

/** Returns lines that were never sent, and behind them what was refused. */
function both(lines: Rejected, refused: Rejected): Rejected {
  if (refused.length === 0) return lines.length === 0 ? [] : lines
  if (lines.length === 0) return refused
  return {
    length: lines.length + refused.length,
    kept: () => both(lines.kept?.() ?? lines, refused.kept?.() ?? refused),
    *[Symbol.iterator]() {
      yield* lines
      yield* refused
    },
  }
}
