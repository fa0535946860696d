/** The log of a job, as the queue keeps it: one order of rows for all. */
import type { Queue } from 'bullmq'

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
