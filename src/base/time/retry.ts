/** Says how long to wait before another attempt, and when patience ends. The one place where Sluice computes it. */
import { type Failure, failure } from '../failure/failure.js'
import type { Clock } from '../flow.js'

const FIRST_MS = 250
const LONGEST_MS = 30_000

interface RetryLimits {
  readonly clock: Pick<Clock, 'now'>
  /** How long attempts may fail in a row, in milliseconds. */
  readonly maxElapsedMs: number
  /** The wait after the nth refusal in a row, counted from 1. */
  waitMs(refusals: number): number
}

/** Attempts at one thing, since it last succeeded. */
export class Retries {
  readonly #limits: RetryLimits
  #refusals = 0
  #began: number

  constructor(limits: RetryLimits) {
    this.#limits = limits
    this.#began = limits.clock.now()
  }

  /** Counts a refusal and returns how long to wait. Returns undefined if the wait would end after the allowed time. */
  next(atLeastMs = 0): number | undefined {
    const { clock, maxElapsedMs, waitMs } = this.#limits
    this.#refusals += 1
    const wait = Math.max(atLeastMs, waitMs(this.#refusals))
    return clock.now() - this.#began + wait > maxElapsedMs ? undefined : wait
  }

  /** Forgets the refusals so far, because a request succeeded. */
  startAgain(): void {
    this.#refusals = 0
    this.#began = this.#limits.clock.now()
  }

  get elapsedMs(): number {
    return Math.round(this.#limits.clock.now() - this.#began)
  }
}

/**
 * Doubles the wait with each refusal and adds jitter, so that many senders do not return at once. `retryAfter`: the
 * wait that the server requested, a lower bound. `refusals` counts from 1. `random` returns [0, 1).
 */
export function backoffMs(refusals: number, random: () => number, retryAfter = 0): number {
  const ceiling = doublingMs(refusals, FIRST_MS, LONGEST_MS)
  return Math.max(retryAfter, ceiling / 2 + (ceiling / 2) * random())
}

/** Doubles the wait with each attempt, from `first` to `longest`. */
export function doublingMs(attempts: number, first: number, longest = Infinity): number {
  return Math.min(longest, first * 2 ** (attempts - 1))
}

/** Between two rounds of probes while access is lost. */
const FIRST_PROBE_MS = 5000
const SLOWEST_PROBE_MS = 60_000

/** Adds a little jitter, so that runs that lost access together do not ask together. `rounds` counts from 1. */
export function probePauseMs(rounds: number, random: () => number): number {
  return Math.round(doublingMs(rounds, FIRST_PROBE_MS, SLOWEST_PROBE_MS) * (0.8 + 0.2 * random()))
}

/** Headers of an answer. Names in lower case. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Returns the wait that Retry-After asks for (in seconds, or until a date), in milliseconds. Undefined if the header is missing or
 * invalid. A date counts by the clock of the server. If the answer does not show that clock, ours may be hours off: then the wait
 * is at most as long as that between two attempts.
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const value = firstOf(headers['retry-after'])?.trim()
  if (value === undefined) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const until = Date.parse(value)
  if (Number.isNaN(until)) return undefined
  const sentAt = sentAtMs(headers)
  return Math.max(0, sentAt === undefined ? Math.min(until - now, LONGEST_MS) : until - sentAt)
}

/** Returns when the server sent an answer, by its own clock. Undefined if the answer does not say it. */
export function sentAtMs(headers: Headers): number | undefined {
  const sentAt = Date.parse(firstOf(headers['date']) ?? '')
  return Number.isNaN(sentAt) ? undefined : sentAt
}

function firstOf(header: Headers[string]): string | undefined {
  return typeof header === 'object' ? header[0] : header
}

/** Returns the failure to report after refusals for a time. */
export function atLast(refused: Failure, elapsedMs: number): Failure {
  if (refused.code !== 'CLUSTER_OVERLOADED') return refused
  const { cluster = '', reason = '' } = refused.evidence
  const seconds = Math.round(elapsedMs / 1000)
  return failure('CLUSTER_OVERLOADED', {
    ...refused.evidence,
    cluster: String(cluster),
    reason: `${String(reason).replace(/\.$/, '')}${seconds === 0 ? '' : `. Sluice retried for ${seconds} s`}`,
    elapsedMs,
  })
}
