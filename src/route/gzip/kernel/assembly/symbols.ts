/** The symbols of lengths and distances (RFC 1951, 3.2.5). Distances are those of the format less one. */
import { FAR_SYMBOLS, LEAST_DISTANCES, LEAST_LENGTHS, LENGTH_SYMBOLS, NEAR_SYMBOLS } from '../layout'

const LAST_LENGTH: u32 = 28

export function laySymbols(): void {
  let length: u32 = 3
  for (let symbol: u32 = 0; symbol < LAST_LENGTH; symbol += 1) {
    store<u32>(LEAST_LENGTHS + symbol * 4, length)
    for (let end = length + (1 << lengthBits(symbol)); length < end; length += 1) store<u8>(LENGTH_SYMBOLS + length, symbol)
  }
  // The longest length has a symbol of its own.
  store<u32>(LEAST_LENGTHS + LAST_LENGTH * 4, 258)
  store<u8>(LENGTH_SYMBOLS + 258, LAST_LENGTH)
  let distance: u32 = 0
  for (let symbol: u32 = 0; symbol < 30; symbol += 1) {
    store<u32>(LEAST_DISTANCES + symbol * 4, distance)
    for (let end = distance + (1 << distanceBits(symbol)); distance < end; distance += 1) {
      if (distance < 256) store<u8>(NEAR_SYMBOLS + distance, symbol)
      store<u8>(FAR_SYMBOLS + (distance >> 7), symbol)
    }
  }
}

/** How many bits follow the symbol of a length. */
// @ts-ignore: decorator
@inline
export function lengthBits(symbol: u32): u32 {
  return symbol < 8 || symbol === LAST_LENGTH ? 0 : (symbol - 4) >> 2
}

// @ts-ignore: decorator
@inline
export function distanceBits(symbol: u32): u32 {
  return symbol < 4 ? 0 : (symbol - 2) >> 1
}

// @ts-ignore: decorator
@inline
export function distanceSymbol(distance: u32): u32 {
  return distance < 256 ? load<u8>(NEAR_SYMBOLS + distance) : load<u8>(FAR_SYMBOLS + (distance >> 7))
}
