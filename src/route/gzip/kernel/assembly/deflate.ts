/** Deflates a stream, block by block (RFC 1951). All memory is JavaScript's: nothing is allocated here. */
import {
  BLOCK_BYTES,
  CODES,
  COUNTS,
  DISTANCES,
  DISTANCE_CODES,
  DISTANCE_COUNTS,
  DISTANCE_WIDTHS,
  INPUT,
  LEAST_DISTANCES,
  LEAST_LENGTHS,
  LENGTH_CODES,
  LENGTH_SYMBOLS,
  OUTPUT,
  PLACES,
  PLACES_BYTES,
  STEPS,
  SYMBOLS,
  WIDTHS,
  WINDOW,
  WINDOW_BYTES,
} from '../layout'
import { align, beginAt, beginStream, end, flush, goOnWith, put, waiting, waitingBits } from './bits'
import { codeOf, makeCodes, widthOf } from './codes'
import { END_OF_BLOCK, findSteps, stepsEnd, tail } from './steps'
import { distanceBits, distanceSymbol, laySymbols, lengthBits } from './symbols'
import { prepareTable, writeTable } from './table'

const CODES_AT: usize = CODES
const FIRST_LENGTH: u32 = 257
const LONGEST_STORED: u32 = 65_535

/** How many bytes of the stream lie before the block. */
let passed: u32 = 0

/** Once for each memory. */
export function open(): void {
  laySymbols()
}

export function begin(): void {
  passed = 0
  beginStream()
  memory.fill(PLACES, 0, PLACES_BYTES)
}

/** Deflates up to `BLOCK_BYTES` bytes at `INPUT`. Writes the output at `OUTPUT`, and returns its end. */
export function deflate(bytes: u32, isLast: bool): usize {
  const to: usize = INPUT + bytes
  beginAt(OUTPUT)
  // Place 0 means none: it lies further back than any match may.
  findSteps(INPUT, to, INPUT - passed - WINDOW_BYTES - 1, passed === 0 ? INPUT : WINDOW)
  makeCodes(COUNTS, 286, 15, WIDTHS, CODES)
  makeCodes(DISTANCE_COUNTS, 30, 15, DISTANCE_WIDTHS, DISTANCE_CODES)
  if (prepareTable() + bitsOfSteps() > 8 * bytes + 16) writeStored(to, isLast)
  else {
    writeTable(isLast)
    layLengths()
    writeSteps()
  }
  if (isLast) align()
  passed += bytes
  if (bytes === BLOCK_BYTES) memory.copy(WINDOW, INPUT + BLOCK_BYTES - WINDOW_BYTES, WINDOW_BYTES)
  return end
}

function bitsOfSteps(): u32 {
  let bits: u32 = 0
  for (let symbol: u32 = 0; symbol < 286; symbol += 1) {
    const extra = symbol < FIRST_LENGTH ? 0 : lengthBits(symbol - FIRST_LENGTH)
    bits += load<u32>(COUNTS + symbol * 4) * (u32(load<u8>(WIDTHS + symbol)) + extra)
  }
  for (let symbol: u32 = 0; symbol < 30; symbol += 1) {
    bits += load<u32>(DISTANCE_COUNTS + symbol * 4) * (u32(load<u8>(DISTANCE_WIDTHS + symbol)) + distanceBits(symbol))
  }
  return bits
}

/** Copies what does not get smaller. */
function writeStored(to: usize, isLast: bool): void {
  let from: usize = INPUT
  do {
    const bytes = min<u32>(u32(to - from), LONGEST_STORED)
    put(u32(isLast && from + bytes === to), 3)
    flush()
    align()
    store<u16>(end, bytes)
    store<u16>(end, ~bytes, 2)
    memory.copy(end + 4, from, bytes)
    beginAt(end + 4 + bytes)
    from += bytes
  } while (from < to)
}

/** Puts code, extra bits and their width into one word for each length: the width into the upper byte. */
function layLengths(): void {
  for (let length: u32 = 3; length <= 258; length += 1) {
    const symbol = u32(load<u8>(LENGTH_SYMBOLS + length))
    const entry = load<u32>(CODES + (FIRST_LENGTH + symbol) * 4)
    const width = widthOf(entry)
    const extra = length - load<u32>(LEAST_LENGTHS + symbol * 4)
    store<u32>(LENGTH_CODES + length * 4, codeOf(entry) | (extra << width) | ((width + lengthBits(symbol)) << 24))
  }
}

/** Keeps the bits that wait in variables of its own: with those of `bits.ts`, the whole kernel is a sixth slower. */
function writeSteps(): void {
  let bits = waiting
  let count = waitingBits
  let out = end
  let at: usize = INPUT
  const last = stepsEnd
  for (let step: usize = STEPS; ; step += 8) {
    const isTail = step === last
    let literals = isTail ? tail : load<u32>(step)
    for (; literals >= 3; literals -= 3) {
      const one = load<u32>(CODES_AT + (usize(load<u8>(at)) << 2))
      bits |= u64(codeOf(one)) << count
      count += widthOf(one)
      const two = load<u32>(CODES_AT + (usize(load<u8>(at, 1)) << 2))
      bits |= u64(codeOf(two)) << count
      count += widthOf(two)
      const three = load<u32>(CODES_AT + (usize(load<u8>(at, 2)) << 2))
      bits |= u64(codeOf(three)) << count
      count += widthOf(three)
      store<u64>(out, bits)
      out += usize(count >> 3)
      bits >>= count & ~7
      count &= 7
      at += 3
    }
    for (; literals > 0; literals -= 1) {
      const one = load<u32>(CODES_AT + (usize(load<u8>(at)) << 2))
      bits |= u64(codeOf(one)) << count
      count += widthOf(one)
      at += 1
    }
    store<u64>(out, bits)
    out += usize(count >> 3)
    bits >>= count & ~7
    count &= 7
    if (isTail) break
    const match = load<u32>(step, 4)
    const length = match & 0xffff
    const distance = match >> 16
    const lengthCode = load<u32>(LENGTH_CODES + length * 4)
    bits |= u64(lengthCode & 0xff_ffff) << count
    count += lengthCode >> 24
    const symbol = distanceSymbol(distance)
    const entry = load<u32>(DISTANCE_CODES + symbol * 4)
    bits |= u64(codeOf(entry)) << count
    count += widthOf(entry)
    bits |= u64(distance - load<u32>(LEAST_DISTANCES + symbol * 4)) << count
    count += distanceBits(symbol)
    store<u64>(out, bits)
    out += usize(count >> 3)
    bits >>= count & ~7
    count &= 7
    at += length
  }
  goOnWith(bits, count, out)
  const ending = load<u32>(CODES + END_OF_BLOCK * 4)
  put(codeOf(ending), widthOf(ending))
  flush()
}
