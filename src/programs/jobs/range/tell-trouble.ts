/** Reports to the coordinator of a job that the cluster is busy, or that this worker has no access. */
import { hostname } from 'node:os'
import type { Failure } from '../../../base/failure/failure.js'
import { type JobLog, type JobRow, tellJob } from '../queue/job-state.js'
import type { RangeWatch } from './load-range.js'

interface Telling extends JobLog {
  /** Names this process. */
  readonly worker: string
  readonly leaseMs: number
  readonly now: () => number
}

/** A worker reports a busy cluster at most this often, in milliseconds. */
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

  /** Repeats that access is lost as long as it is: the job must not wait for a worker that is gone. */
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

  /** A report that gets lost is repeated, or its reason is over. */
  #tell(row: JobRow): void {
    void tellJob(this.#given, row).catch(() => undefined)
  }
}
