/**
 * How many requests may be under way at once. Nobody can know it beforehand, so it is tried: more as long as more brings more,
 * half when the cluster refuses, then one more at a time. Without clock or timer of its own: every call tells the time.
 */
const START = 2
/** A rate is measured over at least so long. Shorter, it tells of the machine's hiccups. */
const MEASURED_MS = 100
/** More requests can only help where the reader waits for a place for so much of the time. */
const WAITED_SHARE = 0.25
/** Of what more requests bring at the very best (twice as many, twice the rate), so much has to be seen. */
const NEEDED_SHARE = 0.25
/** Measurements from one trial that failed to the next; doubled each time. */
const FIRST_PATIENCE = 4
const LONGEST_PATIENCE = 64

interface Measurement {
  readonly from: number
  answers: number
  bytes: number
  /** How long the reader waited, but for the wait that is going on. */
  waitedMs: number
}

export class AdaptiveLimit {
  readonly #most: number
  #allowed: number
  /** So many have been found worth it: recovery goes up to here without asking. */
  #proven: number
  /** Since when so many are allowed. What was sent before tells nothing about them. */
  #since = -Infinity
  #halvedAt = -Infinity
  /** Whether the cluster has refused yet. Until then each trial doubles. */
  #refused = false
  #trial: { readonly from: number; readonly rate: number } | undefined
  #patience = 0
  #nextPatience = FIRST_PATIENCE
  #measured: Measurement | undefined
  #waitingSince: number | undefined

  /** `most`: never more than so many. `start`: what an earlier run found worth it. */
  constructor(most: number, start = START) {
    this.#most = most
    this.#allowed = Math.min(start, most)
    this.#proven = this.#allowed
  }

  get allowed(): number {
    return this.#allowed
  }

  /** So many have been found worth it. */
  get learnt(): number {
    return this.#trial?.from ?? this.#allowed
  }

  /** The reader has a body ready, or could make one, and there is no place for it. */
  waits(now: number): void {
    this.#waitingSince ??= now
  }

  /** The reader goes on. */
  goesOn(now: number): void {
    if (this.#measured !== undefined) this.#measured.waitedMs += this.#waitedUntil(now, this.#measured.from)
    this.#waitingSince = undefined
  }

  /** A request that was sent at `sentAt` was taken, all of it. */
  answered(sentAt: number, bytes: number, now: number): void {
    if (sentAt < this.#since) return
    // Of the first request with so many under way only the end is seen: from there on it is measured.
    if (this.#measured === undefined) return this.#measure(now)
    this.#measured.answers += 1
    this.#measured.bytes += bytes
    const elapsedMs = now - this.#measured.from
    // Answers come in bunches, one for each place: whole rounds alone make a rate.
    if (elapsedMs < MEASURED_MS || this.#measured.answers % this.#allowed !== 0) return
    const rate = this.#measured.bytes / elapsedMs
    const waited = (this.#measured.waitedMs + this.#waitedUntil(now, this.#measured.from)) / elapsedMs
    this.#measure(now)
    this.#judge(rate, waited, now)
  }

  /** A request that was sent at `sentAt` was refused as too much for now, in all or in part, or was lost. */
  refused(sentAt: number, now: number): void {
    // All that was under way tells of the same pressure.
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
