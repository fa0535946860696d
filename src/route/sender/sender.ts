/** Sends batches, as many at once as the cluster bears, at most `concurrency`. */
import { defaults } from '../../options/describe-option.js'
import { setMaxListeners } from 'node:events'
import type { Failure } from '../../base/failure/failure.js'
import type { Batch, Clock, Outcome } from '../../base/flow.js'
import { deliver } from './deliver.js'
import type { DeliveryOptions } from './part.js'
import { access, AccessGate, type AccessOptions, PROBES_OF_LOST_ACCESS } from './layers/access.js'
import { budget, spread } from './layers/within-limits.js'
import type { ByteBudget, TokenBucket } from './layers/limits.js'
import { learn, Learning, type LearningOptions, type LearntLimits } from './layers/learn.js'
import { type Compressing, compressingBy, type Compression, type CompressionChoice } from './layers/compressing.js'
import { compareConflicts } from './layers/compare-conflicts.js'
import { Concurrency, limitConcurrency } from './layers/concurrency.js'
import { Encoder } from './layers/encode.js'
import { type Permit, permit } from './layers/permit.js'
import { post, type PostOptions } from './layers/post.js'
import { rollover, type RolloverOptions, StreamWatch } from './layers/rollover.js'
import { type RequestWatcher, watchRequests } from './layers/watch.js'
import type { Send, Settled, Verdict } from './send.js'

export interface SenderOptions extends PostOptions, LearningOptions, Omit<RolloverOptions, 'halted'> {
  /** Size of bodies, unless somebody set another one. Default: `batchBytes`. */
  readonly usualBytes?: number
  /** Which requests are compressed. */
  readonly compress: CompressionChoice
  readonly maxElapsedMs: number
  /** What to do if access is lost. */
  readonly access: AccessOptions
  readonly clock: Clock
  readonly random: () => number
  /** Limits the bytes on the wire. Absent: no limit. */
  readonly budget?: ByteBudget
  /** Limit bytes or documents per second. Absent: no limit. */
  readonly rates?: readonly TokenBucket[]
  /** Asks for leave before each request. Absent: this run needs none. */
  readonly permit?: Permit
  /** Removes the credentials of the run from what a server said. */
  readonly masked?: Mask
  onRetry(failure: Failure, documents: number, waitMs: number): void
  /** Hears of each request. */
  readonly watcher?: RequestWatcher
}

type Mask = <T>(said: T) => T

export class Sender {
  readonly #halt = new AbortController()
  readonly #budget: ByteBudget | undefined
  readonly #rates: readonly TokenBucket[]
  readonly #learning: Learning
  readonly #concurrency: Concurrency
  /** Size of bodies, if nobody set one. */
  readonly #usualBytes: number
  readonly #isUsualSize: boolean
  readonly #encoder: Encoder
  readonly #compressing: Compressing
  readonly #send: Send
  readonly #delivery: DeliveryOptions
  #retries = 0

