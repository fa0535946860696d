/**
 * Keeps what goes over the wire within a number of bytes. A request that could take it past them waits until those under way
 * are answered, so that what they took is known and not guessed; one that does not fit even then is not sent, nor any other.
 */

/** What an answer takes for an item that was stored, and more: the most that was seen counts from then on. */
const ANSWER_BYTES = 48
/** What one takes that tells of an index, where none was seen yet. */
const REPLY_BYTES = 2048
/** Records of TLS, in two layers where the proxy is reached by TLS too. */
const FRAMING_SHARE = 1 / 200

export interface ByteBudgetOptions {
  /** Bytes, both ways, in all. */
  readonly limit: number
  /** What went over the wire up to now. */
  used(): number
  /** What a request takes beside its body and answer: headers, and a connection that may have to be opened. */
  readonly overhead: number
  /** The next request would need so many bytes more than are left. Called once. */
  onSpent(spent: { readonly used: number; readonly needed: number }): void
}

/** A request that fits. */
export interface Admission {
  /** What its answer took. It is over with that. */
  answered(bytes: number): void
  /** It is over, well or not. */
  leave(): void
}

export class ByteBudget {
  readonly #options: ByteBudgetOptions
  #underWay = 0
  #reserved = 0
  #answerBytes = ANSWER_BYTES
  #replyBytes = REPLY_BYTES
  #isClosed = false
  /** When the last one that came has been admitted, or not. */
  #turn: Promise<unknown> = Promise.resolve()
  /** The one whose turn it is waits for room. */
  #waiting: (() => void) | undefined

  constructor(options: ByteBudgetOptions) {
    this.#options = options
  }

  /** Resolves when the request may be sent; to undefined when it may not, nor any other. */
  async admit(bodyBytes: number, items: number): Promise<Admission | undefined> {
    const answered = (bytes: number) => void (this.#answerBytes = Math.max(this.#answerBytes, bytes / items))
    return await this.#enter(() => this.#framed(bodyBytes + items * this.#answerBytes), answered)
  }

  /** The same for a request without documents. `answerBytes`: what its answer may take. Default: as the longest of them. */
  async admitQuestion(bodyBytes: number, answerBytes?: number): Promise<Admission | undefined> {
    const answered = (bytes: number) => {
      if (answerBytes === undefined) this.#replyBytes = Math.max(this.#replyBytes, bytes)
    }
    return await this.#enter(() => this.#framed(bodyBytes + (answerBytes ?? this.#replyBytes)), answered)
  }

  /** The same for fresh connections, each with one small request. */
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

  /** First come, first served: what is small would always find room before what a run cannot go on without. */
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
      // What those under way took is counted in both: they are waited for before it comes to that.
      if (used + this.#reserved + needed <= limit - this.#spare) return this.#reserve(needed, answered)
      if (this.#underWay === 0) {
        this.close()
        onSpent({ used, needed })
        return undefined
      }
      await new Promise<void>(resolve => (this.#waiting = resolve))
    }
  }

  /** Of a body and its answer, with all that goes around them. */
  #framed(bytes: number): number {
    return Math.ceil(bytes * (1 + FRAMING_SHARE) + this.#options.overhead)
  }

  /** At the end of a run the cluster may be asked once more: for the index that was made. */
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
        // Not later: what is asked because of the answer must not wait for it.
        leave()
      },
      leave,
    }
  }

  /** A turn later: what an answer says of the way is known by then, before the next request goes there. */
  #wake(): void {
    setImmediate(() => this.#waiting?.())
  }
}
