import { STRIPE_BYTES, AREA_BYTES } from './kernel/layout.js'
import { addStripesPlainly, firstStripe, highOfProduct } from './plain-stripes.js'
import { newMemory } from '../memory.js'
import { type Kernel, kernelAt, sumInPlace } from './kernel/kernel.js'

/** Sluice compares two inputs only if these first bytes have the same checksum. */
export const FIRST_BYTES = 256

/**
 * A checksum of 64 bits of the bytes that are added, in their order. It finds accidental changes: other bits, bytes that
 * are added, missing, moved or exchanged, also zeros. It misses such a change with a chance of about 2^-64. It is no
 * protection from somebody who changes bytes on purpose: other bytes with the same checksum are easy to construct.
 *
 * It never fails, holds about 300 bytes, and needs no end: a caller may drop it at any time.
 */
export class Checksum {
  readonly #state: Uint32Array
  /** Bytes behind the last whole stripe. */
  readonly #rest: Uint8Array
  #bytes = 0

  constructor() {
    this.#state = firstStripe.slice()
    this.#rest = new Uint8Array(STRIPE_BYTES)
  }

  /** Returns a checksum that continues after the first `bytes` of an input. Returns undefined if the text is not the state of a checksum. */
  static continued(state: string, bytes: number): Checksum | undefined {
    const saved = Buffer.from(state, 'base64url')
    const held = bytes % STRIPE_BYTES
    if (saved.length !== firstStripe.length * 4 + held) return undefined
    const sum = new Checksum()
    for (let word = 0; word < firstStripe.length; word += 1) sum.#state[word] = saved.readUInt32LE(word * 4)
    sum.#rest.set(saved.subarray(firstStripe.length * 4))
    sum.#bytes = bytes
    return sum
  }

  /** Returns the digest of these bytes. */
  static of(bytes: Uint8Array): string {
    const sum = new Checksum()
    sum.add(bytes)
    return sum.digest()
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

  /** Returns what another process needs to continue it, as up to 170 characters. */
  state(): string {
    const held = this.#bytes % STRIPE_BYTES
    const saved = Buffer.alloc(firstStripe.length * 4 + held)
    for (const [word, value] of this.#state.entries()) saved.writeUInt32LE(value, word * 4)
    saved.set(this.#rest.subarray(0, held), firstStripe.length * 4)
    return saved.toString('base64url')
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

/**
 * Adds the bytes [from, to) of a chunk, whole stripes, to the state of a checksum: where they lie if the kernel can read
 * that memory, otherwise through a memory of its own.
 */
function addStripesTo(state: Uint32Array, chunk: Uint8Array, from: number, to: number): void {
  const here = kernelAt(chunk.buffer)
  if (here !== undefined) here.add(state, chunk.byteOffset + from, chunk.byteOffset + to)
  else addCopied(state, chunk, from, to)
}

function addCopied(state: Uint32Array, chunk: Uint8Array, from: number, to: number): void {
  own ??= openOwn()
  const { kernel, bytes } = own
  if (kernel === undefined) return addStripesPlainly(state, chunk, from, to)
  for (let at = from; at < to; at += COPY_BYTES) {
    const end = Math.min(to, at + COPY_BYTES)
    bytes.set(chunk.subarray(at, end))
    kernel.add(state, AREA_BYTES, AREA_BYTES + end - at)
  }
}

/** Fits the CPU's first cache. */
const COPY_BYTES = 16 << 10

interface Own {
  /** Undefined if the machine has no memory for it, or no SIMD. */
  readonly kernel: Kernel | undefined
  readonly bytes: Uint8Array
}

/** Opened when it is first needed. One is enough, because nothing stays in it between two calls. */
let own: Own | undefined

function openOwn(): Own {
  const memory = newMemory(1)
  if (memory === undefined) return { kernel: undefined, bytes: new Uint8Array() }
  sumInPlace(memory, 0)
  return { kernel: kernelAt(memory.buffer), bytes: new Uint8Array(memory.buffer, AREA_BYTES, COPY_BYTES) }
}

/**
 * Returns 64 bits of a state of 16 words and of a number of bytes, in base64url. For each 64 bits of the state, and for
 * the number of bytes, no two values have the same result if everything else is equal.
 */
function digestOf(state: Uint32Array, bytes: number): string {
  let low = bytes >>> 0
  let high = Math.floor(bytes / 2 ** 32)
  const mix = (withLow: number, withHigh: number): void => {
    low = (low ^ withLow) >>> 0
    high = (high ^ withHigh) >>> 0
    // A multiplication by an odd number carries each bit upwards, and the upper half then returns to the lower one.
    const product = Math.imul(low, FACTOR_LOW) >>> 0
    high = (highOfProduct(low, FACTOR_LOW, product) + Math.imul(low, FACTOR_HIGH) + Math.imul(high, FACTOR_LOW)) >>> 0
    low = (product ^ high) >>> 0
  }
  for (let word = 0; word < state.length; word += 2) mix(state[word] ?? 0, state[word + 1] ?? 0)
  for (let round = 0; round < LAST_ROUNDS; round += 1) mix(0, 0)
  const digest = Buffer.allocUnsafe(8)
  digest.writeUInt32BE(high, 0)
  digest.writeUInt32BE(low, 4)
  return digest.toString('base64url')
}

/** The first binary places of the square roots of 359 and 383, chosen like `keys`. */
const FACTOR_HIGH = 0xf281f239
const FACTOR_LOW = 0x9204cd9d
const LAST_ROUNDS = 3
