/** The queue of a job's ranges, as its coordinator sees it, with workers that load each range as soon as it is there. */
import type { Queue } from 'bullmq'
import type { Failure } from '../../../src/base/failure/failure.js'
import type { RangeData, RangeReceipt } from '../../../src/programs/jobs/job.js'
import { nothing } from '../../../src/pipeline/ledger/account.js'

export class QueueInMemory {
  readonly #ranges = new Map<string, RangeData>()
  readonly #failed = new Set<string>()
  /** Hears of each page of ranges. */
  added: (page: readonly RangeData[]) => void = () => undefined
  /** Returns why a range fails. */
  fails: (range: RangeData) => Failure | undefined = () => undefined
  /** How many ranges each answer held. */
  readonly read: number[] = []

  get size(): number {
    return this.#ranges.size
  }

  /** Ids of the ranges that it holds. */
  get ids(): readonly string[] {
    return [...this.#ranges.keys()]
  }

  get asQueue(): Queue<RangeData> {
    const queue = {
      setGlobalConcurrency: async () => await Promise.resolve(),
      drain: async () => await Promise.resolve(),
      addBulk: async (jobs: readonly { readonly data: RangeData; readonly opts: { readonly jobId: string } }[]) => {
        const fresh = jobs.filter(({ opts }) => !this.#ranges.has(opts.jobId))
        this.added(fresh.map(({ data }) => data))
        for (const { data, opts } of fresh) {
          this.#ranges.set(opts.jobId, data)
          if (this.fails(data) !== undefined) this.#failed.add(opts.jobId)
        }
        return await Promise.resolve([])
      },
      getJobCounts: async () =>
        await Promise.resolve({ completed: this.size - this.#failed.size, failed: this.#failed.size }),
      getJob: async (id: string) => await Promise.resolve({ id, data: this.#ranges.get(id) }),
      remove: async (id: string) => {
        this.#ranges.delete(id)
        this.#failed.delete(id)
        return await Promise.resolve(1)
      },
      getJobs: async ([state]: readonly string[], from = 0, to = Infinity) => {
        const hasEnded = (id: string) => (this.#failed.has(id) ? state === 'failed' : state === 'completed')
        const page = [...this.#ranges]
          .filter(([id]) => hasEnded(id))
          .slice(from, to + 1)
          .map(([id, data]) => ({ id, data, ...endOf(data, this.fails(data)) }))
        this.read.push(page.length)
        return await Promise.resolve(page)
      },
    }
    return queue as unknown as Queue<RangeData>
  }
}

function endOf({ inputs }: RangeData, failure: Failure | undefined) {
  const { length } = inputs
  const counts = { ...nothing, read: length, created: length }
  const bytes = { read: length, sent: 0, received: 0 }
  const receipt: RangeReceipt = { counts, rejections: [], bytes, requests: 1, retries: 0, elapsedMs: 1, host: 'here' }
  return failure === undefined ? { returnvalue: receipt } : { failedReason: JSON.stringify({ ...receipt, failure }) }
}
