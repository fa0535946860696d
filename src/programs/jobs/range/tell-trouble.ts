/** Tells the coordinator of a job that the cluster is busy, or that this worker has no access. */
import type { Queue } from 'bullmq'
import { hostname } from 'node:os'
import type { Failure } from '../../../base/failure/failure.js'
import { type JobRow, tellJob } from '../queue/job-state.js'
import type { RangeWatch } from './load-range.js'

interface Telling {
  readonly control: Queue
  readonly job: string
  /** Tells this process from others. */
  readonly worker: string
  readonly leaseMs: number
  readonly now: () => number
}

/** A cluster that is busy is told to others at most this often, in milliseconds. */
const TELL_MS = 1000

export class Trouble {
  readonly #given: Telling
  #busyAt = -Infinity
  #blocked: { readonly failure: Failure; toldAt: number } | undefined

  constructor(given: Telling) {
    this.#given = given
  }

  watch(): Pick<RangeWatch, 'busy' | 'blocked' | 'unblocked'> {
    return {
      busy: () => this.#tellBusy(),
      blocked: failure => {
        this.#blocked ??= { failure, toldAt: -Infinity }
        this.renew()
      },
      unblocked: () => {
        this.#blocked = undefined
        this.#tell({ type: 'unblocked', worker: this.#given.worker })
      },
    }
  }

  /** Tells again that access is lost, while it is: the job must not wait for a worker that is gone. */
  renew(): void {
    const { worker, now, leaseMs } = this.#given
    const blocked = this.#blocked
    if (blocked === undefined || now() - blocked.toldAt < leaseMs / 3) return
    const isNew = blocked.toldAt === -Infinity ? { isNew: true as const } : {}
    blocked.toldAt = now()
    this.#tell({ type: 'blocked', worker, host: hostname(), failure: blocked.failure, ...isNew })
  }

  #tellBusy(): void {
    const { worker, now } = this.#given
    if (now() - this.#busyAt < TELL_MS) return
    this.#busyAt = now()
    this.#tell({ type: 'busy', worker })
  }

  /** What is not heard is told again, or is over. */
  #tell(row: JobRow): void {
    const { control, job } = this.#given
    void tellJob(control, job, row).catch(() => undefined)
  }
}
