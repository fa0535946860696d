/** The number of the next document, or the offset of its line, kept in decimal: adding to it costs less than converting. */
import { NUMBER_END } from '../layout'

const END: usize = NUMBER_END
const ZERO: u8 = 0x30
const NINE: u8 = 0x39

/** Its length, at most 16: JavaScript counts no further than 2^53. */
export let digits: usize = 0

export function numberFrom(number: u64): void {
  let rest = number
  digits = 0
  do {
    digits += 1
    store<u8>(END - digits, ZERO + u8(rest % 10))
    rest /= 10
  } while (rest > 0)
}

// @ts-ignore: decorator
@inline
export function countUp(): void {
  const start = END - digits
  let at = END - 1
  while (load<u8>(at) == NINE && at >= start) {
    store<u8>(at, ZERO)
    at -= 1
  }
  if (at < start) {
    digits += 1
    store<u8>(at, ZERO + 1)
  } else store<u8>(at, load<u8>(at) + 1)
}

/** Adds the bytes of a line. */
export function countBytes(bytes: usize): void {
  let carry = u32(bytes)
  for (let at = END - 1; carry > 0; at -= 1) {
    if (at < END - digits) {
      digits += 1
      store<u8>(at, ZERO)
    }
    const sum = carry + (load<u8>(at) - ZERO)
    carry = sum / 10
    store<u8>(at, ZERO + u8(sum - carry * 10))
  }
}

// @ts-ignore: decorator
@inline
export function writeNumber(to: usize): usize {
  v128.store(to, v128.load(END - digits))
  return to + digits
}
