/**
 * Sends one batch until each of its documents has an outcome: retries in place, splits, waits, or stops.
 *
 * A batch is delivered in parts, at first one. Two halves replace a part that is too large. A half that is refused lets the
 * other half go first: if that one is accepted, the reason lies in the documents of this one.
 */
import type { Failure } from '../../base/failure/failure.js'
import type { Batch, Outcome } from '../../base/flow.js'
import { atLast, backoffMs } from '../../base/time/retry.js'
import { BatchOutcome } from './batch-outcome.js'
import { halves, keepItems } from './body.js'
import type { AccessGate } from './layers/access.js'
import { type Learning, LOSSES_BEFORE_STOP } from './layers/learn.js'
import { type BatchIds, type Body, type Send, type Verdict, batchIds } from './send.js'

/** After this number of refusals Sluice halves a body: it may be too large, and then waiting does not help. */
const REFUSALS_BEFORE_SPLIT = 5
/** After this number of refusals a half lets the other half go first. If the cluster accepts that one at once, Sluice halves this one again. */
const REFUSALS_OF_HALF = 2
/** After this many refusals of a single document, while others are accepted, the document is the cause. */
const REFUSALS_OF_ONE = 8

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

interface Delivery {
  readonly batch: Batch
  readonly send: Send
  readonly options: DeliveryOptions
  /** Whether a second send stores no second copy of a document of this batch. */
  readonly safeToResend: boolean
  readonly outcome: BatchOutcome
}

/** Documents of a batch without an outcome, with the history that they share. */
interface Part {
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
  readonly pair?: { isHalfTaken: boolean }
  /** The verdict on the next attempt, if that was already made. */
  readonly judged?: Verdict | undefined
}

export async function deliver(batch: Batch, send: Send, options: DeliveryOptions): Promise<Outcome> {
  const outcome = new BatchOutcome(batch)
  const { safeToResend } = batchIds(batch, options)
  const delivery = { batch, send, options, safeToResend, outcome }
  const body = { bytes: batch.bytes, items: batch.docs, first: 0 }
  const parts: Part[] = batch.docs > 0 ? [{ body, attempts: 0, ambiguous: false, refusals: 0 }] : []
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    const { now = [], later = [] } = await deliverPart(part, parts.length > 0, delivery)
    parts.unshift(...now)
    parts.push(...later)
  }
  return outcome.outcome()
}

/** The parts that are left of a part: to deliver next, or after the others. */
interface Left {
  readonly now?: readonly Part[]
  readonly later?: readonly Part[]
}

const none: Left = {}

