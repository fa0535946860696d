/** The layer that lets as many requests pass at once as the cluster bears, and signals the reader when to read more. */
import pLimit, { type LimitFunction } from 'p-limit'
import type { Clock } from '../../../base/flow.js'
import { backoffMs } from '../../../base/time/retry.js'
import { type BatchIds, type Send, type Verdict, STOPPING, batchIds } from '../send.js'
import { type Learning, LOSSES_BEFORE_STOP } from './learn.js'

interface ConcurrencyOptions extends BatchIds {
  readonly clock: Clock
  readonly random: () => number
  /** Aborted when nothing more may be sent. */
  readonly halted: AbortSignal
}

/** Up to this number, bodies that wait for a retry do not keep others from being read. */
const SPARE_BODIES = 3

export class Concurrency {
  readonly options: ConcurrencyOptions
  readonly learning: Learning
  readonly #limited: LimitFunction
  /** Batches without an outcome, and those of them that wait for a retry. */
  #open = 0
  #waiting = 0
  #reader: (() => void) | undefined

  constructor(options: ConcurrencyOptions, learning: Learning) {
    this.options = options
    this.learning = learning
    this.#limited = pLimit(learning.limit.allowed)
    options.halted.addEventListener('abort', () => this.#letRead())
  }

  /** Resolves when one more batch may be read while others are being sent. For one reader. */
  async room(): Promise<void> {
    if (this.#hasRoom) return
    const { clock } = this.options
    const { limit } = this.learning
    // Counts how long the reader waits: more requests may then help.
    limit.waits(clock.now())
    await new Promise<void>(resolve => (this.#reader = resolve))
    limit.continues(clock.now())
  }

  /** Counts a batch as open until its delivery ends. */
  async whileOpen<T>(delivery: () => Promise<T>): Promise<T> {
    this.#open += 1
    try {
      return await delivery()
    } finally {
      this.#open -= 1
      this.#letRead()
    }
  }

  /** Waits before a retry. Another request may be sent meanwhile, but the body keeps its memory. Ends early if nothing more may be sent. */
  async pause(ms: number): Promise<void> {
    this.#waiting += 1
    this.#letRead()
    await this.sleep(ms)
    this.#waiting -= 1
  }

  async sleep(ms: number): Promise<void> {
    await this.options.clock.sleep(ms, this.options.halted).catch(() => undefined)
  }

  /** Waits until one more request may be open, then counts it as open until `sending` ends. */
  async take(sending: () => Promise<Verdict>): Promise<Verdict> {
    return await this.#limited(sending)
  }

  /** Lets as many requests be open as the cluster bears by now. */
  adapt(): void {
    const { allowed } = this.learning.limit
    if (this.#limited.concurrency !== allowed) this.#limited.concurrency = allowed
    this.#letRead()
  }

  get #hasRoom(): boolean {
    const { allowed } = this.learning.limit
    return this.options.halted.aborted || this.#open <= allowed + Math.min(this.#waiting, SPARE_BODIES)
  }

  #letRead(): void {
    if (!this.#hasRoom) return
    this.#reader?.()
    this.#reader = undefined
  }
}

export function limitConcurrency(taken: Concurrency, inner: Send): Send {
  const { options, learning } = taken
  const { halted, random } = options
  return async request =>
    await taken.take(async () => {
      if (halted.aborted) return STOPPING
      const verdict = await inner(request)
      taken.adapt()
      if (!isLost(verdict) || batchIds(request.batch, options).safeToResend) return verdict
      // The next body would meet the same loss, so this request stays open for a while.
      const lost = learning.lostInARow
      if (lost < LOSSES_BEFORE_STOP) await taken.sleep(backoffMs(lost, random))
      return verdict
    })
}

/** Returns whether documents may be stored or not, and no answer says which. */
function isLost(verdict: Verdict): boolean {
  return (verdict.kind === 'wait' || verdict.kind === 'retryItems') && verdict.delivery === 'possible'
}
