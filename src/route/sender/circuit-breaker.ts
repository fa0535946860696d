/**
 * Decides what to do if access is lost in the middle of a run. The circuit is closed while requests may be sent. A request that is
 * refused access opens it. Probes close it again, or stop the run. It has no clock or timer: every call passes the time.
 */
import { explain, type Failure } from '../../base/failure/failure.js'
import { probePauseMs } from '../../base/time/retry.js'
import type { Verdict } from './send.js'

/** After this number of accepted bodies since access came back, a refusal begins another outage. */
const STEADY_AFTER = 50

/** The next step while the circuit is open. */
export type CircuitStep =
  | { readonly kind: 'probe'; readonly afterMs: number }
  | { readonly kind: 'close' }
  | { readonly kind: 'stop'; readonly failure: Failure }

interface Outage {
  why: Failure
  /** Since when the circuit is open; undefined: it is closed. */
  openedAt: number | undefined
  /** How long it was open before, in the same outage. */
  waitedMs: number
  rounds: number
  /** How often access came back. */
  regained: number
  acceptedSince: number
}

export class CircuitBreaker {
  readonly #waitMs: number
  readonly #random: () => number
  #outage: Outage | undefined
  /** How long it was open in earlier outages. */
  #openMs = 0

  /** `waitMs`: how long an outage may last. 0: Sluice probes once, and stops unless access is back by then. */
  constructor(waitMs: number, random: () => number) {
    this.#waitMs = waitMs
    this.#random = random
  }

  /** Why the circuit is open: the best failure found so far. */
  get why(): Failure | undefined {
    return this.#outage?.why
  }

  /** How long the circuit has been open, in all. */
  openMs(now: number): number {
    return this.#openMs + this.waitedMs(now)
  }

  /** How long it has been open in this outage. */
  waitedMs(now: number): number {
    if (this.#outage === undefined) return 0
    const { waitedMs, openedAt = now } = this.#outage
    return waitedMs + now - openedAt
  }

  /** Access was refused: opens the circuit. */
  trip(why: Failure, now: number): CircuitStep {
    const last = this.#outage
    if (last === undefined || last.acceptedSince >= STEADY_AFTER) {
      this.#openMs = this.openMs(now)
      this.#outage = { why, openedAt: now, waitedMs: 0, rounds: 0, regained: 0, acceptedSince: 0 }
      // Only the index knows whether it is blocked, and it has just said so.
      return why.code === 'INDEX_BLOCKED' ? this.#nextRound(this.#outage, now) : { kind: 'probe', afterMs: 0 }
    }
    last.why = why
    last.openedAt = now
    // Access comes and goes. If the run does not wait, one probe only finds the best failure to report.
    return this.#waitMs === 0 ? { kind: 'probe', afterMs: 0 } : this.#nextRound(last, now)
  }

  /** Probes found that access is back. */
  passed(now: number): CircuitStep {
    const outage = this.#outage
    if (outage === undefined) return { kind: 'close' }
    if (this.#waitMs === 0 && outage.regained > 0) return this.#stop(outage, now)
    outage.waitedMs = this.waitedMs(now)
    outage.openedAt = undefined
    outage.regained += 1
    outage.acceptedSince = 0
    return { kind: 'close' }
  }

  /** Probes found that access is still lost. */
  failed(seen: Failure, now: number): CircuitStep {
    const outage = this.#outage
    if (outage === undefined) return { kind: 'close' }
    outage.why = worseLoss(outage.why, seen)
    // The filter allows one of two addresses: somebody has to change that, waiting does not help.
    if (outage.why.code === 'EGRESS_PARTLY_ALLOWED') return this.#stop(outage, now)
    return this.#nextRound(outage, now)
  }

  /** Counts a body that was accepted as a whole. */
  accepted(): void {
    if (this.#outage !== undefined) this.#outage.acceptedSince += 1
  }

  #nextRound(outage: Outage, now: number): CircuitStep {
    const leftMs = this.#waitMs - this.waitedMs(now)
    if (leftMs <= 0) return this.#stop(outage, now)
    outage.rounds += 1
    // The last round is at the very end.
    return { kind: 'probe', afterMs: Math.min(leftMs, probePauseMs(outage.rounds, this.#random)) }
  }

  #stop({ why, regained }: Outage, now: number): CircuitStep {
    const waitedMs = Math.round(this.waitedMs(now))
    const comesAndGoes = regained > 0 ? { regained } : {}
    const waited = this.#waitMs > 0 ? { waitedMs } : {}
    const message = [
      why.message,
      ...(regained > 0 ? [`Access came back ${regained === 1 ? 'once' : `${regained} times`}`] : []),
      ...(this.#waitMs > 0 ? [`Sluice waited ${Math.round(waitedMs / 1000)} s for access`] : []),
    ].join('. ')
    return { kind: 'stop', failure: { ...why, message, evidence: { ...why.evidence, ...comesAndGoes, ...waited } } }
  }
}

/** Returns whether access to the index is lost, and nothing is wrong with the documents. */
export function isAccessLoss({ code }: Failure): boolean {
  const { stage } = explain(code)
  return stage === 'proxy' || stage === 'egress' || code === 'CLUSTER_AUTH_REJECTED' || code === 'INDEX_BLOCKED'
}

/** Returns the loss of access that a request met, if it certainly stored nothing. */
export function accessLossIn(verdict: Verdict): Failure | undefined {
  if (verdict.kind !== 'retryItems' && verdict.kind !== 'wait' && verdict.kind !== 'stop') return undefined
  if (verdict.delivery === 'possible') return undefined
  return isAccessLoss(verdict.failure) ? verdict.failure : undefined
}

/** Returns the newer of two findings about the same loss, unless only the newer one may pass by itself. */
function worseLoss(known: Failure, seen: Failure): Failure {
  const isPassing = explain(seen.code).retry === 'later' && explain(known.code).retry === 'no'
  return isAccessLoss(seen) && !isPassing ? seen : known
}
