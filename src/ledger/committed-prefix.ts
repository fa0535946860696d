/**
 * Tracks the position from which a run can resume. Batches settle in any order, but they are committed in reading
 * order. The prefix ends before the first batch that is not settled for good.
 */
import type { Batch, Input, Mark, Outcome, Refused } from '../flow.js'
import { Account } from './account.js'
import type { Counts, Rejections } from './receipt.js'

/** The state of the committed prefix. */
export interface Committed {
  readonly counts: Counts
  readonly rejections: readonly Rejections[]
  readonly inputs: ReadonlyMap<number, CommittedInput>
  /** Length of the dead letters that covers them and nothing else. */
  readonly deadLetters: number
  /** Something has to be sent again by another process: nothing more is committed by this one. */
  readonly isBroken: boolean
  /** Whether documents behind the prefix may be stored. */
  readonly isDoubtful: boolean
  /** Indices, aliases and data streams that took a replayed document. */
  readonly destinations: ReadonlySet<string>
}

interface CommittedInput {
  readonly mark?: Mark
  /** Documents and blank lines. */
  readonly read: number
  /** Read to its end, and everything in it settled. */
  readonly isFinished: boolean
}

/** Settled with the next batch: what belongs to none. */
interface Beside {
  readonly finished: Input[]
  readonly rejected: { readonly input: Input; readonly refused: Refusal }[]
}

type Refusal = Pick<Refused, 'status' | 'type' | 'reason'>

interface Entry {
  readonly batch: Batch
  readonly beside: Beside
  outcome?: { readonly settled: Outcome; readonly isFinal: boolean }
}

export class CommittedPrefix {
  readonly #queue: Entry[] = []
  readonly #entries = new Map<Batch, Entry>()
  readonly #account = new Account()
  readonly #inputs = new Map<number, { mark?: Mark; read: number; isFinished: boolean }>()
  #beside: Beside = { finished: [], rejected: [] }
  readonly #lengthOfDeadLetters: () => number
  #deadLetters: number
  #isBroken = false
  #isDoubtful = false
  readonly #destinations = new Set<string>()
  readonly #waiting: { readonly isOver: () => boolean; readonly go: () => void }[] = []

  /** Dead letters are written in the turn of their batch: at its commit their length covers all before it, and no more. */
  constructor(lengthOfDeadLetters: () => number) {
    this.#lengthOfDeadLetters = lengthOfDeadLetters
    this.#deadLetters = lengthOfDeadLetters()
  }

  get committed(): Committed {
    const { counts, rejections } = this.#account
    const inputs = new Map([...this.#inputs].map(([id, input]) => [id, { ...input }]))
    const deadLetters = this.#deadLetters
    return {
      counts,
      rejections,
      inputs,
      deadLetters,
      isBroken: this.#isBroken,
      isDoubtful: this.#isDoubtful,
      destinations: new Set(this.#destinations),
    }
  }

  /** Batches are taken in the order in which they were read. */
  take(batch: Batch): void {
    const entry = { batch, beside: this.#beside }
    this.#beside = { finished: [], rejected: [] }
    this.#queue.push(entry)
    this.#entries.set(batch, entry)
  }

  /** Notes that the input was read to its end. The next batch holds its last documents. */
  end(input: Input): void {
    this.#beside.finished.push(input)
  }

  /** A line that is in no batch, and was written to the dead letters. */
  reject(input: Input, refused: Refusal): void {
    this.#beside.rejected.push({ input, refused })
  }

  /** Resolves when every batch that was taken before this one is settled. Without a batch: when all are. */
  async turn(batch?: Batch): Promise<void> {
    const isOver = () => this.#queue[0]?.batch === batch
    if (!isOver()) await new Promise<void>(go => this.#waiting.push({ isOver, go }))
  }

  /** `isFinal`: nothing of it has to be sent again. */
  settle(batch: Batch, settled: Outcome, isFinal: boolean): void {
    const entry = this.#entries.get(batch)
    if (entry === undefined) return
    entry.outcome = { settled, isFinal }
    for (let first = this.#queue[0]; first?.outcome !== undefined; first = this.#queue[0]) {
      this.#queue.shift()
      this.#entries.delete(first.batch)
      this.#pass(first, first.outcome)
    }
    this.#wake()
  }

  /** Every batch was taken and settled. */
  close(): void {
    if (!this.#isBroken && this.#queue.length === 0) this.#commitBeside(this.#beside)
    this.#beside = { finished: [], rejected: [] }
  }

  #pass({ batch, beside }: Entry, { settled, isFinal }: NonNullable<Entry['outcome']>): void {
    this.#isBroken ||= !isFinal
    if (!this.#isBroken) {
      this.#commit(batch, settled)
      this.#commitBeside(beside)
      this.#deadLetters = this.#lengthOfDeadLetters()
    } else if (settled.unsent < batch.docs) this.#isDoubtful = true
  }

  #commit(batch: Batch, settled: Outcome): void {
    const { created, updated, duplicate, skipped, unknown, unsent, rejected } = settled
    this.#account.add({ created, updated, duplicate, unknown, unsent, skipped: skipped + batch.blank })
    for (const refused of rejected) this.#account.reject(refused)
    const { addressed } = batch
    if (addressed !== undefined && created + updated + duplicate > 0)
      this.#destinations.add(addressed.destination.index)
    for (const { input, lines } of batch.taken) this.#read(input, lines)
    for (const { input, mark } of batch.ends) this.#inputOf(input).mark = mark
  }

  #commitBeside({ finished, rejected }: Beside): void {
    for (const { input, refused } of rejected) {
      this.#account.reject(refused)
      this.#read(input, 1)
    }
    for (const input of finished) this.#inputOf(input).isFinished = true
  }

  #read(input: Input, lines: number): void {
    this.#account.add({ read: lines })
    this.#inputOf(input).read += lines
  }

  #inputOf({ id }: Input): { mark?: Mark; read: number; isFinished: boolean } {
    const known = this.#inputs.get(id)
    if (known !== undefined) return known
    const fresh = { read: 0, isFinished: false }
    this.#inputs.set(id, fresh)
    return fresh
  }

  #wake(): void {
    for (const one of this.#waiting.splice(0)) {
      if (one.isOver()) one.go()
      else this.#waiting.push(one)
    }
  }
}
