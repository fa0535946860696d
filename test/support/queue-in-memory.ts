/** The queue of a job's ranges, as its coordinator sees it, with workers that load each range as soon as it is there. */
import type { Queue } from 'bullmq'
import type { RangeData, RangeReceipt } from '../../src/jobs/job.js'
import { nothing } from '../../src/ledger/account.js'

export class QueueInMemory {
  readonly #ranges = new Map<string, RangeData>()
  /** Hears of each page of ranges. */
  added: (page: readonly RangeData[]) => void = () => undefined
  /** How many ranges each answer held. */
  readonly read: number[] = []

  get size(): number {
    return this.#ranges.size
  }

  get asQueue(): Queue<RangeData> {
    const queue = {
      setGlobalConcurrency: async () => await Promise.resolve(),
      addBulk: async (jobs: readonly { readonly data: RangeData; readonly opts: { readonly jobId: string } }[]) => {
        this.added(jobs.map(({ data }) => data))
        for (const { data, opts } of jobs) this.#ranges.set(opts.jobId, data)
        return await Promise.resolve([])
      },
      getJobCounts: async () => await Promise.resolve({ completed: this.size, failed: 0 }),
      getJobs: async ([state]: readonly string[], from: number, to: number) => {
        const ended = state === 'completed' ? [...this.#ranges] : []
        const page = ended.slice(from, to + 1).map(([id, data]) => ({ id, data, returnvalue: receiptOf(data) }))
        this.read.push(page.length)
        return await Promise.resolve(page)
      },
    }
    return queue as unknown as Queue<RangeData>
  }
}

function receiptOf({ inputs }: RangeData): RangeReceipt {
  const { length } = inputs
  const counts = { ...nothing, read: length, created: length }
  const bytes = { read: length, sent: 0, received: 0 }
  return { counts, rejections: [], bytes, requests: 1, retries: 0, elapsedMs: 1, host: 'here' }
}
