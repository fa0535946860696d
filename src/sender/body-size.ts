/**
 * Finds how large a body may be: smaller once the cluster found one too large. A limit of an earlier run may be out of date, so
 * Sluice tries a larger body, and another one while they pass. A limit that this run found stays.
 */

/** Smallest limit, however small a body the cluster finds too large. */
const SMALLEST_BYTES = 64 << 10

export class BodySize {
  readonly #most: number
  /** A larger limit, from an earlier run that sent larger bodies. */
  readonly #beyond: number | undefined
  #known: number
  /** `later`: once a body was taken. */
  #trial: 'none' | 'later' | 'due' | 'under way'

  /** `known`: the size that passed in an earlier run. */
  constructor(most: number, known = most) {
    this.#most = most
    this.#beyond = known > most ? known : undefined
    this.#known = Math.min(known, most)
    this.#trial = this.#known < most ? 'later' : 'none'
  }

  /** How large the next body may be. */
  get next(): number {
    return this.#trial === 'due' ? this.#larger : this.#known
  }

  /** The largest size that is known to pass. Undefined: no body was too large. */
  get learnt(): number | undefined {
    return this.#known < this.#most ? this.#known : this.#beyond
  }

  /** Counts a body that is sent. */
  sent(bytes: number): void {
    if (this.#trial === 'due' && bytes > this.#known) this.#trial = 'under way'
  }

  /** Counts a body, or a part of one, that was small enough. */
  taken(bytes: number): void {
    if (this.#trial === 'later') this.#trial = 'due'
    if (this.#trial !== 'under way' || bytes <= this.#known) return
    this.#known = this.#larger
    this.#trial = this.#known < this.#most ? 'due' : 'none'
  }

  tooLarge(bytes: number): void {
    const isTrial = this.#trial === 'under way' && bytes > this.#known
    this.#trial = 'none'
    // Its halves are sent next, and later bodies are made like them.
    if (!isTrial) this.#known = Math.min(this.#known, Math.max(SMALLEST_BYTES, bytes >> 1))
  }

  get #larger(): number {
    return Math.min(this.#known * 2, this.#most)
  }
}
