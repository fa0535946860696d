/**
 * The layer that keeps the traffic of a run within a number of bytes. A request that might not fit waits for the answers of those
 * under way, so that Sluice knows their size and need not guess. If it does not fit then, nothing more is sent.
 */
import type { Send } from '../send.js'
import { STOPPING } from '../verdict.js'

/** Bytes of an answer for each stored item. The largest answer so far replaces this guess. */
const ANSWER_BYTES = 48
/** Bytes of an answer about an index, until one was seen. */
const REPLY_BYTES = 2048
/** Records of TLS, in two layers if the proxy is reached over TLS too. */
const FRAMING_SHARE = 1 / 200

export interface ByteBudgetOptions {
  /** Bytes in both directions. */
  readonly limit: number
  /** Returns the bytes that went over the wire so far. */
  used(): number
  /** Bytes of a request besides body and answer: headers, and perhaps a new connection. */
  readonly overhead: number
  /** Reports that the next request does not fit. Called once. */
  onSpent(spent: { readonly used: number; readonly needed: number }): void
}

/** A request that fits. */
export interface Admission {
  /** Takes the length of its answer, and ends the request. */
  readonly answered: (bytes: number) => void
  /** Ends the request, answered or not. */
  readonly leave: () => void
}

/** The last check before a request is sent: it may have waited, here or in a layer above, for a long time. */
export function budget(limit: ByteBudget | undefined, halted: AbortSignal, inner: Send): Send {
  return async request => {
    const { length } = request.compressed ?? request.body.bytes
    const admission = await limit?.admit(length, request.body.items)
    try {
      if (halted.aborted || (limit !== undefined && admission === undefined)) return STOPPING
      if (request.isHeld?.() === true) return { kind: 'notSent', because: 'noAccess' }
      return await inner(admission === undefined ? request : { ...request, answered: admission.answered })
    } finally {
      admission?.leave()
    }
  }
}

export class ByteBudget {
  readonly #options: ByteBudgetOptions
  #underWay = 0
  #reserved = 0
  #answerBytes = ANSWER_BYTES
  #replyBytes = REPLY_BYTES
  #isClosed = false
  /** Settles when the request before was admitted, or refused. */
  #turn: Promise<unknown> = Promise.resolve()
  /** Wakes the request whose turn it is. */
  #waiting: (() => void) | undefined

  constructor(options: ByteBudgetOptions) {
    this.#options = options
  }

  /** Resolves when the request may be sent. Undefined: nothing may be sent any more. */
  async admit(bodyBytes: number, items: number): Promise<Admission | undefined> {
    const answered = (bytes: number) => void (this.#answerBytes = Math.max(this.#answerBytes, bytes / items))
    return await this.#enter(() => this.#framed(bodyBytes + items * this.#answerBytes), answered)
  }

  /** Admits a request without documents. `answerBytes`: most bytes of its answer. Default: as many as the longest so far. */
  async admitQuestion(bodyBytes: number, answerBytes?: number): Promise<Admission | undefined> {
    const answered = (bytes: number) => {
      if (answerBytes === undefined) this.#replyBytes = Math.max(this.#replyBytes, bytes)
    }
    return await this.#enter(() => this.#framed(bodyBytes + (answerBytes ?? this.#replyBytes)), answered)
  }

  /** Admits fresh connections, each with one small request. */
  async admitConnections(count: number): Promise<Admission | undefined> {
    return await this.#enter(
      () => count * this.#options.overhead,
      () => undefined,
    )
  }

  /** Nothing more is admitted. */
  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  /** Admits in the order of arrival. Else small requests would always overtake the large ones that a run needs. */
  async #enter(needs: () => number, answered: (bytes: number) => void): Promise<Admission | undefined> {
    const before = this.#turn
    const admission = before.then(async () => await this.#fit(needs, answered))
    this.#turn = admission
    return await admission
  }

  async #fit(needs: () => number, answered: (bytes: number) => void): Promise<Admission | undefined> {
    for (;;) {
      if (this.#isClosed) return undefined
      const { limit, onSpent } = this.#options
      const needed = needs()
      const used = this.#options.used()
      // Bytes of requests under way count twice, in `used` and as reserved. Their end is awaited before a request is refused.
      if (used + this.#reserved + needed <= limit - this.#spare) return this.#reserve(needed, answered)
      if (this.#underWay === 0) {
        this.close()
        onSpent({ used, needed })
        return undefined
      }
      await new Promise<void>(resolve => (this.#waiting = resolve))
    }
  }

  /** Returns the bytes on the wire for a body and its answer. */
  #framed(bytes: number): number {
    return Math.ceil(bytes * (1 + FRAMING_SHARE) + this.#options.overhead)
  }

  /** Keeps room for one request at the end of a run, about the index that it made. */
  get #spare(): number {
    return this.#options.overhead
  }

  #reserve(bytes: number, answered: (bytes: number) => void): Admission {
    let isOver = false
    const leave = () => {
      if (isOver) return
      isOver = true
      this.#underWay -= 1
      this.#reserved -= bytes
      this.#wake()
    }
    this.#underWay += 1
    this.#reserved += bytes
    return {
      answered: answer => {
        answered(answer)
        // A request that is made because of the answer must not wait for this one.
        leave()
      },
      leave,
    }
  }

  /** Wakes the next request one turn later: by then the answer's verdict is known, a loss of access for example. */
  #wake(): void {
    setImmediate(() => this.#waiting?.())
  }
}
