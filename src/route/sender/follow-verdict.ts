/** Says what follows from a verdict for the documents of a part: it only counts, and sends nothing. */
import type { Failure } from '../../base/failure/failure.js'
import { atLast, backoffMs } from '../../base/time/retry.js'
import { LOSSES_BEFORE_STOP } from './layers/learn.js'
import type { BatchPart, PartUnderWay } from './part.js'
import type { Verdict } from './send.js'

/** What to do with the documents of a part that have no outcome. */
export type Next =
  /** There are none. */
  | { readonly kind: 'over' }
  /** Send them again at once. */
  | { readonly kind: 'again' }
  /** Send them again after a rest. */
  | { readonly kind: 'rest'; readonly failure: Failure; readonly waitMs: number }
  /** Send halves instead. `alike`: why the run stops if both halves are refused in the same way. */
  | { readonly kind: 'halves'; readonly halves: readonly [BatchPart, BatchPart]; readonly alike?: Failure | undefined }

const over: Next = { kind: 'over' }
const again: Next = { kind: 'again' }

export function followVerdict(part: PartUnderWay, verdict: Verdict): Next {
  part.hear(verdict)
  switch (verdict.kind) {
    case 'notSent':
      return leave(part)
    case 'done':
      return settleAll(part, verdict)
    case 'there':
      return settleStored(part, verdict)
    case 'stop':
      return leave(part, verdict.failure)
    case 'split':
      return divide(part, verdict)
    case 'retryItems':
      settleSome(part, verdict)
      return followRefusal(part, verdict)
    case 'wait':
      return followRefusal(part, verdict)
  }
}

type Of<Kind extends Verdict['kind']> = Extract<Verdict, { kind: Kind }>

function leave(part: PartUnderWay, stop?: Failure): Next {
  part.leave(stop)
  return over
}

function settleAll(part: PartUnderWay, { settled }: Of<'done'>): Next {
  if (part.pair !== undefined) part.pair.isHalfTaken ||= part.refusals === 0
  part.settle(settled)
  return over
}

function settleStored(part: PartUnderWay, { settled, left }: Of<'there'>): Next {
  part.settle(settled)
  if (left.length === 0) return over
  part.keep(left)
  return again
}

function settleSome(part: PartUnderWay, { settled, items }: Of<'retryItems'>): void {
  part.settle(settled)
  if (items.length >= part.body.items) return
  part.keep(items)
  part.beginAnew()
}

/** Halves a body until one document is left that is too large or spoils its request. That one is rejected. */
function divide(part: PartUnderWay, { refusal, alike }: Of<'split'>): Next {
  if (part.body.items === 1) return reject(part, refusal)
  if (part.isInDoubt) return leave(part, alike)
  return { kind: 'halves', halves: part.halves(), alike }
}

function reject(part: PartUnderWay, refusal: Of<'split'>['refusal']): Next {
  part.delivery.outcome.rejectAll(part.body, refusal, part.attempts)
  return over
}

type Refusal = Of<'retryItems' | 'wait'>

/** The rules for a part that was refused or not answered. The first that applies decides. If none does, the part rests. */
const rules: readonly ((part: PartUnderWay, refusal: Refusal) => Next | undefined)[] = [
  leaveAfterHalt,
  leaveInDoubt,
  leaveAfterTries,
  divideTooLarge,
  rejectNeverAccepted,
]

function followRefusal(part: PartUnderWay, refusal: Refusal): Next {
  part.countRefusal()
  for (const rule of rules) {
    const next = rule(part, refusal)
    if (next !== undefined) return next
  }
  return restOrGiveUp(part, refusal)
}

function leaveAfterHalt(part: PartUnderWay): Next | undefined {
  return part.delivery.options.halted.aborted ? leave(part) : undefined
}

/** If the cluster makes the ids, a second send would store a second copy. */
function leaveInDoubt(part: PartUnderWay, { failure: why }: Refusal): Next | undefined {
  if (!part.isInDoubt) return undefined
  return leave(part, part.delivery.options.learning.lostInARow >= LOSSES_BEFORE_STOP ? why : undefined)
}

function leaveAfterTries(part: PartUnderWay, refusal: Refusal): Next | undefined {
  const most = refusal.kind === 'wait' ? refusal.tries : undefined
  return part.refusals >= (most ?? Infinity) ? leave(part, refusal.failure) : undefined
}

/** After this number of refusals Sluice halves a body: it may be too large, and then waiting does not help. */
const REFUSALS_BEFORE_SPLIT = 5
/** After this number of refusals a half lets the other half go first. If the cluster accepts that one at once, Sluice halves this one again. */
export const REFUSALS_OF_HALF = 2

/** A request that is too large may be refused as one too many, break the connection, or take longer than allowed. */
function divideTooLarge(part: PartUnderWay, refusal: Refusal): Next | undefined {
  const mayBeTooLarge = isOverload(part, refusal) || refusal.delivery === 'possible'
  const most = part.pair?.isHalfTaken === true ? REFUSALS_OF_HALF : REFUSALS_BEFORE_SPLIT
  if (part.body.items === 1 || !mayBeTooLarge || part.refusals < most) return undefined
  return { kind: 'halves', halves: part.halves({ isHalfTaken: false }) }
}

/** After this many refusals of a single document, while others are accepted, the document is the cause. */
const REFUSALS_OF_ONE = 8

function rejectNeverAccepted(part: PartUnderWay, refusal: Refusal): Next | undefined {
  const { body, refusals } = part
  if (body.items > 1 || refusals < REFUSALS_OF_ONE || !isOverload(part, refusal) || !part.areOthersTaken)
    return undefined
  if (part.ambiguous) return leave(part)
  const said = String(refusal.failure.evidence['reason'])
  const reason = `refused ${refusals} times while the cluster accepted others: ${said}`
  return reject(part, { status: 429, type: 'never_accepted', reason })
}

function isOverload({ isSent }: PartUnderWay, { failure: { code } }: Refusal): boolean {
  return isSent && code === 'CLUSTER_OVERLOADED'
}

/** Time that access was lost does not count. */
function restOrGiveUp(part: PartUnderWay, refusal: Refusal): Next {
  const { access, random, maxElapsedMs } = part.delivery.options
  const { failure: why } = refusal
  const retryAfterMs = refusal.kind === 'wait' ? refusal.retryAfterMs : undefined
  const waitMs = backoffMs(part.isSent ? part.refusals : part.lookups, random, retryAfterMs)
  const elapsedMs = Math.round(access.now() - part.began)
  if (elapsedMs + waitMs <= maxElapsedMs) return { kind: 'rest', failure: why, waitMs }
  if (!access.lost(why)) return leave(part, atLast(why, elapsedMs))
  part.restartClock()
  return again
}
