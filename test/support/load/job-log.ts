/** The log of a job, as the queue keeps it: one order of rows for all. */
import type { Queue } from 'bullmq'
import type { QueueEngine } from '../../../src/programs/jobs/queue/open-engine.js'
import { noSeal } from '../../../src/programs/jobs/queue/seal.js'

export class JobLog {
  readonly rows: string[] = []

  get asQueue(): Queue {
    const queue = {
      addJobLog: async (_: string, row: string) => await Promise.resolve(this.rows.push(row)),
      getJobLogs: async (_: string, from: number, to: number) =>
        await Promise.resolve({ logs: this.rows.slice(from, to + 1), count: this.rows.length }),
    }
    return queue as unknown as Queue
  }
}

/** The queue of plans: one log for each entry, and none without an entry. */
export class PlanLogs {
  readonly logs = new Map<string, string[]>()

  get asEngine(): Pick<QueueEngine, 'queue' | 'seal'> {
    const logOf = (id: string) => {
      const rows = this.logs.get(id)
      if (rows === undefined) throw new Error(`Missing key for job ${id}. addLog`)
      return rows
    }
    const queue = {
      add: async (_: string, __: unknown, { jobId }: { readonly jobId: string }) => {
        await Promise.resolve()
        if (!this.logs.has(jobId)) this.logs.set(jobId, [])
      },
      getJobs: async () => await Promise.resolve([]),
      addJobLog: async (id: string, row: string) => await Promise.resolve().then(() => logOf(id).push(row)),
      getJobLogs: async (id: string, from: number, to: number) =>
        await Promise.resolve({ logs: (this.logs.get(id) ?? []).slice(from, to + 1), count: 0 }),
    }
    return { queue: () => queue as unknown as Queue, seal: noSeal }
  }
}
