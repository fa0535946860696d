/**
 * Sends one batch until each of its documents has an outcome: retries in place, splits, waits, or stops.
 *
 * A batch is delivered in parts, at first one. A part that has to be halved is replaced by its halves; one that is refused while
 * others are waiting lets them go first, because what becomes of them tells whether it is refused for a reason of its own.
 */
import { type Failure, failure } from '../failure/failure.js'
import type { Batch, Clock, Outcome } from '../flow.js'
import { backoffMs } from '../time/retry.js'
import { type Body, halves, keepItems } from './body.js'
import { Settlement } from './settlement.js'
import type { Verdict } from './verdict.js'

/** After so many refusals of a body as a whole it is halved: some pressure is about its size and never eases. */
const REFUSALS_BEFORE_SPLIT = 5
/** A half that is refused so often lets the other one go first; when that was taken at once, it is halved again. */
const REFUSALS_OF_HALF = 2
/** A single document that is refused so often, while others are taken, is the reason itself. */
const REFUSALS_OF_ONE = 8
/** So many requests in a row that were swallowed: the rest of the run is not fed to it. */
export const LOSSES_BEFORE_STOP = 8

export interface Delivering {
  /**
   * One request, judged, or what was looked up in its place. `resent`: whether the documents have been sent before; `doubtful`:
   * whether one of those sends may have been stored unanswered. Waits for a place; undefined: nothing was sent, because nothing
   * may be sent any more.
   */
  attempt(body: Body, resent: boolean, doubtful: boolean): Promise<Verdict | undefined>
  /** Whether a resend cannot double a document: ids from anywhere but the cluster. */
  readonly safeToResend: boolean
  /** How long a body may be refused or unanswered before the run stops. */
  readonly maxElapsedMs: number
  /** Aborted when nothing more may be sent. */
  readonly halted: AbortSignal
  /** Requests that stored something, over all batches. */
  accepted(): number
  /** Requests of unknown outcome since the last one that stored something, over all batches. */
  lostInARow(): number
  /** A failure that would stop the run. True: it is one of access, and the next attempt waits until that is back. */
  lost(failure: Failure): boolean
  /** Stands still while access is lost. */
  readonly clock: Pick<Clock, 'now'>
  readonly random: () => number
  onRetry(failure: Failure, documents: number, waitMs: number): void
  /** Waits before a resend; ends early when nothing more may be sent. */
  pause(ms: number): Promise<void>
}

/** Documents of a batch without an outcome, and what came before: for them, or for the larger part that they belong to. */
interface Part {
  readonly body: Body
  /** How often they were sent. */
  readonly attempts: number
  /** Whether one of those sends may have stored some of them. Nothing but an outcome of their own ends the doubt. */
  readonly ambiguous: boolean
  /** How often this very body was refused as a whole. */
  readonly refusals: number
  /** Since when none of it was taken, on the clock. Absent: since now. */
  readonly began?: number
  /** What `accepted` told when it became a part of its own. */
  readonly acceptedAtSplit?: number
  /** What `accepted` told when it was first sent. */
  readonly acceptedBefore?: number
  /** Of the two halves of a body that was refused too often: whether one of them was taken at once. */
  readonly pair?: { isHalfTaken: boolean }
  /** The verdict on the next attempt, where it was already made. */
  readonly judged?: Verdict | undefined
}

export async function deliver(batch: Batch, context: Delivering): Promise<Outcome> {
  const settlement = new Settlement(batch)
  const body = { bytes: batch.bytes, items: batch.docs, first: 0 }
  const parts: Part[] = batch.docs > 0 ? [{ body, attempts: 0, ambiguous: false, refusals: 0 }] : []
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    const { now = [], later = [] } = await deliverPart(part, parts.length > 0, settlement, context)
    parts.unshift(...now)
    parts.push(...later)
  }
  return settlement.outcome()
}

/** What is left of a part: to be delivered next, or behind the others. */
interface Left {
  readonly now?: readonly Part[]
  readonly later?: readonly Part[]
}

const none: Left = {}

