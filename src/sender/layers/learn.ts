/** The layer that learns from each verdict how many requests, and how large ones, the cluster bears. */
import type { Clock } from '../../flow.js'
import { AdaptiveLimit } from '../adaptive-limit.js'
import { BodySize } from '../body-size.js'
import type { Send } from '../send.js'
import type { Verdict } from '../verdict.js'

/** What a run learnt of how much a cluster bears at once. */
export interface LearntLimits {
  /** Requests under way. */
  readonly concurrency?: number
  /** Largest body, if one was too large. */
  readonly bodyBytes?: number
}

export interface LearningOptions {
  /** Most requests under way at once. */
  readonly concurrency: number
  /** Largest body at first; see `Sender.bodyBytes`. */
  readonly batchBytes: number
  /** Limits that an earlier run learnt of this cluster: this run begins with them. */
  readonly learnt?: LearntLimits
  readonly clock: Pick<Clock, 'now'>
  /** Aborted when requests under way are given up: their verdicts teach nothing. */
  readonly givenUp?: AbortSignal
}

/** After so many requests in a row without an answer the run stops sending. */
export const LOSSES_BEFORE_STOP = 8

/** Counts the requests of a run, and keeps the limits that they taught. */
export class Learning {
  readonly limit: AdaptiveLimit
  readonly bodySize: BodySize
  readonly #options: LearningOptions
  #requests = 0
  #accepted = 0
  #lostInARow = 0

  constructor(options: LearningOptions) {
    const { concurrency, batchBytes, learnt } = options
    this.#options = options
    this.limit = new AdaptiveLimit(concurrency, learnt?.concurrency)
    this.bodySize = new BodySize(batchBytes, learnt?.bodyBytes)
  }

  get requests(): number {
    return this.#requests
  }

  /** Requests that stored something. */
  get accepted(): number {
    return this.#accepted
  }

  /** Requests of unknown outcome since the last one that stored something. */
  get lostInARow(): number {
    return this.#lostInARow
  }

  /** The limits that the next run begins with. Undefined if the cluster accepted nothing. */
  get learnt(): LearntLimits | undefined {
    if (this.#accepted === 0) return undefined
    const { learnt } = this.bodySize
    return { concurrency: this.limit.learnt, ...(learnt === undefined ? {} : { bodyBytes: learnt }) }
  }

  /** Returns a function that takes the verdict of the request that is sent now. */
  sending(bodyBytes: number): (verdict: Verdict) => void {
    const { clock, givenUp } = this.#options
    const sentAt = clock.now()
    this.#requests += 1
    return verdict => {
      if (givenUp?.aborted === true) return
      this.#count(verdict)
      this.#adapt(verdict, bodyBytes, sentAt)
    }
  }

  #count(verdict: Verdict): void {
    if (verdict.kind === 'there' || verdict.kind === 'notSent') return
    if (verdict.kind === 'done' || verdict.kind === 'retryItems') {
      const { created, updated, duplicate } = verdict.settled
      if (created + updated + duplicate === 0) return
      this.#accepted += 1
      this.#lostInARow = 0
    } else if (verdict.delivery === 'possible') this.#lostInARow += 1
  }

  #adapt(verdict: Verdict, bodyBytes: number, sentAt: number): void {
    const now = this.#options.clock.now()
    if (verdict.kind === 'done' || verdict.kind === 'retryItems') this.bodySize.taken(bodyBytes)
    if (verdict.kind === 'done') this.limit.answered(sentAt, bodyBytes, now)
    else if (verdict.kind === 'wait' || verdict.kind === 'retryItems') this.limit.refused(sentAt, now)
    else if (verdict.kind === 'split' && verdict.refusal.status === 413) this.bodySize.tooLarge(bodyBytes)
  }
}

export function learn(learning: Learning, inner: Send): Send {
  return async request => {
    const judged = learning.sending(request.body.bytes.length)
    const verdict = await inner(request)
    judged(verdict)
    return verdict
  }
}
