/** Settles batches: counts, dead letters, what became of each input. A number in the receipt is added here and nowhere else. */
import { type Failure, failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { Batch, Input, LongLine, Operation, Origin, Outcome, Refused } from '../flow.js'
import type { DeadLetters } from './dead-letters.js'
import { fieldOf } from './field-of.js'
import type { Counts, InputReceipt, Rejections } from './receipt.js'

/** More kinds of refusal than this are counted together. */
const MAX_KINDS = 100
/** A share means nothing before so many documents, while there are more to come. */
const SHARE_FROM = 1000

/** How many documents may be rejected: a count, or a share of those read. */
export type RejectionLimit = number | `${number}%`

interface InputAccount {
  readonly input: Input
  status: InputReceipt['status']
  read: number
  failure?: Failure
}

export class Ledger {
  readonly #deadLetters: DeadLetters
  readonly #maxRejected: RejectionLimit | undefined
  readonly #counts = {
    created: 0,
    updated: 0,
    deleted: 0,
    noop: 0,
    duplicate: 0,
    rejected: 0,
    skipped: 0,
    unsent: 0,
    unknown: 0,
  }
  #read = 0
  readonly #rejections = new Map<string, Rejections & { documents: number }>()
  readonly #inputs = new Map<number, InputAccount>()

  constructor(deadLetters: DeadLetters, maxRejected?: RejectionLimit) {
    this.#deadLetters = deadLetters
    this.#maxRejected = maxRejected
  }

  begin(input: Input): void {
    this.#inputs.set(input.id, { input, status: 'unfinished', read: 0 })
  }

  /** The input was read to its end, or to where it is broken. */
  end(input: Input, broken?: Failure): void {
    const account = this.#inputs.get(input.id)
    if (account === undefined) return
    account.status = broken === undefined ? 'finished' : 'failed'
    if (broken !== undefined) account.failure = broken
  }

  /** Counts what a batch read, when it leaves the framing: from then on it has to be settled. */
  take(batch: Batch): void {
    for (const { input, lines } of batch.taken) this.#take(input.id, lines)
    this.#counts.skipped += batch.blank
  }

  /**
   * Books what became of a batch. Resolves to the failure that has to stop the run, if there is one: the outcome's own, more
   * rejections than allowed, or dead letters that cannot be written; documents that could not be written down count as unsent.
   */
  async settle(outcome: Outcome): Promise<Failure | undefined> {
    const counts = this.#counts
    counts.created += outcome.created
    counts.updated += outcome.updated
    counts.duplicate += outcome.duplicate
    counts.skipped += outcome.skipped
    counts.unknown += outcome.unknown
    counts.unsent += outcome.unsent
    try {
      await this.#deadLetters.append(outcome.rejected)
    } catch (error) {
      if (!isSluiceError(error)) throw error
      counts.unsent += outcome.rejected.length
      return outcome.stop ?? error.failure
    }
    for (const refused of outcome.rejected) this.#reject(refused)
    return outcome.stop ?? this.#tooMany(SHARE_FROM)
  }

  /** A line that is longer than any request may be: read, and rejected while it passes. */
  async longLine(input: Input, origin: Origin, operation: Operation, limit: number): Promise<LongLine> {
    const written = await this.#deadLetters.appendLong(origin, operation, limit)
    this.#take(input.id, 1)
    this.#counts.unsent += 1
    return {
      ...written,
      end: async () => {
        await written.end()
        this.#counts.unsent -= 1
        this.#reject({ status: 0, type: 'DOCUMENT_TOO_LARGE', reason: '' })
      },
    }
  }

  /** Whether more was rejected than allowed, now that nothing more will be. */
  overLimit(): Failure | undefined {
    return this.#tooMany(0)
  }

  get counts(): Counts {
    return { read: this.#read, ...this.#counts }
  }

  get inputs(): readonly InputReceipt[] {
    return [...this.#inputs.values()].map(({ input, ...account }) => ({ name: input.name, ...account }))
  }

  /** By number of documents, the most first. */
  get rejections(): readonly Rejections[] {
    return [...this.#rejections.values()].toSorted((one, other) => other.documents - one.documents)
  }

  #take(input: number, lines: number): void {
    this.#read += lines
    const account = this.#inputs.get(input)
    if (account !== undefined) account.read += lines
  }

  #reject(refused: Pick<Refused, 'status' | 'type' | 'reason'>): void {
    this.#counts.rejected += 1
    const field = fieldOf(refused.reason)
    const key = `${refused.status} ${refused.type} ${field ?? ''}`
    const known = this.#rejections.get(key)
    if (known !== undefined) known.documents += 1
    else if (this.#rejections.size < MAX_KINDS) {
      const { status, type } = refused
      this.#rejections.set(key, { status, type, ...(field === undefined ? {} : { field }), documents: 1 })
    } else {
      const others = this.#rejections.get('others') ?? { status: 0, type: 'others', documents: 0 }
      others.documents += 1
      this.#rejections.set('others', others)
    }
  }

  #tooMany(shareFrom: number): Failure | undefined {
    const { rejected } = this.#counts
    const limit = this.#maxRejected
    if (limit === undefined) return undefined
    if (typeof limit === 'number') {
      return rejected > limit ? failure('TOO_MANY_REJECTED', { rejected, limit }) : undefined
    }
    const tooMany = this.#read >= shareFrom && rejected * 100 > Number.parseFloat(limit) * this.#read
    return tooMany ? failure('TOO_MANY_REJECTED', { rejected, limit: `${limit} of ${this.#read}` }) : undefined
  }
}