async function deliverPart(
  part: Part,
  othersWait: boolean,
  settlement: Settlement,
  context: Delivering,
): Promise<Left> {
  const { pair } = part
  let { body, attempts, ambiguous, refusals, judged, began = context.clock.now() } = part
  // Its turn was late because others were taken.
  if (part.acceptedAtSplit !== undefined && context.accepted() > part.acceptedAtSplit) began = context.clock.now()
  let { acceptedBefore = context.accepted() } = part
  /** Lookups in a row that came to nothing. */
  let lookups = 0
  const leave = (stop?: Failure): Left => {
    settlement.leave(body.items, ambiguous ? 'unknown' : 'unsent', stop)
    return none
  }
  for (;;) {
    if (judged === undefined && (context.halted.aborted || settlement.stopped)) return leave()
    const verdict = judged ?? (await context.attempt(body, attempts > 0, ambiguous))
    if (verdict === undefined) return leave()
    judged = undefined
    const isSent = verdict.kind !== 'there' && !(verdict.kind === 'wait' && verdict.unsent === true)
    if (isSent) attempts += 1

    if (verdict.kind === 'done') {
      if (pair !== undefined) pair.isHalfTaken ||= refusals === 0
      settlement.settle(body, verdict.settled, attempts)
      return none
    }
    if (verdict.kind === 'there') {
      settlement.settle(body, verdict.settled, attempts)
      if (verdict.left.length === 0) return none
      settlement.rememberOrigins()
      body = keepItems(body, verdict.left)
      continue
    }
    ambiguous ||= verdict.delivery === 'possible'
    if (verdict.kind === 'stop') return leave(verdict.failure)
    if (verdict.kind === 'split') {
      const whole = { body, attempts, ambiguous, refusals: 0, began }
      return { now: await split(whole, verdict, settlement, context) }
    }
    if (verdict.kind === 'retryItems') {
      settlement.settle(body, verdict.settled, attempts)
      if (verdict.items.length < body.items) {
        settlement.rememberOrigins()
        body = keepItems(body, verdict.items)
        refusals = 0
        began = context.clock.now()
        acceptedBefore = context.accepted()
      }
    }
    // What would come next is not sent any more.
    if (context.halted.aborted) return leave()
    if (ambiguous && !context.safeToResend) {
      // What got no answer is not sent again when the cluster makes the ids.
      settlement.leave(body.items, 'unknown', context.lostInARow() >= LOSSES_BEFORE_STOP ? verdict.failure : undefined)
      return none
    }

    if (isSent) refusals += 1
    lookups = isSent ? 0 : lookups + 1
    const overloaded = isSent && verdict.failure.code === 'CLUSTER_OVERLOADED'
    // A request that is too large may also show as a connection that breaks, or a time limit that runs out.
    const mayBeTooLarge = body.items > 1 && (overloaded || verdict.delivery === 'possible')
    const most = pair?.isHalfTaken === true ? REFUSALS_OF_HALF : REFUSALS_BEFORE_SPLIT
    if (mayBeTooLarge && refusals >= most) {
      settlement.rememberOrigins()
      const whole = { body, attempts, ambiguous, refusals: 0, began, pair: { isHalfTaken: false } }
      return { now: parted(whole, context) }
    }
    const othersTaken = pair?.isHalfTaken === true || context.accepted() > acceptedBefore
    if (body.items === 1 && refusals >= REFUSALS_OF_ONE && overloaded && othersTaken) {
      if (ambiguous) return leave()
      const reason = `refused ${refusals} times while others were taken: ${String(verdict.failure.evidence['reason'])}`
      settlement.rejectAll(body, { status: 429, type: 'never_accepted', reason }, attempts)
      return none
    }
    const retryAfterMs = verdict.kind === 'wait' ? verdict.retryAfterMs : undefined
    const waitMs = backoffMs(isSent ? refusals : lookups, context.random, retryAfterMs)
    const elapsedMs = Math.round(context.clock.now() - began)
    if (elapsedMs + waitMs > context.maxElapsedMs) {
      if (!context.lost(verdict.failure)) return leave(atLast(verdict.failure, elapsedMs))
      began = context.clock.now()
      refusals = 0
      continue
    }
    context.onRetry(verdict.failure, body.items, waitMs)
    await context.pause(waitMs)
    if (pair?.isHalfTaken === false && refusals >= REFUSALS_OF_HALF && othersWait) {
      return { later: [{ body, attempts, ambiguous, refusals, began, acceptedBefore, pair }] }
    }
  }
}

/** Down to the one document that is too large or spoils its request, which is then rejected. */
async function split(
  whole: Part,
  { refusal, alike }: Extract<Verdict, { kind: 'split' }>,
  settlement: Settlement,
  context: Delivering,
): Promise<Part[]> {
  const { body, attempts, ambiguous } = whole
  if (body.items === 1) {
    settlement.rejectAll(body, refusal, attempts)
    return []
  }
  if (ambiguous && !context.safeToResend) {
    settlement.leave(body.items, 'unknown', alike)
    return []
  }
  settlement.rememberOrigins()
  const [first, second] = parted(whole, context)
  if (alike === undefined) return [first, second]
  const { halted } = context
  const one = halted.aborted ? undefined : await context.attempt(first.body, true, ambiguous)
  const isSpoilt = one?.kind === 'split' && !halted.aborted
  const other = isSpoilt ? await context.attempt(second.body, true, ambiguous) : undefined
  if (one?.kind === 'split' && other?.kind === 'split' && one.refusal.type === other.refusal.type) {
    settlement.leave(body.items, ambiguous ? 'unknown' : 'unsent', alike)
    return []
  }
  return [
    { ...first, judged: one },
    { ...second, judged: other },
  ]
}

function parted(whole: Part, context: Delivering): [Part, Part] {
  const [first, second] = halves(whole.body)
  const acceptedAtSplit = context.accepted()
  return [
    { ...whole, body: first, acceptedAtSplit },
    { ...whole, body: second, acceptedAtSplit },
  ]
}

/** The failure of a refusal that went on for so long. */
export function atLast(refused: Failure, elapsedMs: number): Failure {
  if (refused.code !== 'CLUSTER_OVERLOADED') return refused
  const { cluster = '', reason = '' } = refused.evidence
  return failure('CLUSTER_OVERLOADED', {
    ...refused.evidence,
    cluster: String(cluster),
    reason: String(reason),
    elapsedMs,
  })
}
