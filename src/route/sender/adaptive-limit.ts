/**
 * Finds how many requests may be under way at once, by trying: more while more requests bring a higher rate, half if the cluster
 * refuses, then one more at a time. It has no clock or timer: every call passes the time.
 */
const START = 2
/** Shortest time for a measured rate. A shorter one measures the machine's hiccups. */
const MEASURED_MS = 100
/** Share of the time that the reader has to wait until a request may be sent. Else more requests cannot help. */
const WAITED_SHARE = 0.25
/** Share of the best possible gain (twice as many, twice the rate) that more requests have to bring. */
const NEEDED_SHARE = 0.25
/** Measurements from a failed trial to the next one. Doubled each time. */
const FIRST_PATIENCE = 4
const LONGEST_PATIENCE = 64

interface Measurement {
  readonly from: number
  answers: number
  bytes: number
  /** How long the reader waited, without the wait that has not ended. */
  waitedMs: number
}

export class AdaptiveLimit {
  readonly #most: number
  #allowed: number
  /** The largest number that brought a higher rate. Recovery returns to it without trials. */
  #proven: number
  /** Since when this number is allowed. Answers to earlier requests say nothing about it. */
  #since = -Infinity
  #halvedAt = -Infinity
  /** Whether the cluster has refused yet. Until then each trial doubles. */
  #refused = false
  #trial: { readonly from: number; readonly rate: number } | undefined
  #patience = 0
  #nextPatience = FIRST_PATIENCE
  #measured: Measurement | undefined
  #waitingSince: number | undefined

  /** `most`: the upper limit. `start`: the number that an earlier run learnt. */
  constructor(most: number, start = START) {
    this.#most = most
    this.#allowed = Math.min(start, most)
    this.#proven = this.#allowed
  }

  get allowed(): number {
    return this.#allowed
  }

  /** The number that brought a higher rate. */
  get learnt(): number {
    return this.#trial?.from ?? this.#allowed
  }

  /** The reader waits: it could make a body, and no more may be sent. */
  waits(now: number): void {
    this.#waitingSince ??= now
  }

  /** The reader continues. */
  continues(now: number): void {
    if (this.#measured !== undefined) this.#measured.waitedMs += this.#waitedUntil(now, this.#measured.from)
    this.#waitingSince = undefined
  }

  /** Counts a request, sent at `sentAt`, that was accepted as a whole. */
  answered(sentAt: number, bytes: number, now: number): void {
    if (sentAt < this.#since) return
    // The first answer under a new limit only begins the measurement.
    if (this.#measured === undefined) return this.#measure(now)
    this.#measured.answers += 1
    this.#measured.bytes += bytes
    const elapsedMs = now - this.#measured.from
    // Answers come in bunches, one for each open request: only whole rounds make a rate.
    if (elapsedMs < MEASURED_MS || this.#measured.answers % this.#allowed !== 0) return
    const rate = this.#measured.bytes / elapsedMs
    const waited = (this.#measured.waitedMs + this.#waitedUntil(now, this.#measured.from)) / elapsedMs
    this.#measure(now)
    this.#judge(rate, waited, now)
  }

  /** Counts a request, sent at `sentAt`, that a busy cluster refused as a whole or in part, or that was lost. */
  refused(sentAt: number, now: number): void {
    // All requests that were under way show the same pressure.
    if (sentAt < this.#halvedAt) return
    this.#proven = this.#trial?.from ?? Math.max(1, this.#allowed - 1)
    this.#refused = true
    this.#halvedAt = now
    this.#bePatient(this.#trial !== undefined)
    this.#allow(Math.max(1, this.#allowed >> 1), now)
  }

  #judge(rate: number, waited: number, now: number): void {
    if (this.#trial !== undefined) {
      const { from, rate: before } = this.#trial
      this.#trial = undefined
      const gain = rate / before - 1
      if (gain < NEEDED_SHARE * (this.#allowed / from - 1)) {
        this.#bePatient(true)
        return this.#allow(from, now)
      }
      this.#proven = this.#allowed
      this.#nextPatience = FIRST_PATIENCE
    }
    if (waited < WAITED_SHARE || this.#allowed === this.#most) return
    if (this.#allowed < this.#proven) return this.#allow(this.#allowed + 1, now)
    if (this.#patience > 0) {
      this.#patience -= 1
      return
    }
    this.#trial = { from: this.#allowed, rate }
    const more = this.#refused ? this.#allowed + 1 : this.#allowed * 2
    this.#allow(Math.min(more, this.#most), now, this.#trial)
  }

  #bePatient(longerNext: boolean): void {
    this.#patience = this.#nextPatience
    if (longerNext) this.#nextPatience = Math.min(this.#nextPatience * 2, LONGEST_PATIENCE)
  }

  #allow(allowed: number, now: number, trial?: { from: number; rate: number }): void {
    this.#allowed = allowed
    this.#since = now
    this.#trial = trial
    this.#measured = undefined
  }

  #measure(from: number): void {
    this.#measured = { from, answers: 0, bytes: 0, waitedMs: 0 }
  }

  #waitedUntil(now: number, from: number): number {
    return this.#waitingSince === undefined ? 0 : now - Math.max(this.#waitingSince, from)
  }
}
