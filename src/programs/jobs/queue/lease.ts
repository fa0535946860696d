/** Knows whether this process still holds its ranges. Others take a range whose lease was not renewed in time. */
import type { Worker } from 'bullmq'
import { type Failure, failure } from '../../../base/failure/failure.js'

export class Lease {
  readonly #leaseMs: number
  readonly #now: () => number
  #renewedAt: number

  /** `renewedAt`: when the request that took the range was sent. `now`: a clock that a stopped process cannot stop. */
  constructor(leaseMs: number, now: () => number, renewedAt: number) {
    this.#leaseMs = leaseMs
    this.#now = now
    this.#renewedAt = renewedAt
  }

  /** `at`: when the request that renewed it was sent. The queue counts from a later time. */
  renewed(at: number): void {
    this.#renewedAt = Math.max(this.#renewedAt, at)
  }

  /** The queue gave the range to another worker. */
  revoke(): void {
    this.#renewedAt = -Infinity
  }

  /** Returns why nothing may be sent any more. */
  get lost(): Failure | undefined {
    const silentMs = this.#now() - this.#renewedAt
    if (silentMs < this.#leaseMs) return undefined
    return failure('JOB_LEASE_LOST', { silentMs: Number.isFinite(silentMs) ? Math.round(silentMs) : this.#leaseMs })
  }
}

/** Hears from a worker of the queue of each lease that it renews, or finds lost. */
export function followLeases<D, R>(worker: Worker<D, R>, leases: ReadonlyMap<string, Lease>, now: () => number): void {
  const renew = worker.extendJobLocks.bind(worker)
  worker.extendJobLocks = async (ids, tokens, ms) => {
    const at = now()
    const lost = await renew(ids, tokens, ms)
    for (const id of ids) {
      if (lost.includes(id)) leases.get(id)?.revoke()
      else leases.get(id)?.renewed(at)
    }
    return lost
  }
}
