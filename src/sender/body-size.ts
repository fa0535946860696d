/**
 * How large a body may be: smaller once the cluster found one too large. What an earlier run found may be out of date, so one
 * larger body is tried, and after it another as long as they pass. What this run found stays.
 */

/** However small a body the cluster finds too large: so many bytes are worth a request of their own. */
const SMALLEST_BYTES = 64 << 10

export class BodySize {
  readonly #most: number
  /** More than this run sends passed before. */
  readonly #beyond: number | undefined
  #known: number
  /** `later`: once a body was taken. */
  #trial: 'none' | 'later' | 'due' | 'under way'

  /** `known`: what passed in an earlier run. */
  constructor(most: number, known = most) {
    this.#most = most
    this.#beyond = known > most ? known : undefined
    this.#known = Math.min(known, most)
    this.#trial = this.#known < most ? 'later' : 'none'
  }

  /** What the next body may be. */
  get next(): number {
    return this.#trial === 'due' ? this.#larger : this.#known
  }

  /** What passes, as far as is known; undefined where no body was too large. */
  get learnt(): number | undefined {
    return this.#known < this.#most ? this.#known : this.#beyond
  }

  /** A body is on its way. */
  sent(bytes: number): void {
    if (this.#trial === 'due' && bytes > this.#known) this.#trial = 'under way'
  }

  /** A body, or a part of one, was small enough. */
  taken(bytes: number): void {
    if (this.#trial === 'later') this.#trial = 'due'
    if (this.#trial !== 'under way' || bytes <= this.#known) return
    this.#known = this.#larger
    this.#trial = this.#known < this.#most ? 'due' : 'none'
  }

  tooLarge(bytes: number): void {
    const isTrial = this.#trial === 'under way' && bytes > this.#known
    this.#trial = 'none'
    // Its halves are sent next: what passes of them is what later bodies are like.
    if (!isTrial) this.#known = Math.min(this.#known, Math.max(SMALLEST_BYTES, bytes >> 1))
  }

  get #larger(): number {
    return Math.min(this.#known * 2, this.#most)
  }
}
