/**
 * Sends one batch until each of its documents has an outcome: retries in place, splits, waits, or stops.
 *
 * A batch is delivered in parts, at first one. Two halves replace a part that is too large. A half that is refused lets the
 * other half go first: if that one is accepted, the reason lies in the documents of this one.
 */
import type { Failure } from '../../base/failure/failure.js'
import type { Batch, Outcome } from '../../base/flow.js'
import { BatchOutcome } from './batch-outcome.js'
import { followVerdict, REFUSALS_OF_HALF } from './follow-verdict.js'
import { type BatchDelivery, type DeliveryOptions, type BatchPart, PartUnderWay } from './part.js'
import { type Send, batchIds } from './send.js'

export async function deliver(batch: Batch, send: Send, options: DeliveryOptions): Promise<Outcome> {
  const outcome = new BatchOutcome(batch)
  const { safeToResend } = batchIds(batch, options)
  const delivery = { batch, send, options, safeToResend, outcome }
  const body = { bytes: batch.bytes, items: batch.docs, first: 0 }
  const parts: BatchPart[] = batch.docs > 0 ? [{ body, attempts: 0, ambiguous: false, refusals: 0 }] : []
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    const { now = [], later = [] } = await deliverPart(part, parts.length > 0, delivery)
    parts.unshift(...now)
    parts.push(...later)
  }
  return outcome.outcome()
}

/** The parts that are left of a part: to deliver next, or after the others. */
interface Left {
  readonly now?: readonly BatchPart[]
  readonly later?: readonly BatchPart[]
}

const none: Left = {}

async function deliverPart(given: BatchPart, othersWait: boolean, delivery: BatchDelivery): Promise<Left> {
  const { batch, send, options, outcome } = delivery
  const part = new PartUnderWay(given, delivery)
  for (let { judged } = given; ; judged = undefined) {
    if (judged === undefined && (options.halted.aborted || outcome.stopped)) {
      part.leave()
      return none
    }
    const next = followVerdict(part, judged ?? (await send({ body: part.body, batch, history: part.history })))
    if (next.kind === 'over') return none
    if (next.kind === 'halves') return { now: await judgedHalves(part, next.halves, next.alike) }
    if (next.kind === 'rest') {
      options.onRetry(next.failure, part.body.items, next.waitMs)
      await options.pause(next.waitMs)
      if (othersWait && letsOtherHalfGo(part)) return { later: [part.postponed()] }
    }
  }
}

function letsOtherHalfGo({ pair, refusals }: PartUnderWay): boolean {
  return pair?.isHalfTaken === false && refusals >= REFUSALS_OF_HALF
}

/** Returns halves to deliver. `alike`: why both are left if they are refused in the same way, so that no document is the cause. */
async function judgedHalves(
  part: PartUnderWay,
  [first, second]: readonly [BatchPart, BatchPart],
  alike: Failure | undefined,
): Promise<readonly BatchPart[]> {
  if (alike === undefined) return [first, second]
  const { batch, send, options } = part.delivery
  const { halted } = options
  const history = { resent: true, doubtful: part.ambiguous }
  const one = halted.aborted ? undefined : await send({ body: first.body, batch, history })
  const isSpoilt = one?.kind === 'split' && !halted.aborted
  const other = isSpoilt ? await send({ body: second.body, batch, history }) : undefined
  if (one?.kind === 'split' && other?.kind === 'split' && one.refusal.type === other.refusal.type) {
    part.leave(alike)
    return []
  }
  return [
    { ...first, judged: one },
    { ...second, judged: other },
  ]
}
