/**
 * The layer that keeps the traffic of a run within a number of bytes. It makes bodies small enough for what is left. A request that might not fit waits for the answers of those
 * under way, so that Sluice knows their size and need not guess. If it does not fit then, nothing more is sent.
 */
import { type Send, STOPPING } from '../send.js'

/** Bytes of an answer for each stored item. The largest answer so far replaces this guess. */
const ANSWER_BYTES = 48
/** Bytes of an answer about an index, until one was seen. */
const REPLY_BYTES = 2048
/** Bytes on the wire for each byte of a body, until one was sent: its answer may be three times as long as the smallest documents. */
const WIRE_SHARE = 4
/** No body is made smaller. */
const SMALLEST_BYTES = 1000
/** Bodies so small that headers dominate wait until more of the budget is known to be free. */
const WORTH_SENDING = 4
/** Records of TLS, in two layers if the proxy is reached over TLS too. */
const FRAMING_SHARE = 1 / 200

interface ByteBudgetOptions {
  /** Bytes in both directions. */
  readonly limit: number
  /** Returns the bytes that went over the wire so far. */
  used(): number
  /** Bytes of a request besides body and answer: headers, and perhaps a new connection. */
  readonly overhead: number
  /** Raises the limit by so many bytes or more, if it shares them with others and they are left. Resolves to whether it did. */
  raise?(missing: number): Promise<boolean>
  /** How high the limit may become. Default: it stays. */
  readonly reach?: number
  /** Reports that the next request does not fit. Called once. */
  onSpent(spent: Spent): void
}

export interface Spent {
  readonly used: number
  readonly needed: number
  /** Nothing of its kind was sent before. Another run of this budget would come no further. */
  readonly isFirst: boolean
}

/** A body as it is sent. */
interface SentBody {
  readonly items: number
  /** Bytes that go over the wire, and bytes before compression. */
  readonly sent: number
  readonly framed: number
}

/** A request that fits. */
export interface Admission {
  /** Takes the length of its answer, and ends the request. */
  readonly answered: (bytes: number) => void
  /** Ends the request, answered or not. */
  readonly leave: () => void
}

/** The last check before a request is sent. The request may have waited long in this layer or above. */
export function budget(limit: ByteBudget | undefined, halted: AbortSignal, inner: Send): Send {
  return async request => {
    const { items, bytes } = request.body
    const sent = request.wire?.bytes ?? bytes
    const admission = await limit?.admit({ items, sent: sent.length, framed: bytes.length })
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
  #wireShare = WIRE_SHARE
  /** Bodies that are made and have no outcome. */
  readonly #made = { bodies: 0, bytes: 0 }
  #hasAdmitted = false
  #hasSent = false
  #isClosed = false
  /** Settles when the request before was admitted, or refused. */
  #turn: Promise<unknown> = Promise.resolve()
  /** Wakes the request whose turn it is. */
  #waiting: (() => void) | undefined
  /** Wakes the reader. */
  #reader: (() => void) | undefined

  constructor(options: ByteBudgetOptions) {
    this.#options = options
  }

  /** How large the next body may be, so that it fits beside those that are made. */
  get bodyBytes(): number {
    return Math.max(SMALLEST_BYTES, Math.floor(this.#left / this.#wireShare))
  }

  /** Bytes on the wire for the next body and its answer, if each body that is made costs what is expected. */
  get #left(): number {
    const { limit, reach = limit, used, overhead } = this.#options
    const { bodies, bytes } = this.#made
    return reach - this.#spare - used() - (bodies + 1) * overhead - bytes * this.#wireShare
  }

  /** Counts a body as made until its delivery ends. */
  async whileMade<T>(bytes: number, delivery: () => Promise<T>): Promise<T> {
    this.#make(1, bytes)
    try {
      return await delivery()
    } finally {
      this.#make(-1, -bytes)
      this.#wakeReader()
    }
  }

  /** Resolves when it is worth to make one more body beside others. For one reader. */
  async room(): Promise<void> {
    const least = this.#options.overhead * WORTH_SENDING
    while (!this.#isClosed && this.#made.bodies > 0 && this.#left < least)
      await new Promise<void>(resolve => (this.#reader = resolve))
  }

  /** Resolves when the request may be sent. `framed`: its body before compression. Undefined: nothing may be sent any more. */
  async admit({ items, sent, framed }: SentBody): Promise<Admission | undefined> {
    const answered = (bytes: number) => void (this.#answerBytes = Math.max(this.#answerBytes, bytes / items))
    const isFirst = () => !this.#hasSent
    const admission = await this.#enter(() => this.#framed(sent + items * this.#answerBytes), answered, isFirst)
    if (admission !== undefined) this.#learn((sent + items * this.#answerBytes) / framed)
    return admission
  }

  /** Admits a request without documents. `answerBytes`: most bytes of its answer. Default: as many as the longest so far. */
  async admitQuestion(bodyBytes: number, answerBytes?: number): Promise<Admission | undefined> {
    const answered = (bytes: number) => {
      if (answerBytes === undefined) this.#replyBytes = Math.max(this.#replyBytes, bytes)
    }
    const isFirst = () => !this.#hasAdmitted
    return await this.#enter(() => this.#framed(bodyBytes + (answerBytes ?? this.#replyBytes)), answered, isFirst)
  }

  /** Admits fresh connections, each with one small request. */
  async admitConnections(count: number): Promise<Admission | undefined> {
    return await this.#enter(
      () => count * this.#options.overhead,
      () => undefined,
      () => false,
    )
  }

  /** Nothing more is admitted. */
  close(): void {
    this.#isClosed = true
    this.#wake()
    this.#wakeReader()
  }

  /** Admits in the order of arrival. Else small requests would always overtake the large ones that a run needs. */
  async #enter(
    needs: () => number,
    answered: (bytes: number) => void,
    isFirst: () => boolean,
  ): Promise<Admission | undefined> {
    const before = this.#turn
    const admission = before.then(async () => await this.#fit(needs, answered, isFirst))
    this.#turn = admission
    return await admission
  }

  async #fit(
    needs: () => number,
    answered: (bytes: number) => void,
    isFirst: () => boolean,
  ): Promise<Admission | undefined> {
    for (;;) {
      if (this.#isClosed) return undefined
      const { limit, onSpent } = this.#options
      const needed = needs()
      const used = this.#options.used()
      // Bytes of requests under way count twice, in `used` and as reserved. Their end is awaited before a request is refused.
      const missing = used + this.#reserved + needed + this.#spare - limit
      if (missing <= 0) return this.#reserve(needed, answered)
      if ((await this.#options.raise?.(missing)) === true) continue
      if (this.#underWay === 0) {
        this.close()
        onSpent({ used, needed, isFirst: isFirst() })
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

  /** The bodies so far are the measure for the next ones, which are like them. */
  #learn(share: number): void {
    const framed = share * (1 + FRAMING_SHARE)
    this.#wireShare = this.#hasSent ? Math.max(this.#wireShare, framed) : framed
    this.#hasSent = true
    this.#wakeReader()
  }

  #make(bodies: number, bytes: number): void {
    this.#made.bodies += bodies
    this.#made.bytes += bytes
  }

  #reserve(bytes: number, answered: (bytes: number) => void): Admission {
    this.#hasAdmitted = true
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

  #wakeReader(): void {
    this.#reader?.()
    this.#reader = undefined
  }
}
