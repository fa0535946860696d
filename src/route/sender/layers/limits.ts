/**
 * The limits of a run. One is a number of bytes: it makes bodies small enough for what is left. A request that might not fit waits for the
 * answers of those under way, so that Sluice knows their size and need not guess. If it does not fit then, nothing more is sent. The
 * others are rates: they spread requests over time, so that bytes or documents per second stay below a limit.
 */
import type { Batch, Clock } from '../../../base/flow.js'

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

/** Unused time that a bucket keeps: as long as a timer may be late. More would make bursts. */
const KEPT_MS = 100
/** A limit that changes is read again at least this often. */
const LONGEST_SLEEP_MS = 60_000

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

  /** Whether it limits bytes, and not documents. */
  get countsBytes(): boolean {
    return this.#options.counts === 'bytes'
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
    return counts === 'documents' ? Infinity : Math.max(SMALLEST_BYTES, Math.floor(perSecond()))
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
