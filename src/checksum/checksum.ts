import { addStripesTo } from './add-stripes.js'
import { digestOf } from './digest.js'
import { STRIPE_BYTES } from './kernel/layout.js'
import { addStripesPlainly, firstState } from './plain-stripes.js'

/**
 * A checksum of 64 bits of the bytes that are added, in their order. It finds accidental changes: other bits, bytes that
 * are added, missing, moved or exchanged, also zeros. It misses such a change with a chance of about 2^-64. It is no
 * protection from somebody who changes bytes on purpose: other bytes with the same checksum are easy to construct.
 *
 * It never fails, holds about 300 bytes, and needs no end: whoever no longer wants one drops it.
 */
export class Checksum {
  readonly #state: Uint32Array
  /** Bytes behind the last whole stripe. */
  readonly #rest: Uint8Array
  #bytes = 0

  constructor() {
    this.#state = firstState.slice()
    this.#rest = new Uint8Array(STRIPE_BYTES)
  }

  /** Bytes added so far. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds the next bytes. It does not matter how the bytes are divided into chunks. The chunk is free again afterwards. */
  add(chunk: Uint8Array): void {
    const held = this.#bytes % STRIPE_BYTES
    this.#bytes += chunk.length
    let at = 0
    if (held > 0) {
      at = Math.min(STRIPE_BYTES - held, chunk.length)
      this.#rest.set(chunk.subarray(0, at), held)
      if (held + at < STRIPE_BYTES) return
      addStripesPlainly(this.#state, this.#rest, 0, STRIPE_BYTES)
    }
    const end = chunk.length - ((chunk.length - at) % STRIPE_BYTES)
    if (end > at) addStripesTo(this.#state, chunk, at, end)
    if (end < chunk.length) this.#rest.set(chunk.subarray(end))
  }

  /** Returns 64 bits of the bytes so far, as 11 characters of base64url. Bytes can be added afterwards. */
  digest(): string {
    const state = this.#state.slice()
    const held = this.#bytes % STRIPE_BYTES
    if (held > 0) {
      // The number of bytes tells these zeros from others.
      const last = new Uint8Array(STRIPE_BYTES)
      last.set(this.#rest.subarray(0, held))
      addStripesPlainly(state, last, 0, STRIPE_BYTES)
    }
    return digestOf(state, this.#bytes)
  }

  /** Returns a copy that continues by itself. */
  clone(): Checksum {
    const copy = new Checksum()
    copy.#state.set(this.#state)
    copy.#rest.set(this.#rest)
    copy.#bytes = this.#bytes
    return copy
  }
}
