/** Reports how far a job is, for the metrics of the worker that coordinates it. */
import type { Queue } from 'bullmq'
import { nothing } from '../../../pipeline/ledger/account.js'
import type { IngestEvent, StandingEvent } from '../../../options/run-events.js'
import type { JobState } from '../queue/job-state.js'
import type { WorkerEvent } from '../queue/worker-event.js'

interface Telling {
  readonly job: string
  readonly ranges: Queue
  /** Most requests at the same time, if the cluster is not busy. */
  readonly most: number
  tell(event: WorkerEvent): void
}

/** Returns a listener for the run of the job, and a function that reports how far it is. */
export function progressOf({ job, ranges, most, tell }: Telling): {
  hear(event: IngestEvent): void
  tellNow(state: JobState): Promise<void>
} {
  let last: StandingEvent | undefined
  return {
    hear: event => {
      if (event.type === 'standing') last = event
    },
    tellNow: async ({ parked, slowedTo = most }) => {
      const counted = await ranges.getJobCounts('completed', 'failed', 'active', 'waiting', 'delayed', 'prioritized')
      const { completed = 0, failed = 0, active = 0, ...open } = counted
      const waiting = Object.values(open).reduce((sum, count) => sum + count, 0)
      tell({
        type: 'standing',
        job,
        ranges: { done: completed, active, waiting, failed },
        counts: last?.ofRun ?? nothing,
        bytes: last?.bytes ?? { read: 0, total: 0 },
        limit: slowedTo,
        isParked: parked !== undefined,
      })
    },
  }
}
