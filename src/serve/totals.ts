import { Account } from '../ledger/account.js'
import type { Counts, Receipt, Rejections } from '../ledger/receipt.js'

/** What became of the parts of the spool that were loaded, all together. */
export class Totals {
  readonly #account = new Account()
  #requests = 0
  #retries = 0
  #deadLetters: string | undefined

  add({ rejections, requests, retries, deadLetters, ...receipt }: Receipt): void {
    // Every rejected document is of some kind: they are counted with it.
    this.#account.add({ ...countsOf(receipt), rejected: 0 })
    for (const kind of rejections) this.#account.rejectAlike(kind)
    this.#requests += requests
    this.#retries += retries
    this.#deadLetters = deadLetters ?? this.#deadLetters
  }

  get counts(): Counts {
    return this.#account.counts
  }

  get rejections(): readonly Rejections[] {
    return this.#account.rejections
  }

  get requests(): number {
    return this.#requests
  }

  get retries(): number {
    return this.#retries
  }

  get deadLetters(): string | undefined {
    return this.#deadLetters
  }
}

function countsOf(counts: Omit<Counts, 'rejected'>): Partial<Counts> {
  const { read, created, updated, deleted, noop, duplicate, skipped, unsent, unknown } = counts
  return { read, created, updated, deleted, noop, duplicate, skipped, unsent, unknown }
}
