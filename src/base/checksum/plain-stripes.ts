import { STRIPE_BYTES } from './kernel/layout.js'

/** The first 32 binary places of the square roots of the first 16 primes. */
export const firstStripe = Uint32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
  0xcbbb9d5d,
  0x629a292a,
  0x9159015a,
  0x152fecd8,
  0x67332667,
  0x8eb44a87,
  0xdb0c2e0d,
  0x47b5481d,
)

/** Words of the following primes, but only those that are odd and at least 2^31. */
export const keys = Uint32Array.of(
  0xcf6c85d3,
  0x8b43d457,
  0xd94ebeb1,
  0xa1513c69,
  0xca320b75,
  0xec3fc3f3,
  0xd1fd8a33,
  0xeee52e4f,
  0x86305019,
  0xd7cd8173,
  0xa4b06be1,
  0xc3578c15,
  0xd2962a53,
  0xa0c06a13,
  0xae79842f,
  0xc9cda689,
)

/**
 * Adds the bytes [from, to) of a chunk, whole stripes, to the state of a checksum. The kernel does the same, about
 * thirty times as fast.
 *
 * State and stripe are 16 words of 32 bits, in four columns. First each word of the state is combined with its word of
 * the stripe by exclusive or. Then each column becomes two sums of 64 bits, from its own words and from those of the
 * next column (the first one follows the last):
 *
 *     word 0 * key 0  +  word 2 * key 2  +  the next column's words 0 and 1, as one number
 *     word 1 * key 1  +  word 3 * key 3  +  the next column's words 2 and 3, as one number
 *
 * So each word changes two columns, one of them by itself and one by a product that fills 64 bits. The next stripe
 * meets both. No change of a stripe that leaves one of its columns as it was can leave the state as it was.
 */
export function addStripesPlainly(state: Uint32Array, chunk: Uint8Array, from: number, to: number): void {
  const words = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  for (let at = from; at < to; at += STRIPE_BYTES) {
    for (let word = 0; word < WORDS; word += 1)
      combined[word] = at32(state, word) ^ words.getUint32(at + 4 * word, true)
    for (let column = 0; column < WORDS; column += COLUMN) {
      const next = (column + COLUMN) % WORDS
      addUp(state, column, column, next)
      addUp(state, column + 2, column + 1, next + 2)
    }
  }
}

const WORDS = STRIPE_BYTES / 4
const COLUMN = 4
const combined = new Uint32Array(WORDS)

/** Writes one of the two sums into the words `to` and `to + 1`, the low one first. */
function addUp(state: Uint32Array, to: number, word: number, next: number): void {
  const [first, second] = [at32(combined, word), at32(combined, word + 2)]
  const [firstKey, secondKey] = [at32(keys, word), at32(keys, word + 2)]
  const firstLow = Math.imul(first, firstKey) >>> 0
  const secondLow = Math.imul(second, secondKey) >>> 0
  const low = firstLow + secondLow + at32(combined, next)
  state[to] = low
  state[to + 1] =
    highOfProduct(first, firstKey, firstLow) +
    highOfProduct(second, secondKey, secondLow) +
    at32(combined, next + 1) +
    Math.floor(low / 2 ** 32)
}

/** Returns the upper 32 bits of a product of two words, if the lower ones are known. */
function highOfProduct(one: number, other: number, low: number): number {
  // The product is rounded to 53 bits. That is off by less than 2^11, so the quotient by far less than a half.
  return Math.floor((one * other - low) / 2 ** 32 + 0.5)
}

function at32(words: Uint32Array, index: number): number {
  return words[index] as number
}

/**
 * Returns 64 bits of a state of 16 words and of a number of bytes, in base64url. For each 64 bits of the state, and for
 * the number of bytes, no two values have the same result if everything else is equal.
 */
export function digestOf(state: Uint32Array, bytes: number): string {
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
