/**
 * Keeps what goes over the wire within a number of bytes. A request that could take it past them waits until those under way
 * are answered, so that what they took is known and not guessed; one that does not fit even then is not sent, nor any other.
 */

/** What an answer takes for an item that was stored, and more: the most that was seen counts from then on. */
const ANSWER_BYTES = 48
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
  /** What its answer took. */
  answered(bytes: number): void
  /** It is over, well or not. */
  leave(): void
}

export class ByteBudget {
  readonly #options: ByteBudgetOptions
  #underWay = 0
  #reserved = 0
  #answerBytes = ANSWER_BYTES
  #isClosed = false
  #waiting: (() => void)[] = []

  constructor(options: ByteBudgetOptions) {
    this.#options = options
  }

  /** Resolves when the request may be sent; to undefined when it may not, nor any other. */
  async admit(bodyBytes: number, items: number): Promise<Admission | undefined> {
    for (;;) {
      if (this.#isClosed) return undefined
      const { limit, overhead, onSpent } = this.#options
      const needed = Math.ceil((bodyBytes + items * this.#answerBytes) * (1 + FRAMING_SHARE) + overhead)
      const used = this.#options.used()
      // What those under way took is counted in both: they are waited for before it comes to that.
      if (used + this.#reserved + needed <= limit - this.#spare) return this.#reserve(needed, items)
      if (this.#underWay === 0) {
        this.close()
        onSpent({ used, needed })
        return undefined
      }
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    }
  }

  /** Nothing more is admitted. */
  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  /** At the end of a run the cluster may be asked once more: for the index that was made. */
  get #spare(): number {
    return this.#options.overhead
  }

  #reserve(bytes: number, items: number): Admission {
    this.#underWay += 1
    this.#reserved += bytes
    return {
      answered: answer => {
        this.#answerBytes = Math.max(this.#answerBytes, answer / items)
      },
      leave: () => {
        this.#underWay -= 1
        this.#reserved -= bytes
        this.#wake()
      },
    }
  }

  #wake(): void {
    for (const go of this.#waiting.splice(0)) go()
  }
}
