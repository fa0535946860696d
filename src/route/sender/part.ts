/** Keeps what happened to the documents of one part of a batch. */
import type { Failure } from '../../base/failure/failure.js'
import type { Batch } from '../../base/flow.js'
import type { BatchOutcome } from './batch-outcome.js'
import {
  type BatchIds,
  type Body,
  type BulkRequest,
  halves,
  keepItems,
  type Send,
  type Settled,
  type Verdict,
} from './send.js'
import type { AccessGate } from './layers/access.js'
import type { Learning } from './layers/learn.js'

export interface DeliveryOptions extends BatchIds {
  /** How long a body may be refused or unanswered before the run stops, in milliseconds. */
  readonly maxElapsedMs: number
  /** Aborted when nothing more may be sent. */
  readonly halted: AbortSignal
  /** How the requests of all batches ended so far. */
  readonly learning: Pick<Learning, 'accepted' | 'lostInARow'>
  /** Its clock stands still while access is lost. */
  readonly access: Pick<AccessGate, 'now' | 'lost'>
  readonly random: () => number
  onRetry(failure: Failure, documents: number, waitMs: number): void
  /** Waits before a retry. Ends early if nothing more may be sent. */
  pause(ms: number): Promise<void>
}

export interface BatchDelivery {
  readonly batch: Batch
  readonly send: Send
  readonly options: DeliveryOptions
  /** Whether a second send stores no second copy of a document of this batch. */
  readonly safeToResend: boolean
  readonly outcome: BatchOutcome
}

/** Documents of a batch without an outcome, with the history that they share. */
export interface BatchPart {
  readonly body: Body
  /** How often they were sent. */
  readonly attempts: number
  /** Whether one of those sends may have stored some of them. Only an outcome of their own ends the doubt. */
  readonly ambiguous: boolean
  /** How often this very body was refused as a whole. */
  readonly refusals: number
  /** Since when none of it was accepted, on the clock. Absent: since now. */
  readonly began?: number
  /** Requests accepted when the part was split off. */
  readonly acceptedAtSplit?: number
  /** Requests accepted when the part was first sent. */
  readonly acceptedBefore?: number
  /** Shared by the halves of a body that was refused too often: whether one of them was accepted at once. */
  readonly pair?: Pair | undefined
  /** The verdict on the next attempt, if that was already made. */
  readonly judged?: Verdict | undefined
}

interface Pair {
  isHalfTaken: boolean
}

/** A part whose turn it is. */
export class PartUnderWay implements BatchPart {
  readonly delivery: BatchDelivery
  readonly pair: Pair | undefined
  body: Body
  attempts: number
  ambiguous: boolean
  refusals: number
  began: number
  acceptedBefore: number
  /** Whether the last verdict is on a request, and not on a look-up. */
  isSent = false
  /** Failed look-ups in a row. */
  lookups = 0

  constructor(part: BatchPart, delivery: BatchDelivery) {
    const { learning, access } = delivery.options
    // Its turn came late because others were accepted.
    const isLate = part.acceptedAtSplit !== undefined && learning.accepted > part.acceptedAtSplit
    this.delivery = delivery
    this.pair = part.pair
    this.body = part.body
    this.attempts = part.attempts
    this.ambiguous = part.ambiguous
    this.refusals = part.refusals
    this.began = isLate || part.began === undefined ? access.now() : part.began
    this.acceptedBefore = part.acceptedBefore ?? learning.accepted
  }

  get history(): BulkRequest['history'] {
    return { resent: this.attempts > 0, doubtful: this.ambiguous }
  }

  /** Whether a second send could store a second copy. */
  get isInDoubt(): boolean {
    return this.ambiguous && !this.delivery.safeToResend
  }

  /** Whether the cluster accepted others since this part was first sent. */
  get areOthersTaken(): boolean {
    return this.pair?.isHalfTaken === true || this.delivery.options.learning.accepted > this.acceptedBefore
  }

  /** Notes what a verdict says of the documents that it leaves without an outcome. */
  hear(verdict: Verdict): void {
    this.isSent =
      verdict.kind !== 'there' && verdict.kind !== 'notSent' && !(verdict.kind === 'wait' && verdict.unsent === true)
    if (this.isSent) this.attempts += 1
    if ('delivery' in verdict) this.ambiguous ||= verdict.delivery === 'possible'
  }

  /** Counts a refusal of the body, or a failed look-up. */
  countRefusal(): void {
    if (this.isSent) this.refusals += 1
    this.lookups = this.isSent ? 0 : this.lookups + 1
  }

  settle(settled: Settled): void {
    this.delivery.outcome.settle(this.body, settled, this.attempts)
  }

  /** The others have their outcome. */
  keep(items: readonly number[]): void {
    this.delivery.outcome.beforeChange()
    this.body = keepItems(this.body, items)
  }

  /** The body is another one now: nobody has refused it yet. */
  beginAnew(): void {
    const { learning } = this.delivery.options
    this.restartClock()
    this.acceptedBefore = learning.accepted
  }

  restartClock(): void {
    this.refusals = 0
    this.began = this.delivery.options.access.now()
  }

  /** Sends it no more. `stop`: the run stops because of it. */
  leave(stop?: Failure): void {
    this.delivery.outcome.leave(this.body.items, this.ambiguous ? 'unknown' : 'unsent', stop)
  }

  /** Returns its halves, which nobody has refused yet. The bytes of the batch change. */
  halves(pair?: Pair): [BatchPart, BatchPart] {
    const { outcome, options } = this.delivery
    outcome.beforeChange()
    const { attempts, ambiguous, began } = this
    const [first, second] = halves(this.body)
    const shared = { attempts, ambiguous, refusals: 0, began, acceptedAtSplit: options.learning.accepted, pair }
    return [
      { ...shared, body: first },
      { ...shared, body: second },
    ]
  }

  /** Returns the part as it is now, to send it after others. */
  postponed(): BatchPart {
    const { body, attempts, ambiguous, refusals, began, acceptedBefore, pair } = this
    return { body, attempts, ambiguous, refusals, began, acceptedBefore, pair }
  }
}
