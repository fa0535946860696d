/** Decides which requests are compressed, and says why. */
import type { Clock } from '../../../base/flow.js'

/** What became of requests, and why: the end of a sentence for people. */
export interface Compression {
  readonly used: 'gzip' | 'none'
  readonly why: string
}

interface AcceptedRequest {
  /** Of its body before compression. */
  readonly bytes: number
  readonly wasCompressed: boolean
  /** From its body to its answer, in milliseconds, and the part of that until it was compressed. */
  readonly ms: number
  readonly compressingMs: number
}

export interface Compressing {
  /** Returns whether the next request is compressed. */
  isNext(): boolean
  /** A request was accepted. */
  answered(request: AcceptedRequest): void
  /** What was chosen so far. Undefined if there was no choice. */
  readonly chosen: Compression | undefined
}

/** Stands before the load begins, or is left to a measurement. `why`: absent if Sluice had no choice. */
export type CompressionChoice = { readonly isGzip: boolean; readonly why?: string } | 'measured'

export function compressingBy(choice: CompressionChoice, clock: Pick<Clock, 'now'>): Compressing {
  if (choice === 'measured') return new MeasuredRoute(clock)
  const { isGzip, why } = choice
  const chosen = why === undefined ? undefined : ({ used: isGzip ? 'gzip' : 'none', why } as const)
  return { isNext: () => isGzip, answered: () => undefined, chosen }
}

/** A phase is at least so long, and has at least so many answers… */
const PHASE_MS = 2_000
const ANSWERS = 8
/** …but a trial never takes longer than this. */
const LONGEST_MS = 6_000
/** If requests spend less of their time in the compressor, it holds nothing up. The cluster spends some on the other end, too. */
const BUSY = 0.3
/** A gain below this may be chance. */
const GAIN = 1.1

/**
 * Measures a route on which bytes cost nothing but time. Compresses first. If requests spend much of their time in the compressor, the
 * next ones are sent as they are, and the faster way is kept.
 */
class MeasuredRoute implements Compressing {
  readonly #clock: Pick<Clock, 'now'>
  #isGzip = true
  #phase = newPhase()
  /** Bytes per second with compression, and when the trial without it began. */
  #trial: { readonly gzipRate: number; readonly since: number } | undefined
  #chosen: Compression = { used: 'gzip', why: 'the load ended before the route was measured' }
  #isOver = false

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  get chosen(): Compression {
    return this.#chosen
  }

  isNext(): boolean {
    const trial = this.#isOver ? undefined : this.#trial
    if (trial !== undefined && this.#clock.now() - trial.since > 2 * LONGEST_MS)
      this.#choose('gzip', 'requests without it were not answered')
    return this.#isGzip
  }

  answered({ bytes, wasCompressed, ms, compressingMs }: AcceptedRequest): void {
    if (this.#isOver || wasCompressed !== this.#isGzip) return
    const now = this.#clock.now()
    const phase = this.#phase
    // The first answer starts the clock of the phase.
    if (phase.since === undefined) {
      phase.since = now
      return
    }
    phase.bytes += bytes
    phase.answers += 1
    phase.ms += ms
    phase.compressingMs += compressingMs
    const length = now - phase.since
    const isEnough = length >= PHASE_MS && phase.answers >= ANSWERS
    const rate = (phase.bytes / length) * 1000
    if (this.#trial !== undefined) {
      if (isEnough || length >= LONGEST_MS) this.#compare(this.#trial.gzipRate, rate)
    } else if (isEnough) this.#endFirst(phase, rate, now)
    // An input that pauses says nothing of the route.
    else if (length >= LONGEST_MS) this.#phase = newPhase()
  }

  #endFirst({ ms, compressingMs }: Phase, gzipRate: number, now: number): void {
    if (compressingMs < BUSY * ms)
      return this.#choose('gzip', `on this route, compression holds nothing up: ${shown(gzipRate)}`)
    this.#trial = { gzipRate, since: now }
    this.#isGzip = false
    this.#phase = newPhase()
    this.#chosen = { used: 'none', why: 'the load ended while Sluice tried this route without it' }
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

interface Phase {
  /** When its first answer came. */
  since: number | undefined
  bytes: number
  answers: number
  ms: number
  compressingMs: number
}

function newPhase(): Phase {
  return { since: undefined, bytes: 0, answers: 0, ms: 0, compressingMs: 0 }
}

function shown(bytesPerSecond: number): string {
  return `${(bytesPerSecond / 1e6).toFixed(bytesPerSecond < 1e8 ? 1 : 0)} MB/s`
}
