/**
 * Adds stripes to the state of a checksum. `../plain-stripes.ts` is its twin, and says what happens to a stripe. All memory is
 * JavaScript's: nothing is allocated here.
 */
import { KEYS, STRIPE_BYTES } from '../layout'

/** Adds the bytes [from, to), whole stripes, to the state in `area`. They need not be aligned. */
export function addStripes(from: usize, to: usize, area: usize): void {
  let a = v128.load(area)
  let b = v128.load(area, 16)
  let c = v128.load(area, 32)
  let d = v128.load(area, 48)
  const keysA = v128.load(area, KEYS)
  const keysB = v128.load(area, KEYS + 16)
  const keysC = v128.load(area, KEYS + 32)
  const keysD = v128.load(area, KEYS + 48)
  for (let at = from; at < to; at += STRIPE_BYTES) {
    const turnedA = v128.xor(a, v128.load(at))
    const turnedB = v128.xor(b, v128.load(at, 16))
    const turnedC = v128.xor(c, v128.load(at, 32))
    const turnedD = v128.xor(d, v128.load(at, 48))
    a = i64x2.add(multiplied(turnedA, keysA), turnedB)
    b = i64x2.add(multiplied(turnedB, keysB), turnedC)
    c = i64x2.add(multiplied(turnedC, keysC), turnedD)
    d = i64x2.add(multiplied(turnedD, keysD), turnedA)
  }
  v128.store(area, a)
  v128.store(area, b, 16)
  v128.store(area, c, 32)
  v128.store(area, d, 48)
}

/** Two sums of two products: of words 0 and 2, and of words 1 and 3. */
// @ts-ignore: decorator
@inline
function multiplied(words: v128, keys: v128): v128 {
  return i64x2.add(i64x2.extmul_low_i32x4_u(words, keys), i64x2.extmul_high_i32x4_u(words, keys))
}
