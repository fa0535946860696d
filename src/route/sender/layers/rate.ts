/** The layer that spreads requests over time, so that bytes or documents per second stay below a limit. */
import type { Batch, Clock } from '../../../base/flow.js'
import type { Send } from '../send.js'

/** Unused time that a bucket keeps: as long as a timer may be late. More would make bursts. */
const KEPT_MS = 100
/** A limit that changes is read again at least this often. */
const LONGEST_SLEEP_MS = 60_000
/** No body is made smaller. */
const LEAST_BYTES = 1000

interface BucketOptions {
  /** `documents` counts each document once, and `bytes` also counts retries, answers and TLS. */
  readonly counts: 'bytes' | 'documents'
  /** Infinity: no limit at present. */
  perSecond(): number
  readonly clock: Clock
}

/**
 * A token bucket for all requests of a load, and for all loads over one connection. A request passes as soon as everything before it is paid
 * for. Then the next one waits until the request is paid for, so the first request is the largest burst.
 */
export class TokenBucket {
  readonly #options: BucketOptions
  /** Returns the bytes on the wire so far. */
  #used: () => number = () => 0
  /** The least bytes of the requests that passed. Their headers, answers and retries show up in `#used`. */
  #charged = 0
  #spent = 0
  #level = 0
  #at: number | undefined
  /** Settles when the request before has passed. */
  #turn: Promise<void> = Promise.resolve()
  /** Batches whose documents are counted. */
  readonly #counted = new WeakSet<Batch>()

  constructor(options: BucketOptions) {
    this.#options = options
  }

  /** Takes the meter of a connection. What the connection has carried so far costs nothing. */
  meter(used: () => number): void {
    if (this.#options.counts === 'documents') return
    this.#used = used
    this.#charged = this.#spent = used()
  }

  /** How large a body should be: about a second's worth, so that bodies are no bursts either. */
  get bodyBytes(): number {
    const { counts, perSecond } = this.#options
    return counts === 'documents' ? Infinity : Math.max(LEAST_BYTES, Math.floor(perSecond()))
  }

  /** Resolves when the request may be sent, or when nothing may be sent any more. Requests pass in the order of arrival. */
  async take(batch: Batch, bytes: number, halted: AbortSignal): Promise<void> {
    const passed = this.#turn.then(async () => await this.#pass(batch, bytes, halted))
    this.#turn = passed
    await passed
  }

  async #pass(batch: Batch, bytes: number, halted: AbortSignal): Promise<void> {
    for (this.#fill(); this.#level < 0 && !halted.aborted; this.#fill()) {
      const ms = Math.min(LONGEST_SLEEP_MS, Math.ceil((-this.#level / this.#options.perSecond()) * 1000))
      await this.#options.clock.sleep(ms, halted).catch(() => undefined)
    }
    if (!halted.aborted) this.#charged = Math.max(this.#charged, this.#used()) + this.#costOf(batch, bytes)
  }

  #costOf(batch: Batch, bytes: number): number {
    if (this.#options.counts === 'bytes') return bytes
    if (this.#counted.has(batch)) return 0
    this.#counted.add(batch)
    return batch.docs
  }

  /** Adds what the time since the last look is worth, and takes off what was spent in it. */
  #fill(): void {
    const { clock, perSecond } = this.#options
    const now = clock.now()
    const rate = perSecond()
    const spent = Math.max(this.#charged, this.#used())
    if (rate === Infinity) this.#level = 0
    else {
      const gained = ((now - (this.#at ?? now)) * rate) / 1000
      this.#level = Math.min(this.#level + gained - (spent - this.#spent), (KEPT_MS * rate) / 1000)
    }
    this.#at = now
    this.#spent = spent
  }
}

/** Holds a request back until every bucket lets it pass. */
export function spread(buckets: readonly TokenBucket[], halted: AbortSignal, inner: Send): Send {
  if (buckets.length === 0) return inner
  return async request => {
    const { body, batch, wire } = request
    for (const bucket of buckets) await bucket.take(batch, (wire?.bytes ?? body.bytes).length, halted)
    return await inner(request)
  }
}
