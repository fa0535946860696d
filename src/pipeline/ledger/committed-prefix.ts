/**
 * Tracks the position from which a run can resume. Batches settle in any order, but they are committed in reading
 * order. The prefix ends before the first batch that is not settled for good.
 */
import type { Batch, Input, Outcome, Refused } from '../../base/flow.js'
import {
  Account,
  type Committed,
  type CommittedInput,
  countsIn,
  type DocumentsByIndex,
  kindsOf,
  takenByIndex,
} from './account.js'
import { takenOf } from '../../base/operation.js'
import type { Rejections } from './receipt.js'

type InputState = { -readonly [K in keyof CommittedInput]: CommittedInput[K] }

/** Settled with the next batch: what belongs to none. */
interface Beside {
  readonly finished: Input[]
  readonly rejected: { readonly input: Input; readonly refused: Refusal }[]
}

type Refusal = Pick<Refused, 'status' | 'type' | 'reason' | 'origin'>

interface Entry {
  readonly batch: Batch
  readonly beside: Beside
  outcome?: {
    readonly settled: Outcome
    readonly isFinal: boolean
    readonly kinds: readonly Rejections[]
    readonly taken: DocumentsByIndex
  }
}

export class CommittedPrefix {
  readonly #queue: Entry[] = []
  readonly #entries = new Map<Batch, Entry>()
  readonly #account = new Account()
  /** Inputs that are not finished, or not yet handed over. */
  readonly #inputs = new Map<number, InputState>()
  readonly #changed = new Set<number>()
  #beside: Beside = { finished: [], rejected: [] }
  readonly #lengthOfDeadLetters: () => number
  #deadLetters: number
  #isBroken = false
  #isDoubtful = false
  readonly #destinations = new Set<string>()
  readonly #indices = new Map<string, number>()
  readonly #waiting: { readonly isOver: () => boolean; readonly go: () => void }[] = []

  /** Dead letters are written in the turn of their batch: at its commit their length covers all before it, and no more. */
  constructor(lengthOfDeadLetters: () => number) {
    this.#lengthOfDeadLetters = lengthOfDeadLetters
    this.#deadLetters = lengthOfDeadLetters()
  }

  /** Returns how many documents each index took, if each document names its index. */
  get indices(): DocumentsByIndex {
    return this.#indices
  }

  /** Returns the state of the prefix, with the inputs that have changed since the last call. */
  commit(): Committed {
    const { counts, rejections } = this.#account
    const inputs = new Map<number, CommittedInput>()
    for (const id of this.#changed) {
      const input = this.#inputs.get(id)
      if (input === undefined) continue
      inputs.set(id, { ...input })
      if (input.isFinished) this.#inputs.delete(id)
    }
    this.#changed.clear()
    const deadLetters = this.#deadLetters
    return {
      counts,
      rejections,
      inputs,
      deadLetters,
      isBroken: this.#isBroken,
      isDoubtful: this.#isDoubtful,
      destinations: new Set(this.#destinations),
      indices: new Map(this.#indices),
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

  /** `isFinal`: none of its documents must be sent again. `kinds`: the reasons of its rejected documents. */
  settle(batch: Batch, settled: Outcome, isFinal: boolean, kinds = kindsOf(settled.rejected)): void {
    const entry = this.#entries.get(batch)
    if (entry === undefined) return
    entry.outcome = { settled, isFinal, kinds, taken: takenByIndex(batch, settled) }
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

  #pass({ batch, beside }: Entry, { settled, isFinal, kinds, taken }: NonNullable<Entry['outcome']>): void {
    this.#isBroken ||= !isFinal
    if (!this.#isBroken) {
      this.#commit(batch, settled, kinds)
      for (const [index, documents] of taken) this.#indices.set(index, (this.#indices.get(index) ?? 0) + documents)
      this.#commitBeside(beside)
      this.#deadLetters = this.#lengthOfDeadLetters()
    } else if (settled.unsent < batch.docs) this.#isDoubtful = true
  }

  #commit(batch: Batch, settled: Outcome, kinds: readonly Rejections[]): void {
    const { created, updated, duplicate, skipped } = settled
    this.#account.add({ ...countsIn(settled), skipped: skipped + batch.blank })
    for (const kind of kinds) this.#account.rejectAlike(kind)
    const { addressed } = batch
    if (addressed !== undefined && created + updated + duplicate > 0)
      this.#destinations.add(addressed.destination.index)
    for (const { input, lines } of batch.taken) this.#read(input, lines)
    for (const { input, mark } of batch.ends) this.#inputOf(input).mark = mark
    for (const input of storedInputs(batch, settled)) this.#inputOf(input).hasStored = true
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

  #inputOf({ id }: Input): InputState {
    this.#changed.add(id)
    const known = this.#inputs.get(id)
    if (known !== undefined) return known
    const fresh = { read: 0, hasStored: false, isFinished: false }
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

/** Returns the inputs of which a document is stored, or may be. */
function storedInputs({ spans, refused }: Batch, outcome: Outcome): readonly Input[] {
  const { rejected } = outcome
  const inputs = spans.map(({ input }) => input)
  if (takenOf(outcome) + outcome.unknown === 0) return []
  if (rejected.length === refused.length || new Set(inputs).size === 1) return inputs
  const left = new Map<string, number>()
  for (const { input, docs: of } of spans) left.set(input.name, (left.get(input.name) ?? 0) + of)
  for (const { attempts, origin } of rejected)
    if (attempts > 0) left.set(origin.input, (left.get(origin.input) ?? 0) - 1)
  return inputs.filter(({ name }) => (left.get(name) ?? 0) > 0)
}
