/** The account of a job: the sum of the receipts of its ranges, and what became of those that failed. */
import type { Job } from 'bullmq'
import { type Failure, failure } from '../../../base/failure/failure.js'
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
  #retries = 0
  #bytes = { read: 0, sent: 0, received: 0 }

  /** Ranges that were added. */
  get ranges(): number {
    return this.#ranges
  }

  /** Documents that have an outcome. */
  get settled(): number {
    return this.#settled
  }

  get bytesRead(): number {
    return this.#bytes.read
  }

  /** Adds the receipt of a range. `inputs`: those of the run. */
  add(
    range: Pick<Job<RangeData>, 'id' | 'data'>,
    end: RangeEnd,
    ledger: LoadingElsewhere['ledger'],
    inputs: readonly Source[],
  ): void {
    this.#ranges += 1
    // Others may have written what a range holds.
    const data = range.data as RangeData | null
    const input = inputs[data?.source ?? 0]
    if (input !== undefined) ledger.book(input, end.counts, end.rejections)
    this.#settled += end.counts.read - end.counts.unsent
    this.#requests += end.requests
    this.#retries += end.retries
    const { read, sent, received } = this.#bytes
    this.#bytes = { read: read + end.bytes.read, sent: sent + end.bytes.sent, received: received + end.bytes.received }
    if (end.host !== undefined) this.#workers[end.host] = (this.#workers[end.host] ?? 0) + 1
    if (end.failure === undefined) return
    this.#failures += 1
    if (this.#failed.length === NAMED) return
    const names = isRange(range.id, data) ? data.inputs.slice(0, NAMED_INPUTS).map(({ name }) => name) : []
    this.#failed.push({ range: range.id ?? '', inputs: names, failure: end.failure })
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
    return {
      job: { objects, ranges, failed: this.#failed, workers: this.#workers, ...elsewhere },
      ...(path === undefined ? {} : { deadLetters: path }),
      requests: this.#requests,
      retries: this.#retries,
      bytes: this.#bytes,
    }
  }
}
