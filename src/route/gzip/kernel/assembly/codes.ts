/** Huffman codes of at most a number of bits. A code and its width share a word: see `codeOf` and `widthOf`. */
import { PARENTS, SORTED, WEIGHTS, WIDTH_COUNTS } from '../layout'

/** In the sorted list, a symbol lies in the lowest bits of a word and its count above: a block has less than 2^18 bytes. */
const SYMBOL_BITS: u32 = 9
const SYMBOL_MASK: u32 = (1 << SYMBOL_BITS) - 1

// @ts-ignore: decorator
@inline
export function codeOf(entry: u32): u32 {
  return entry & 0xffff
}

// @ts-ignore: decorator
@inline
export function widthOf(entry: u32): u32 {
  return entry >> 16
}

/** Makes codes for symbols that occur `counts` times. A decoder wants complete codes, so there are always two of them. */
export function makeCodes(counts: usize, symbols: u32, mostBits: u32, widths: usize, codes: usize): void {
  memory.fill(widths, 0, symbols)
  const used = sortByCount(counts, symbols)
  if (used < 2) {
    const only = used === 0 ? 0 : load<u32>(SORTED) & SYMBOL_MASK
    store<u8>(widths + only, 1)
    store<u8>(widths + (only === 0 ? 1 : 0), 1)
  } else {
    countWidths(used, mostBits)
    shorten(mostBits)
    giveWidths(mostBits, widths)
  }
  numberCodes(widths, symbols, codes)
}

/** Sorts the symbols that occur, rare ones first (comb sort). Returns how many. */
function sortByCount(counts: usize, symbols: u32): u32 {
  let used: u32 = 0
  for (let symbol: u32 = 0; symbol < symbols; symbol += 1) {
    const count = load<u32>(counts + symbol * 4)
    if (count === 0) continue
    store<u32>(SORTED + used * 4, (count << SYMBOL_BITS) | symbol)
    used += 1
  }
  for (let gap = used >> 1; gap > 0; gap = gap === 2 ? 1 : (gap * 5) / 11) {
    for (let at = gap; at < used; at += 1) {
      const entry = load<u32>(SORTED + at * 4)
      let to = at
      for (; to >= gap && load<u32>(SORTED + (to - gap) * 4) > entry; to -= gap) {
        store<u32>(SORTED + to * 4, load<u32>(SORTED + (to - gap) * 4))
      }
      store<u32>(SORTED + to * 4, entry)
    }
  }
  return used
}

/** Builds the tree from two queues, leaves and inner nodes, both in ascending order. Counts how many leaves lie how deep. */
function countWidths(used: u32, mostBits: u32): void {
  for (let leaf: u32 = 0; leaf < used; leaf += 1) store<u32>(WEIGHTS + leaf * 4, load<u32>(SORTED + leaf * 4) >> SYMBOL_BITS)
  const root: u32 = 2 * used - 2
  let leaf: u32 = 0
  let inner: u32 = used
  for (let node: u32 = used; node <= root; node += 1) {
    let weight: u32 = 0
    for (let child = 0; child < 2; child += 1) {
      const isLeaf = leaf < used && (inner >= node || load<u32>(WEIGHTS + leaf * 4) <= load<u32>(WEIGHTS + inner * 4))
      const least = isLeaf ? leaf++ : inner++
      weight += load<u32>(WEIGHTS + least * 4)
      store<u32>(PARENTS + least * 4, node)
    }
    store<u32>(WEIGHTS + node * 4, weight)
  }
  memory.fill(WIDTH_COUNTS, 0, 4 * 64)
  // From the root downward, each node's word becomes its depth.
  store<u32>(WEIGHTS + root * 4, 0)
  for (let node = i32(root) - 1; node >= 0; node -= 1) {
    const depth = load<u32>(WEIGHTS + load<u32>(PARENTS + node * 4) * 4) + 1
    store<u32>(WEIGHTS + node * 4, depth)
    if (u32(node) < used) addTo(WIDTH_COUNTS + 4 * min(depth, mostBits), 1)
  }
}

/** Codes that were too long were cut to `mostBits`, so there are too many codes: makes room by longer codes elsewhere. */
function shorten(mostBits: u32): void {
  let taken: u32 = 0
  for (let width: u32 = 1; width <= mostBits; width += 1) taken += load<u32>(WIDTH_COUNTS + width * 4) << (mostBits - width)
  for (; taken > u32(1) << mostBits; taken -= 1) {
    let width = mostBits - 1
    while (load<u32>(WIDTH_COUNTS + width * 4) === 0) width -= 1
    addTo(WIDTH_COUNTS + width * 4, -1)
    addTo(WIDTH_COUNTS + (width + 1) * 4, 2)
    addTo(WIDTH_COUNTS + mostBits * 4, -1)
  }
}

/** The rarest symbols get the longest codes. */
function giveWidths(mostBits: u32, widths: usize): void {
  let at: usize = SORTED
  for (let width = mostBits; width > 0; width -= 1) {
    for (let left = load<u32>(WIDTH_COUNTS + width * 4); left > 0; left -= 1) {
      store<u8>(widths + (load<u32>(at) & SYMBOL_MASK), width)
      at += 4
    }
  }
}

/** Numbers the codes of each width in the order of their symbols (RFC 1951, 3.2.2), the first bit lowest. */
function numberCodes(widths: usize, symbols: u32, codes: usize): void {
  memory.fill(WIDTH_COUNTS, 0, 4 * 16)
  for (let symbol: u32 = 0; symbol < symbols; symbol += 1) addTo(WIDTH_COUNTS + 4 * u32(load<u8>(widths + symbol)), 1)
  // Each count becomes the next code of its width.
  let next: u32 = 0
  let before: u32 = 0
  store<u32>(WIDTH_COUNTS, 0)
  for (let width: u32 = 1; width < 16; width += 1) {
    next = (next + before) << 1
    before = load<u32>(WIDTH_COUNTS + width * 4)
    store<u32>(WIDTH_COUNTS + width * 4, next)
  }
  for (let symbol: u32 = 0; symbol < symbols; symbol += 1) {
    const width = u32(load<u8>(widths + symbol))
    const code = load<u32>(WIDTH_COUNTS + width * 4)
    store<u32>(codes + symbol * 4, width === 0 ? 0 : reversed(code, width) | (width << 16))
    store<u32>(WIDTH_COUNTS + width * 4, code + 1)
  }
}

function reversed(code: u32, width: u32): u32 {
  let result: u32 = 0
  for (let bit: u32 = 0; bit < width; bit += 1) result = (result << 1) | ((code >> bit) & 1)
  return result
}

// @ts-ignore: decorator
@inline
export function addTo(at: usize, value: u32): void {
  store<u32>(at, load<u32>(at) + value)
}