async function deliverPart(part: Part, othersWait: boolean, delivery: Delivery): Promise<Left> {
  const { batch, send, options, safeToResend, outcome } = delivery
  const { halted, learning, access } = options
  const { pair } = part
  let { body, attempts, ambiguous, refusals, judged, began = access.now() } = part
  // Its turn came late because others were accepted.
  if (part.acceptedAtSplit !== undefined && learning.accepted > part.acceptedAtSplit) began = access.now()
  let { acceptedBefore = learning.accepted } = part
  /** Failed look-ups in a row. */
  let lookups = 0
  const leave = (stop?: Failure): Left => {
    outcome.leave(body.items, ambiguous ? 'unknown' : 'unsent', stop)
    return none
  }
  for (;;) {
    if (judged === undefined && (halted.aborted || outcome.stopped)) return leave()
    const verdict = judged ?? (await send({ body, batch, history: { resent: attempts > 0, doubtful: ambiguous } }))
    if (verdict.kind === 'notSent') return leave()
    judged = undefined
    const isSent = verdict.kind !== 'there' && !(verdict.kind === 'wait' && verdict.unsent === true)
    if (isSent) attempts += 1

    if (verdict.kind === 'done') {
      if (pair !== undefined) pair.isHalfTaken ||= refusals === 0
      outcome.settle(body, verdict.settled, attempts)
      return none
    }
    if (verdict.kind === 'there') {
      outcome.settle(body, verdict.settled, attempts)
      if (verdict.left.length === 0) return none
      outcome.beforeChange()
      body = keepItems(body, verdict.left)
      continue
    }
    ambiguous ||= verdict.delivery === 'possible'
    if (verdict.kind === 'stop') return leave(verdict.failure)
    if (verdict.kind === 'split') {
      const whole = { body, attempts, ambiguous, refusals: 0, began }
      return { now: await split(whole, verdict, delivery) }
    }
    if (verdict.kind === 'retryItems') {
      outcome.settle(body, verdict.settled, attempts)
      if (verdict.items.length < body.items) {
        outcome.beforeChange()
        body = keepItems(body, verdict.items)
        refusals = 0
        began = access.now()
        acceptedBefore = learning.accepted
      }
    }
    if (halted.aborted) return leave()
    if (ambiguous && !safeToResend) {
      // If the cluster makes the ids, a second send would store a second copy.
      outcome.leave(body.items, 'unknown', learning.lostInARow >= LOSSES_BEFORE_STOP ? verdict.failure : undefined)
      return none
    }

    if (isSent) refusals += 1
    lookups = isSent ? 0 : lookups + 1
    if (verdict.kind === 'wait' && refusals >= (verdict.tries ?? Infinity)) return leave(verdict.failure)
    const overloaded = isSent && verdict.failure.code === 'CLUSTER_OVERLOADED'
    // A request that is too large may also break the connection, or take longer than allowed.
    const mayBeTooLarge = body.items > 1 && (overloaded || verdict.delivery === 'possible')
    const most = pair?.isHalfTaken === true ? REFUSALS_OF_HALF : REFUSALS_BEFORE_SPLIT
    if (mayBeTooLarge && refusals >= most) {
      outcome.beforeChange()
      const whole = { body, attempts, ambiguous, refusals: 0, began, pair: { isHalfTaken: false } }
      return { now: parted(whole, learning) }
    }
    const othersTaken = pair?.isHalfTaken === true || learning.accepted > acceptedBefore
    if (body.items === 1 && refusals >= REFUSALS_OF_ONE && overloaded && othersTaken) {
      if (ambiguous) return leave()
      const reason = `refused ${refusals} times while the cluster accepted others: ${String(verdict.failure.evidence['reason'])}`
      outcome.rejectAll(body, { status: 429, type: 'never_accepted', reason }, attempts)
      return none
    }
    const retryAfterMs = verdict.kind === 'wait' ? verdict.retryAfterMs : undefined
    const waitMs = backoffMs(isSent ? refusals : lookups, options.random, retryAfterMs)
    const elapsedMs = Math.round(access.now() - began)
    if (elapsedMs + waitMs > options.maxElapsedMs) {
      if (!access.lost(verdict.failure)) return leave(atLast(verdict.failure, elapsedMs))
      began = access.now()
      refusals = 0
      continue
    }
    options.onRetry(verdict.failure, body.items, waitMs)
    await options.pause(waitMs)
    if (pair?.isHalfTaken === false && refusals >= REFUSALS_OF_HALF && othersWait) {
      return { later: [{ body, attempts, ambiguous, refusals, began, acceptedBefore, pair }] }
    }
  }
}

/** Halves a body until one document is left that is too large or spoils its request. That one is rejected. */
async function split(
  whole: Part,
  { refusal, alike }: Extract<Verdict, { kind: 'split' }>,
  { batch, send, options: { halted, learning }, safeToResend, outcome }: Delivery,
): Promise<Part[]> {
  const { body, attempts, ambiguous } = whole
  if (body.items === 1) {
    outcome.rejectAll(body, refusal, attempts)
    return []
  }
  if (ambiguous && !safeToResend) {
    outcome.leave(body.items, 'unknown', alike)
    return []
  }
  outcome.beforeChange()
  const [first, second] = parted(whole, learning)
  if (alike === undefined) return [first, second]
  const history = { resent: true, doubtful: ambiguous }
  const one = halted.aborted ? undefined : await send({ body: first.body, batch, history })
  const isSpoilt = one?.kind === 'split' && !halted.aborted
  const other = isSpoilt ? await send({ body: second.body, batch, history }) : undefined
  if (one?.kind === 'split' && other?.kind === 'split' && one.refusal.type === other.refusal.type) {
    outcome.leave(body.items, ambiguous ? 'unknown' : 'unsent', alike)
    return []
  }
  return [
    { ...first, judged: one },
    { ...second, judged: other },
  ]
}

function parted(whole: Part, learning: Pick<Learning, 'accepted'>): [Part, Part] {
  const [first, second] = halves(whole.body)
  const acceptedAtSplit = learning.accepted
  return [
    { ...whole, body: first, acceptedAtSplit },
    { ...whole, body: second, acceptedAtSplit },
  ]
}
