/**
 * Samples a run over time in bounded memory: a fixed number of buckets, which merge in pairs as the run gets longer. Time is that of
 * the processes of the run, without the pauses between them.
 */
import { addDuration, addHistogram } from './histogram.js'

/** Most buckets. A chart has no room for more. */
export const MOST_BUCKETS = 120
const FIRST_BUCKET_MS = 250
/** Most waits and most processes that are listed. */
const MOST_WAITS = 40
const MOST_PROCESSES = 40

/** The events in one part of the time. */
export interface Bucket {
  /** Documents that the target took, and documents that were rejected. */
  taken: number
  rejected: number
  /** Requests that were sent, and the bytes of their bodies. */
  requests: number
  bytes: number
  /** Requests that were not accepted, or got no answer. */
  refused: number
  /** Requests that will be sent again, by their cause. */
  readonly retries: Record<string, number>
  /** Open requests: sum over time, in request milliseconds, and the most at once. */
  openMs: number
  mostOpen: number
  /** Times from requests to answers: see `Histogram`. */
  readonly answered: number[]
}

/** Nothing was sent, because access was lost. Milliseconds on the time line. */
export interface WaitForAccess {
  readonly code: string
  readonly from: number
  /** Undefined if the wait has not ended. */
  to?: number | undefined
}

/** A process of the run. */
interface ProcessOfRun {
  /** Where it begins on the time line, in milliseconds. */
  readonly at: number
  /** ISO 8601. */
  readonly began: string
}

/** A time line as it is kept and shown. */
export interface Samples {
  readonly bucketMs: number
  /** How long the time line is, in milliseconds. */
  readonly lengthMs: number
  readonly buckets: readonly Readonly<Bucket>[]
  readonly waits: readonly WaitForAccess[]
  /** Waits that are not listed. */
  readonly moreWaits: number
  /** The first one, and the last ones. */
  readonly processes: readonly ProcessOfRun[]
}

export class Timeline {
  #bucketMs = FIRST_BUCKET_MS
  #buckets: Bucket[] = []
  #waits: WaitForAccess[] = []
  #moreWaits = 0
  #isBlocked = false
  readonly #processes: ProcessOfRun[] = []
  /** Up to when open requests are counted. */
  #until = 0
  #open = 0

  /** `earlier`: what earlier processes of the run have sampled. `began`: of this process, in ISO 8601. */
  constructor(began: string, earlier?: Samples) {
    if (earlier !== undefined) {
      this.#bucketMs = earlier.bucketMs
      this.#buckets = earlier.buckets.map(bucket => ({
        ...bucket,
        retries: { ...bucket.retries },
        answered: [...bucket.answered],
      }))
      this.#until = earlier.lengthMs
      // A process that was killed did not see the end of its wait.
      this.#waits = earlier.waits.map(wait => ({ ...wait, to: wait.to ?? earlier.lengthMs }))
      this.#moreWaits = earlier.moreWaits
      this.#processes = [...earlier.processes]
    }
    this.#processes.push({ at: this.#until, began })
    if (this.#processes.length > MOST_PROCESSES) this.#processes.splice(1, 1)
  }

  /** How long the time line is by now. New times must not be smaller. */
  get lengthMs(): number {
    return this.#until
  }

  sent(at: number, open: number, bytes: number): void {
    const bucket = this.#bucketAt(at)
    this.#open = open
    bucket.requests += 1
    bucket.bytes += bytes
    bucket.mostOpen = Math.max(bucket.mostOpen, open)
  }

  answered(at: number, open: number, ms: number, isRefused: boolean): void {
    const bucket = this.#bucketAt(at)
    this.#open = open
    addDuration(bucket.answered, ms)
    if (isRefused) bucket.refused += 1
  }

  settled(at: number, taken: number, rejected: number): void {
    const bucket = this.#bucketAt(at)
    bucket.taken += taken
    bucket.rejected += rejected
  }

  retried(at: number, code: string): void {
    const { retries } = this.#bucketAt(at)
    retries[code] = (retries[code] ?? 0) + 1
  }

  /** Called once or more while access is lost. */
  blocked(at: number, code: string): void {
    this.#bucketAt(at)
    if (this.#isBlocked) return
    this.#isBlocked = true
    if (this.#waits.length < MOST_WAITS) this.#waits.push({ code, from: this.#until })
    else this.#moreWaits += 1
  }

  unblocked(at: number): void {
    this.#bucketAt(at)
    this.#isBlocked = false
    const last = this.#waits.at(-1)
    if (last !== undefined) last.to ??= this.#until
  }

  /** Returns the samples up to now. */
  samples(at: number): Samples {
    this.#bucketAt(at)
    return {
      bucketMs: this.#bucketMs,
      lengthMs: this.#until,
      buckets: this.#buckets,
      waits: this.#waits,
      moreWaits: this.#moreWaits,
      processes: this.#processes,
    }
  }

  /** Counts open requests up to a time, and returns its bucket. */
  #bucketAt(at: number): Bucket {
    const now = Math.max(at, this.#until)
    while (now >= this.#bucketMs * MOST_BUCKETS) this.#halve()
    let from = this.#until
    for (;;) {
      const bucket = this.#bucket(Math.floor(from / this.#bucketMs))
      const end = (Math.floor(from / this.#bucketMs) + 1) * this.#bucketMs
      bucket.openMs += this.#open * (Math.min(end, now) - from)
      bucket.mostOpen = Math.max(bucket.mostOpen, this.#open)
      if (now < end) break
      from = end
    }
    this.#until = now
    return this.#bucket(Math.floor(now / this.#bucketMs))
  }

  #bucket(number: number): Bucket {
    while (this.#buckets.length <= number) this.#buckets.push(emptyBucket())
    return this.#buckets[number] as Bucket
  }

  #halve(): void {
    const pairs: Bucket[] = []
    this.#buckets.forEach((bucket, at) => {
      const pair = pairs[at >> 1]
      if (pair === undefined) pairs.push(bucket)
      else mergeBucket(pair, bucket)
    })
    this.#buckets = pairs
    this.#bucketMs *= 2
  }
}

export function emptyBucket(): Bucket {
  return { taken: 0, rejected: 0, requests: 0, bytes: 0, refused: 0, retries: {}, openMs: 0, mostOpen: 0, answered: [] }
}

/** Adds a bucket to the one before it. */
export function mergeBucket(to: Bucket, more: Readonly<Bucket>): void {
  to.taken += more.taken
  to.rejected += more.rejected
  to.requests += more.requests
  to.bytes += more.bytes
  to.refused += more.refused
  for (const [code, times] of Object.entries(more.retries)) to.retries[code] = (to.retries[code] ?? 0) + times
  to.openMs += more.openMs
  to.mostOpen = Math.max(to.mostOpen, more.mostOpen)
  addHistogram(to.answered, more.answered)
}

export interface KeptTimeline {
  readonly samples: Samples
  readonly limits: RunLimits
}

/** How much a run may send at once, and how much it found out that the cluster can handle. */
export interface RunLimits {
  readonly concurrency: number
  readonly batchBytes: number
  readonly learntConcurrency?: number
  readonly learntBytes?: number
}
