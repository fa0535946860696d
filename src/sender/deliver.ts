/** Sends one batch until each of its documents has an outcome: retries in place, splits, waits, or stops. */
import { type Failure, failure } from '../failure/failure.js'
import type { Batch, Clock, Outcome } from '../flow.js'
import { backoffMs } from './backoff.js'
import { type Body, halves, keepItems } from './body.js'
import { Settlement } from './settlement.js'
import type { AlreadyThere } from './stream-watch.js'
import type { Verdict } from './verdict.js'

/** After so many refusals of a body as a whole it is halved: some pressure is about its size and never eases. */
const REFUSALS_BEFORE_SPLIT = 5
/** A single document that is refused so often, while others are taken, is the reason itself. */
const REFUSALS_OF_ONE = 8
/** So many requests in a row that were swallowed: the rest of the run is not fed to it. */
export const LOSSES_BEFORE_STOP = 8

export interface Delivering {
  /**
   * One request, judged. `resent`: whether the documents have been sent before; `doubtful`: whether one of those sends may have
   * been stored unanswered. Waits for a place; undefined: nothing was sent, because nothing may be sent any more.
   */
  attempt(body: Body, resent: boolean, doubtful: boolean): Promise<Verdict | undefined>
  /**
   * Before a send of documents that may be stored already: those that are, where their ids would not keep them from being
   * stored twice; a verdict where that cannot be told now. Undefined: send them.
   */
  lookUp?(body: Body, doubtful: boolean): Promise<AlreadyThere | Verdict | undefined>
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

export async function deliver(batch: Batch, context: Delivering): Promise<Outcome> {
  const settlement = new Settlement(batch)
  if (batch.docs > 0) {
    const whole = { bytes: batch.bytes, items: batch.docs, first: 0 }
    await deliverBody(whole, { attempts: 0, ambiguous: false, began: context.clock.now() }, settlement, context)
  }
  return settlement.outcome()
}

/** What came before, for a body or for the larger one that it is a part of. */
interface History {
  /** How often its documents were sent. */
  readonly attempts: number
  /** Whether one of those sends may have stored some of them. Nothing but an outcome of their own ends the doubt. */
  readonly ambiguous: boolean
  /** Since when none of it was taken, on the clock. */
  readonly began: number
  /** The verdict on the next attempt, where it was already made. */
  readonly judged?: Verdict | undefined
}

async function deliverBody(whole: Body, history: History, settlement: Settlement, context: Delivering): Promise<void> {
  let body = whole
  let { attempts, ambiguous, began, judged } = history
  let refusals = 0
  const acceptedBefore = context.accepted()
  const leave = (stop?: Failure) => settlement.leave(body.items, ambiguous ? 'unknown' : 'unsent', stop)
  for (;;) {
    if (judged === undefined && (context.halted.aborted || settlement.stopped)) return leave()
    const looked = judged === undefined ? await context.lookUp?.(body, ambiguous) : undefined
    if (looked?.kind === 'there') {
      settlement.settle(body, looked.settled, attempts)
      if (looked.left.length === 0) return
      settlement.rememberOrigins()
      body = keepItems(body, looked.left)
    } else judged ??= looked
    const isSent = judged === undefined || looked === undefined
    const verdict = judged ?? (await context.attempt(body, attempts > 0, ambiguous))
    if (verdict === undefined) return leave()
    judged = undefined
    if (isSent) attempts += 1

    if (verdict.kind === 'done') return settlement.settle(body, verdict.settled, attempts)
    ambiguous ||= verdict.delivery === 'possible'
    if (verdict.kind === 'stop') return leave(verdict.failure)
    if (verdict.kind === 'split') {
      return await split(body, verdict, { attempts, ambiguous, began }, settlement, context)
    }
    if (verdict.kind === 'retryItems') {
      settlement.settle(body, verdict.settled, attempts)
      if (verdict.items.length < body.items) {
        settlement.rememberOrigins()
        body = keepItems(body, verdict.items)
        refusals = 0
        began = context.clock.now()
      }
    }
    // What would come next is not sent any more.
    if (context.halted.aborted) return leave()
    if (ambiguous && !context.safeToResend) return giveUp(body, verdict.failure, settlement, context)

    refusals += 1
    const overloaded = verdict.failure.code === 'CLUSTER_OVERLOADED'
    // A request that is too large may also show as a connection that breaks, or a time limit that runs out.
    if (body.items > 1 && refusals >= REFUSALS_BEFORE_SPLIT && (overloaded || verdict.delivery === 'possible')) {
      return await deliverHalves(body, { attempts, ambiguous, began }, settlement, context)
    }
    if (body.items === 1 && refusals >= REFUSALS_OF_ONE && overloaded && context.accepted() > acceptedBefore) {
      if (ambiguous) return leave()
      const reason = `refused ${refusals} times while others were taken: ${String(verdict.failure.evidence['reason'])}`
      return settlement.rejectAll(body, { status: 429, type: 'never_accepted', reason }, attempts)
    }
    const waitMs = backoffMs(refusals, context.random, verdict.kind === 'wait' ? verdict.retryAfterMs : undefined)
    const elapsedMs = Math.round(context.clock.now() - began)
    if (elapsedMs + waitMs > context.maxElapsedMs) {
      if (!context.lost(verdict.failure)) return leave(atLast(verdict.failure, elapsedMs))
      began = context.clock.now()
      refusals = 0
      continue
    }
    context.onRetry(verdict.failure, body.items, waitMs)
    await context.pause(waitMs)
  }
}

/** Down to the one document that is too large or spoils its request, which is then rejected. */
async function split(
  body: Body,
  verdict: Extract<Verdict, { kind: 'split' }>,
  history: History,
  settlement: Settlement,
  context: Delivering,
): Promise<void> {
  const { refusal, alike } = verdict
  if (body.items === 1) return settlement.rejectAll(body, refusal, history.attempts)
  if (history.ambiguous && !context.safeToResend) return settlement.leave(body.items, 'unknown', alike)
  if (alike === undefined) return await deliverHalves(body, history, settlement, context)
  settlement.rememberOrigins()
  const [first, second] = halves(body)
  const one = context.halted.aborted ? undefined : await context.attempt(first, true, history.ambiguous)
  const other =
    one?.kind === 'split' && !context.halted.aborted
      ? await context.attempt(second, true, history.ambiguous)
      : undefined
  if (one?.kind === 'split' && other?.kind === 'split' && one.refusal.type === other.refusal.type) {
    return settlement.leave(body.items, history.ambiguous ? 'unknown' : 'unsent', alike)
  }
  await deliverBody(first, { ...history, judged: one }, settlement, context)
  await deliverBody(second, { ...history, judged: other, began: context.clock.now() }, settlement, context)
}

async function deliverHalves(body: Body, history: History, settlement: Settlement, context: Delivering): Promise<void> {
  settlement.rememberOrigins()
  const [first, second] = halves(body)
  await deliverBody(first, history, settlement, context)
  await deliverBody(second, { ...history, began: context.clock.now() }, settlement, context)
}

/** What got no answer is not sent again when the cluster makes the ids. */
function giveUp(body: Body, why: Failure, settlement: Settlement, context: Delivering): void {
  settlement.leave(body.items, 'unknown', context.lostInARow() >= LOSSES_BEFORE_STOP ? why : undefined)
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
