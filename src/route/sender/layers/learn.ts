/** The layer that learns from each verdict how many requests, and how large ones, the cluster bears. */
import { takenOf } from '../../../base/operation.js'
import type { Clock } from '../../../base/flow.js'
import { AdaptiveLimit } from '../adaptive-limit.js'
import type { Send, Settled, Verdict } from '../send.js'

/** How much a cluster can take at once, as far as a run has learnt it. */
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
  /** Whether documents that exist already are looked up and compared. Default false. */
  readonly comparesConflicts?: boolean
  readonly clock: Pick<Clock, 'now'>
  /** Aborted when requests under way are given up: their verdicts teach nothing. */
  readonly givenUp?: AbortSignal
}

/** After this number of requests in a row without an answer, the run stops sending. */
export const LOSSES_BEFORE_STOP = 8

/** Largest body while the cluster rejects much: until it is written or compared, a rejected document takes several times its bytes. */
const REJECTING_BYTES = 256 << 10
/** Part of the documents of a body. */
const MUCH = 0.25

/** Counts the requests of a run, and keeps the limits that they taught. */
export class Learning {
  readonly limit: AdaptiveLimit
  readonly bodySize: BodySize
  readonly #options: LearningOptions
  #requests = 0
  #accepted = 0
  #lostInARow = 0
  #isRejecting: boolean

  constructor(options: LearningOptions) {
    const { concurrency, batchBytes, learnt } = options
    this.#options = options
    // Until the first answer, the cluster may hold all documents: an earlier load was killed, or its state is lost.
    this.#isRejecting = options.comparesConflicts === true
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

  /** How large the next body may be. */
  get bodyBytes(): number {
    const { next } = this.bodySize
    return this.#isRejecting ? Math.min(next, REJECTING_BYTES) : next
  }

  /** Returns a function that takes the verdict of the request that is sent now. */
  sending(bodyBytes: number, items: number): (verdict: Verdict) => void {
    const { clock, givenUp, comparesConflicts = false } = this.#options
    const sentAt = clock.now()
    this.#requests += 1
    return verdict => {
      if (givenUp?.aborted === true) return
      this.#count(verdict)
      this.#adapt(verdict, bodyBytes, sentAt)
      if (verdict.kind === 'done') this.#isRejecting = rejectedIn(verdict.settled, comparesConflicts) > items * MUCH
    }
  }

  #count(verdict: Verdict): void {
    if (verdict.kind === 'there' || verdict.kind === 'notSent') return
    if (verdict.kind === 'done' || verdict.kind === 'retryItems') {
      if (takenOf(verdict.settled) === 0) return
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

/** With a comparison, the cluster has rejected every duplicate. */
function rejectedIn({ refused, duplicate }: Settled, comparesConflicts: boolean): number {
  return refused.length + (comparesConflicts ? duplicate : 0)
}

export function learn(learning: Learning, inner: Send): Send {
  return async request => {
    const { bytes, items } = request.body
    const judged = learning.sending(bytes.length, items)
    const verdict = await inner(request)
    judged(verdict)
    return verdict
  }
}

/** Smallest limit, however small a body the cluster finds too large. */
const SMALLEST_BYTES = 64 << 10

/**
 * Finds how large a body may be: smaller once the cluster found one too large. A limit of an earlier run may be out of date, so
 * Sluice tries a larger body, and another one while they pass. A limit that this run found stays.
 */
export class BodySize {
  readonly #most: number
  /** A larger limit, from an earlier run that sent larger bodies. */
  readonly #beyond: number | undefined
  #known: number
  /** `later`: once a body was taken. */
  #trial: 'none' | 'later' | 'due' | 'under way'

  /** `known`: the size that passed in an earlier run. */
  constructor(most: number, known = most) {
    this.#most = most
    this.#beyond = known > most ? known : undefined
    this.#known = Math.min(known, most)
    this.#trial = this.#known < most ? 'later' : 'none'
  }

  /** How large the next body may be. */
  get next(): number {
    return this.#trial === 'due' ? this.#larger : this.#known
  }

  /** The largest size that is known to pass. Undefined: no body was too large. */
  get learnt(): number | undefined {
    return this.#known < this.#most ? this.#known : this.#beyond
  }

  /** Counts a body that is sent. */
  sent(bytes: number): void {
    if (this.#trial === 'due' && bytes > this.#known) this.#trial = 'under way'
  }

  /** Counts a body, or a part of one, that was small enough. */
  taken(bytes: number): void {
    if (this.#trial === 'later') this.#trial = 'due'
    if (this.#trial !== 'under way' || bytes <= this.#known) return
    this.#known = this.#larger
    this.#trial = this.#known < this.#most ? 'due' : 'none'
  }

  tooLarge(bytes: number): void {
    const isTrial = this.#trial === 'under way' && bytes > this.#known
    this.#trial = 'none'
    // Its halves are sent next, and later bodies are made like them.
    if (!isTrial) this.#known = Math.min(this.#known, Math.max(SMALLEST_BYTES, bytes >> 1))
  }

  get #larger(): number {
    return Math.min(this.#known * 2, this.#most)
  }
}