  constructor(options: SenderOptions) {
    const { cluster, ownIds, safeToResend, maxElapsedMs, clock, wallClock, random } = options
    const halted = this.#halt.signal
    // Every body that waits for a retry listens.
    setMaxListeners(0, halted)
    this.#budget = options.budget
    this.#rates = options.rates ?? []
    this.#learning = new Learning(options)
    this.#concurrency = new Concurrency({ ownIds, safeToResend, clock, random, halted }, this.#learning)
    this.#compressing = compressingBy(options.compress, clock)
    this.#encoder = new Encoder(this.#compressing, clock)
    this.#isUsualSize = options.batchBytes === defaults.batchBytes
    this.#usualBytes = options.usualBytes ?? Infinity
    const stream = new StreamWatch({ ...options, halted })
    const gate = new AccessGate({
      ...options.access,
      clock,
      wallClock,
      random,
      halted,
      probe: async signal => await cluster.probe({ atLeast: PROBES_OF_LOST_ACCESS, signal }),
    })
    const judged = post(options, async (index, name) => await stream.of(name, false).isBehind(index))
    const compared = options.comparesConflicts === true ? compareConflicts(options, judged) : judged
    const watched = options.watcher === undefined ? compared : watchRequests(options.watcher, clock, compared)
    const posted = learn(this.#learning, mask(options.masked, watched))
    const looked = rollover(
      stream,
      spread(this.#rates, halted, budget(options.budget, halted, permit(options.permit, halted, posted))),
    )
    const passed = access(gate, () => (this.#retries += 1), looked)
    this.#send = limitConcurrency(this.#concurrency, this.#encoder.encode(passed))
    this.#delivery = {
      ownIds,
      safeToResend,
      maxElapsedMs,
      halted,
      random,
      learning: this.#learning,
      access: gate,
      onRetry: (failure, documents, waitMs) => {
        this.#retries += 1
        options.onRetry(failure, documents, waitMs)
      },
      pause: async ms => await this.#concurrency.pause(ms),
    }
  }

  get requests(): number {
    return this.#learning.requests
  }

  get retries(): number {
    return this.#retries
  }

  /** How large a body should be: smaller than `batchBytes` once the cluster found one too large, if a limit leaves less, or if it is compressed. */
  get bodyBytes(): number {
    const rates = this.#rates.map(({ bodyBytes }) => bodyBytes)
    const usual = this.#isUsualSize ? Math.min(this.#usualBytes, this.#encoder.bodyBytes) : Infinity
    return Math.min(this.#learning.bodyBytes, this.#budget?.bodyBytes ?? Infinity, usual, ...rates)
  }

  /** Whether requests are compressed, and why. Undefined if the sender had no choice. */
  get compression(): Compression | undefined {
    return this.#compressing.chosen
  }

  /** The limits that the next run may begin with. Undefined if the cluster accepted nothing. */
  get learnt(): LearntLimits | undefined {
    return this.#learning.learnt
  }

  /** Sends nothing from now on. Requests under way are awaited, other documents stay unsent. */
  halt(): void {
    this.#halt.abort()
    this.#budget?.close()
  }

  /** Resolves when one more batch may be read while others are being sent. For one reader. */
  async room(): Promise<void> {
    // First: while the compressor is what everybody waits for, more requests under way would only take memory.
    await this.#encoder.room()
    await this.#concurrency.room()
    await this.#budget?.room()
  }

  /** Resolves when every document of the batch has an outcome. The batch's memory is free then. */
  async send(batch: Batch): Promise<Outcome> {
    const { length } = batch.bytes
    this.#learning.bodySize.sent(length)
    const delivery = async () => await deliver(batch, this.#send, this.#delivery)
    return await this.#concurrency.whileOpen(
      async () => await (this.#budget?.whileMade(length, delivery) ?? delivery()),
    )
  }
}

/** Removes credentials from what a server said. It may repeat them, and reasons go to the dead letters. */
function mask(masked: Mask | undefined, inner: Send): Send {
  if (masked === undefined) return inner
  return async request => maskVerdict(await inner(request), masked)
}

function maskVerdict(verdict: Verdict, masked: Mask): Verdict {
  switch (verdict.kind) {
    case 'done':
      return { ...verdict, settled: maskSettled(verdict.settled, masked) }
    case 'retryItems':
      return { ...verdict, settled: maskSettled(verdict.settled, masked), failure: masked(verdict.failure) }
    default:
      return masked(verdict)
  }
}

/** Looks at text only, because a body may have many thousand refusals. */
function maskSettled(settled: Settled, masked: Mask): Settled {
  const { refused } = settled
  if (refused.length === 0) return settled
  const each = function* () {
    for (const one of refused) yield { ...one, type: masked(one.type), reason: masked(one.reason) }
  }
  const { length, items } = refused
  return { ...settled, refused: { length, ...(items === undefined ? {} : { items }), [Symbol.iterator]: each } }
}
