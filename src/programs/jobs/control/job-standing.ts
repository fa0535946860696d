/** How far a job is: counts of its ranges on the queue, and of the documents in those that have ended. */
import type { Queue } from 'bullmq'
import { addCounts, nothing } from '../../../pipeline/ledger/account.js'
import type { Counts } from '../../../pipeline/ledger/receipt.js'
import { endedRanges } from '../plan/ended-ranges.js'
import type { RangeData } from '../job.js'
import { endOfRange, type OfJob } from '../range/range-end.js'

interface Standing extends OfJob {
  readonly ranges: Queue<RangeData>
  /** Repeats work on the queue until it succeeds. */
  patient<T>(work: () => Promise<T>): Promise<T>
}

const states = ['completed', 'failed', 'waiting', 'active', 'delayed', 'prioritized'] as const

export class JobStanding {
  readonly #given: Standing
  /** Ranges that are counted. */
  #at = 0
  #counts: Counts = nothing

  constructor(given: Standing) {
    this.#given = given
  }

  /** Documents of ranges that have ended. A clock that is wrong may hide one of them until all are added up. */
  get counts(): Counts {
    return this.#counts
  }

  /** `done`: ranges that have ended. `left`: those that have not, with those under way. */
  async look(): Promise<{ readonly done: number; readonly left: number; readonly underWay: number }> {
    const { ranges, patient } = this.#given
    const counted = await patient(async () => await ranges.getJobCounts(...states))
    const { completed = 0, failed = 0, ...open } = counted
    await this.#countMore(completed)
    const left = Object.values(open).reduce((sum, count) => sum + count, 0)
    return { done: completed + failed, left, underWay: open['active'] ?? 0 }
  }

  async #countMore(completed: number): Promise<void> {
    if (this.#at >= completed) return
    for await (const page of endedRanges({ ...this.#given, state: 'completed', from: this.#at })) {
      this.#counts = page.map(one => endOfRange(one, this.#given).counts).reduce(addCounts, this.#counts)
      this.#at += page.length
    }
  }
}
