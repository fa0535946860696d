/** The table in front of a block: the width of each code, as runs that have codes of their own (RFC 1951, 3.2.7). */
import {
  DISTANCE_WIDTHS,
  ROW,
  RUN_CODES,
  RUN_COUNTS,
  RUN_EXTRAS,
  RUN_WIDTHS,
  RUNS,
  WIDTHS,
} from '../layout'
import { flush, put } from './bits'
import { addTo, codeOf, makeCodes, widthOf } from './codes'

const RUN_SYMBOLS: u32 = 19
/** The last width again; few zeros; many zeros. Each has a number of bits behind it. */
const AGAIN: u32 = 16
const FEW_ZEROS: u32 = 17
const MANY_ZEROS: u32 = 18

let literals: u32 = 0
let distances: u32 = 0
let runs: u32 = 0
let written: u32 = 0

/** Prepares the table. Returns how many bits it takes. */
export function prepareTable(): u32 {
  literals = 286
  while (literals > 257 && load<u8>(WIDTHS + literals - 1) === 0) literals -= 1
  distances = 30
  while (distances > 1 && load<u8>(DISTANCE_WIDTHS + distances - 1) === 0) distances -= 1
  memory.copy(ROW, WIDTHS, literals)
  memory.copy(ROW + literals, DISTANCE_WIDTHS, distances)
  findRuns(literals + distances)
  makeCodes(RUN_COUNTS, RUN_SYMBOLS, 7, RUN_WIDTHS, RUN_CODES)
  written = RUN_SYMBOLS
  while (written > 4 && load<u8>(RUN_WIDTHS + order(written - 1)) === 0) written -= 1
  let bits: u32 = 3 + 5 + 5 + 4 + 3 * written
  for (let symbol: u32 = 0; symbol < RUN_SYMBOLS; symbol += 1) {
    bits += load<u32>(RUN_COUNTS + symbol * 4) * (u32(load<u8>(RUN_WIDTHS + symbol)) + extraBits(symbol))
  }
  return bits
}

function findRuns(widths: u32): void {
  memory.fill(RUN_COUNTS, 0, 4 * RUN_SYMBOLS)
  runs = 0
  for (let at: u32 = 0; at < widths; ) {
    const width = u32(load<u8>(ROW + at))
    let end = at + 1
    while (end < widths && load<u8>(ROW + end) === u8(width)) end += 1
    let left = end - at
    at = end
    if (width > 0) {
      add(width, 0)
      left -= 1
    }
    while (left >= 3) left -= addRun(width, left)
    for (; left > 0; left -= 1) add(width, 0)
  }
}

/** Returns how many widths the run holds. */
function addRun(width: u32, left: u32): u32 {
  if (width > 0) {
    const length = min<u32>(left, 6)
    add(AGAIN, length - 3)
    return length
  }
  const length = min<u32>(left, 138)
  if (length <= 10) add(FEW_ZEROS, length - 3)
  else add(MANY_ZEROS, length - 11)
  return length
}

function add(symbol: u32, extra: u32): void {
  store<u8>(RUNS + runs, symbol)
  store<u8>(RUN_EXTRAS + runs, extra)
  runs += 1
  addTo(RUN_COUNTS + symbol * 4, 1)
}

// @ts-ignore: decorator
@inline
function extraBits(symbol: u32): u32 {
  return symbol < AGAIN ? 0 : symbol === AGAIN ? 2 : symbol === FEW_ZEROS ? 3 : 7
}

/** The widths of these codes come in an order of their own: those that are often missing last. */
function order(at: u32): u32 {
  if (at < 3) return AGAIN + at
  if (at === 3) return 0
  // 8, 7, 9, 6, 10, 5, … 15
  return at & 1 ? 8 - ((at - 3) >> 1) : 8 + ((at - 4) >> 1)
}

export function writeTable(isLast: bool): void {
  put(u32(isLast) | (2 << 1), 3)
  put(literals - 257, 5)
  put(distances - 1, 5)
  put(written - 4, 4)
  flush()
  for (let at: u32 = 0; at < written; at += 1) {
    put(load<u8>(RUN_WIDTHS + order(at)), 3)
    flush()
  }
  for (let at: u32 = 0; at < runs; at += 1) {
    const symbol = u32(load<u8>(RUNS + at))
    const entry = load<u32>(RUN_CODES + symbol * 4)
    put(codeOf(entry), widthOf(entry))
    put(load<u8>(RUN_EXTRAS + at), extraBits(symbol))
    flush()
  }
}
