/** The account of a job: the sum of the receipts of its ranges, and what became of those that failed. */
import type { Job } from 'bullmq'
import { type Failure, failure } from '../../../base/failure/failure.js'
import { takenOf } from '../../../base/operation.js'
import { isoTime } from '../../../base/time/clock.js'
import { addCounts, nothing } from '../../../pipeline/ledger/account.js'
import type { Source } from '../../../base/flow.js'
import type { Receipt } from '../../../pipeline/ledger/receipt.js'
import type { LoadingElsewhere } from '../../../run/loop/hooks.js'
import type { Planned, RangeData } from '../job.js'
import { isRange } from '../queue/check-entry.js'
import type { Joined } from './join-dead-letters.js'
import type { RangeEnd } from '../range/range-end.js'

declare module '../../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /** Only of a job on a queue: how its parts were loaded, and by which machines. */
    readonly job?: {
      readonly objects: number
      readonly ranges: number
      readonly failed: readonly {
        readonly range: string
        readonly inputs: readonly string[]
        readonly failure: Failure
      }[]
      readonly workers: Readonly<Record<string, number>>
      /** Set if commands before this one have loaded a part: its documents, and when that was over (ISO 8601). */
      readonly before?: { readonly documents: number; readonly until: string }
      /** Files of rejected documents that this machine cannot read, by the machines that wrote them. */
      readonly deadLettersElsewhere?: Readonly<Record<string, number>>
    }
  }
}

/** Failed ranges that a receipt names, and inputs of each. */
const NAMED = 100
const NAMED_INPUTS = 3

export class JobAccount {
  readonly #workers: Record<string, number> = {}
  readonly #failed: { range: string; inputs: readonly string[]; failure: Failure }[] = []
  #failures = 0
  #ranges = 0
  #letters: Joined = { elsewhere: {} }
  #requests = 0
  #settled = 0
  #read = 0
  #retries = 0
  #bytes = { read: 0, sent: 0, received: 0 }
  #bytesRead = 0
  /** What this command has loaded, from when to when, in milliseconds since the epoch. */
  #own = nothing
  #from = Infinity
  #to = 0
  readonly #loadedUntil: () => number

  /** `loadedUntil`: when the last range ended that commands before this one have loaded. */
  constructor(loadedUntil: () => number) {
    this.#loadedUntil = loadedUntil
  }

  /** Ranges that were added. */
  get ranges(): number {
    return this.#ranges
  }

  /** Documents that have an outcome. */
  get settled(): number {
    return this.#settled
  }

  get bytesRead(): number {
    return this.#bytesRead
  }

  /** Adds the receipt of a range. `inputs`: those of the run. */
  add(
    range: Pick<Job<RangeData>, 'id' | 'data' | 'processedOn' | 'finishedOn'>,
    end: RangeEnd,
    ledger: LoadingElsewhere['ledger'],
    inputs: readonly Source[],
  ): void {
    this.#ranges += 1
    // Others may have written what a range holds.
    const data = range.data as RangeData | null
    const input = inputs[data?.source ?? 0]
    if (input !== undefined) ledger.book(input, end.counts, end.rejections)
    this.#read += end.counts.read
    this.#settled += end.counts.read - end.counts.unsent
    this.#bytesRead += end.bytes.read
    if ((range.finishedOn ?? Infinity) > this.#loadedUntil()) this.#addOwn(range, end)
    if (end.host !== undefined) this.#workers[end.host] = (this.#workers[end.host] ?? 0) + 1
    if (end.failure === undefined) return
    this.#failures += 1
    if (this.#failed.length === NAMED) return
    const names = isRange(range.id, data) ? data.inputs.slice(0, NAMED_INPUTS).map(({ name }) => name) : []
    this.#failed.push({ range: range.id ?? '', inputs: names, failure: end.failure })
  }

  /** Adds a range that this command has loaded. */
  #addOwn({ processedOn, finishedOn }: Pick<Job, 'processedOn' | 'finishedOn'>, end: RangeEnd): void {
    this.#own = addCounts(this.#own, end.counts)
    this.#requests += end.requests
    this.#retries += end.retries
    const { read, sent, received } = this.#bytes
    this.#bytes = { read: read + end.bytes.read, sent: sent + end.bytes.sent, received: received + end.bytes.received }
    // Workers take these times where they load. The coordinator may be another machine, or one that took over.
    this.#from = Math.min(this.#from, processedOn ?? Infinity)
    this.#to = Math.max(this.#to, finishedOn ?? 0)
  }

  /** Takes the file that the receipt names. */
  addLetters(joined: Joined): void {
    this.#letters = joined
  }

  whatFailed({ ranges }: Planned): Failure | undefined {
    const [first] = this.#failed
    if (first === undefined) return undefined
    const { code, message } = first.failure
    return failure('JOB_RANGES_FAILED', { failed: this.#failures, ranges, first: `${code}: ${message}` })
  }

  receipt({ objects, ranges }: Planned): Partial<Receipt> {
    const { path, elsewhere: others } = this.#letters
    const elsewhere = Object.keys(others).length === 0 ? {} : { deadLettersElsewhere: others }
    const elapsedMs = this.#to > this.#from ? this.#to - this.#from : 0
    return {
      job: { objects, ranges, failed: this.#failed, workers: this.#workers, ...this.#before(), ...elsewhere },
      thisProcess: this.#own,
      elapsedMs,
      docsPerSecond: elapsedMs === 0 ? 0 : Math.round((takenOf(this.#own) * 1000) / elapsedMs),
      ...(path === undefined ? {} : { deadLetters: path }),
      requests: this.#requests,
      retries: this.#retries,
      bytes: this.#bytes,
    }
  }

  #before(): Pick<NonNullable<Receipt['job']>, 'before'> {
    const until = this.#loadedUntil()
    const documents = this.#read - this.#own.read
    return documents === 0 ? {} : { before: { documents, until: isoTime(new Date(until)) } }
  }
}
