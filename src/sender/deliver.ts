/** Sends one batch until each of its documents has an outcome: retries in place, splits, waits, or stops. */
import { type Failure, failure } from '../failure/failure.js'
import type { Batch, Clock, Outcome } from '../flow.js'
import { backoffMs } from './backoff.js'
import { type Body, halves, keepItems } from './body.js'
import { Settlement } from './settlement.js'
import type { Verdict } from './verdict.js'

/** After so many refusals of a body as a whole it is halved: some pressure is about its size and never eases. */
const REFUSALS_BEFORE_SPLIT = 5
/** A single document that is refused so often, while others are taken, is the reason itself. */
const REFUSALS_OF_ONE = 8

export interface Delivering {
  /** One request, judged. `resent`: whether the cluster may have seen the documents before. */
  attempt(body: Body, resent: boolean): Promise<Verdict>
  /** Whether a resend is safe: only with ids of our own. */
  readonly ownIds: boolean
  /** How long one body may be refused before the run stops. */
  readonly maxElapsedMs: number
  /** Aborted when nothing more may be sent. */
  readonly halted: AbortSignal
  /** Requests that stored something, over all batches. */
  accepted(): number
  readonly clock: Clock
  readonly random: () => number
  onRetry(failure: Failure, documents: number, waitMs: number): void
}

export async function deliver(batch: Batch, context: Delivering): Promise<Outcome> {
  const settlement = new Settlement(batch)
  if (batch.docs > 0) {
    await deliverBody(
      { bytes: batch.bytes, items: batch.docs, first: 0 },
      { resent: false, attempts: 0 },
      settlement,
      context,
    )
  }
  return settlement.outcome()
}

interface History {
  /** Whether the cluster may have seen the documents. */
  readonly resent: boolean
  readonly attempts: number
  /** The verdict on a first attempt that was already made. */
  readonly judged?: Verdict
}

async function deliverBody(whole: Body, history: History, settlement: Settlement, context: Delivering): Promise<void> {
  let body = whole
  let { resent, attempts, judged } = history
  // Whether an unanswered send of exactly these documents may have been stored.
  let ambiguous = false
  let refusals = 0
  const began = context.clock.now()
  const acceptedBefore = context.accepted()
  for (;;) {
    if (judged === undefined && (context.halted.aborted || settlement.stopped)) {
      return settlement.leave(body.items, ambiguous ? 'unknown' : 'unsent')
    }
    const verdict = judged ?? (await context.attempt(body, resent))
    if (judged === undefined) attempts += 1
    judged = undefined
    resent ||= !('delivery' in verdict) || verdict.delivery === 'possible' || verdict.kind === 'split'

    if (verdict.kind === 'done') return settlement.settle(body, verdict.settled, attempts)
    if (verdict.kind === 'stop') {
      const as = ambiguous || verdict.delivery === 'possible' ? 'unknown' : 'unsent'
      return settlement.leave(body.items, as, verdict.failure)
    }
    if (verdict.kind === 'split') return await split(body, verdict, { resent, attempts }, settlement, context)
    if (verdict.kind === 'retryItems') {
      settlement.settle(body, verdict.settled, attempts)
      ambiguous = false
      if (verdict.items.length < body.items) {
        settlement.rememberOrigins()
        body = keepItems(body, verdict.items)
        refusals = 0
      }
    } else if (verdict.delivery === 'possible') {
      if (!context.ownIds) return settlement.leave(body.items, 'unknown')
      ambiguous = true
    }

    refusals += 1
    if (verdict.failure.code === 'CLUSTER_OVERLOADED') {
      if (body.items > 1 && refusals >= REFUSALS_BEFORE_SPLIT) {
        return await deliverHalves(body, { resent, attempts }, settlement, context)
      }
      if (body.items === 1 && refusals >= REFUSALS_OF_ONE && context.accepted() > acceptedBefore) {
        const refusal = { status: 429, type: 'never_accepted', reason: verdict.failure.message }
        return settlement.rejectAll(body, refusal, attempts)
      }
    }
    const waitMs = backoffMs(refusals, context.random, verdict.kind === 'wait' ? verdict.retryAfterMs : undefined)
    const elapsedMs = Math.round(context.clock.now() - began)
    if (elapsedMs + waitMs > context.maxElapsedMs) {
      return settlement.leave(body.items, ambiguous ? 'unknown' : 'unsent', atLast(verdict.failure, elapsedMs))
    }
    context.onRetry(verdict.failure, body.items, waitMs)
    await context.clock.sleep(waitMs, context.halted).catch(() => undefined)
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
  if (body.items === 1) return settlement.rejectAll(body, verdict.refusal, history.attempts)
  if (verdict.delivery === 'possible' && !context.ownIds) return settlement.leave(body.items, 'unknown', verdict.alike)
  if (verdict.alike === undefined) return await deliverHalves(body, history, settlement, context)
  settlement.rememberOrigins()
  const [first, second] = halves(body)
  const one = await context.attempt(first, true)
  const other = await context.attempt(second, true)
  if (one.kind === 'split' && other.kind === 'split' && one.refusal.type === other.refusal.type) {
    return settlement.leave(body.items, 'unknown', verdict.alike)
  }
  const attempts = history.attempts + 1
  await deliverBody(first, { resent: true, attempts, judged: one }, settlement, context)
  await deliverBody(second, { resent: true, attempts, judged: other }, settlement, context)
}

async function deliverHalves(body: Body, history: History, settlement: Settlement, context: Delivering): Promise<void> {
  settlement.rememberOrigins()
  for (const half of halves(body)) await deliverBody(half, history, settlement, context)
}

function atLast(refused: Failure, elapsedMs: number): Failure {
  if (refused.code !== 'CLUSTER_OVERLOADED') return refused
  const { cluster = '', reason = '' } = refused.evidence
  return failure('CLUSTER_OVERLOADED', {
    ...refused.evidence,
    cluster: String(cluster),
    reason: String(reason),
    elapsedMs,
  })
}
