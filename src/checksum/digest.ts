import { highOfProduct } from './plain-stripes.js'

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
