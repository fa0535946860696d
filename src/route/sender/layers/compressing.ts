/** Decides which requests are compressed, and says why. */
import type { Clock } from '../../../base/flow.js'

/** What became of requests, and why: the end of a sentence for people. */
export interface Compression {
  readonly used: 'gzip' | 'none'
  readonly why: string
}

export interface Compressing {
  /** Returns whether the next request is compressed. */
  isNext(): boolean
  /** A request was accepted. `bytes`: of its body before compression. */
  answered(bytes: number, wasCompressed: boolean): void
  /** Whether the compressor cannot take another body now. */
  full(isFull: boolean): void
  /** What was chosen so far. Undefined if there was no choice. */
  readonly chosen: Compression | undefined
}

/** Stands before the load begins, or is left to a measurement. `why`: absent if Sluice had no choice. */
export type CompressionChoice = { readonly isGzip: boolean; readonly why?: string } | 'measured'

export function compressingBy(choice: CompressionChoice, clock: Pick<Clock, 'now'>): Compressing {
  if (choice === 'measured') return new MeasuredRoute(clock)
  const { isGzip, why } = choice
  const chosen = why === undefined ? undefined : ({ used: isGzip ? 'gzip' : 'none', why } as const)
  return { isNext: () => isGzip, answered: () => undefined, full: () => undefined, chosen }
}

/** A phase is at least so long, and has at least so many answers… */
const PHASE_MS = 2_000
const ANSWERS = 8
/** …but never takes longer than this. */
const LONGEST_MS = 6_000
/** Below this share of the time, the compressor holds nothing up. */
const BUSY = 0.5
/** A gain below this may be chance. */
const GAIN = 1.1

/**
 * Measures a route on which bytes cost nothing but time. Compresses first. If the compressor is what holds the load up, the next
 * requests are not compressed, and the faster way is kept.
 */
class MeasuredRoute implements Compressing {
  readonly #clock: Pick<Clock, 'now'>
  #isGzip = true
  /** When the first answer of the phase came. */
  #from: number | undefined
  #bytes = 0
  #answers = 0
  #fullSince: number | undefined
  #fullMs = 0
  /** Bytes per second with compression, once that is tried out. */
  #gzipRate: number | undefined
  #chosen: Compression = { used: 'gzip', why: 'the load ended before the route was measured' }
  #isOver = false

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  get chosen(): Compression {
    return this.#chosen
  }

  isNext(): boolean {
    return this.#isGzip
  }

  answered(bytes: number, wasCompressed: boolean): void {
    if (this.#isOver || wasCompressed !== this.#isGzip) return
    const now = this.#clock.now()
    if (this.#from === undefined) {
      this.#from = now
      this.#fullMs = 0
      if (this.#fullSince !== undefined) this.#fullSince = now
      return
    }
    this.#bytes += bytes
    this.#answers += 1
    const ms = now - this.#from
    if (ms >= LONGEST_MS || (ms >= PHASE_MS && this.#answers >= ANSWERS)) this.#end(ms, now)
  }

  full(isFull: boolean): void {
    if (isFull) this.#fullSince ??= this.#clock.now()
    else if (this.#fullSince !== undefined) {
      this.#fullMs += this.#clock.now() - this.#fullSince
      this.#fullSince = undefined
    }
  }

  #end(ms: number, now: number): void {
    const rate = (this.#bytes / ms) * 1000
    if (this.#gzipRate !== undefined) return this.#compare(this.#gzipRate, rate)
    const fullMs = this.#fullMs + (this.#fullSince === undefined ? 0 : now - this.#fullSince)
    if (fullMs < BUSY * ms) return this.#choose('gzip', `on this route, compression holds nothing up: ${shown(rate)}`)
    this.#gzipRate = rate
    this.#isGzip = false
    this.#from = undefined
    this.#bytes = 0
    this.#answers = 0
  }

  #compare(gzip: number, none: number): void {
    const rates = `${shown(gzip)} with gzip, ${shown(none)} without`
    if (none > GAIN * gzip) this.#choose('none', `this route is faster than the compressor: ${rates}`)
    else this.#choose('gzip', `without it, this route is not faster: ${rates}`)
  }

  #choose(used: Compression['used'], why: string): void {
    this.#isOver = true
    this.#isGzip = used === 'gzip'
    this.#chosen = { used, why }
  }
}

function shown(bytesPerSecond: number): string {
  return `${(bytesPerSecond / 1e6).toPrecision(3)} MB/s`
}
