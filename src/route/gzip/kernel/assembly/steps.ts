/** Cuts a block into steps: literals, and a match behind them. One place is tried for each position. */
import {
  COUNTS,
  DISTANCES,
  DISTANCE_COUNTS,
  HASH_BITS,
  LENGTH_SYMBOLS,
  PLACES,
  STEPS,
  SYMBOLS,
  WINDOW_BYTES,
} from '../layout'
import { addTo } from './codes'
import { distanceSymbol } from './symbols'

const PLACES_AT: usize = PLACES
const COUNTS_AT: usize = COUNTS
const MOST_BACK: u32 = WINDOW_BYTES
const LONGEST: u32 = 258
/** A match is tried for by the hash of six bytes, and holds at least four. */
const SHORTEST: u32 = 4
const HASHED_BYTES: u64 = 6
/** Near the end of a block no match begins: eight bytes are read at once. */
const END_BYTES: u32 = 12
/**
 * After so many literals in a row (a power of two), the search tries only every second place, then every third, and so on. So input that
 * does not shrink takes less time. The search still finds a long match: it compares the first bytes backward from the place that it tried.
 */
const PATIENCE_BITS: u32 = 4
const LONGEST_STEP: u32 = 32

export const END_OF_BLOCK: u32 = 256
const FIRST_LENGTH: u32 = 257

/** Literals behind the last match. */
export let tail: u32 = 0
/** The end of the steps. */
export let stepsEnd: usize = 0

/** `origin`: where place 0 would lie. `first`: the first byte that a match may copy. Counts the symbols. */
export function findSteps(from: usize, to: usize, origin: usize, first: usize): void {
  memory.fill(COUNTS, 0, 4 * SYMBOLS + 4 * DISTANCES)
  store<u32>(COUNTS + END_OF_BLOCK * 4, 1)
  const limit = to - from > END_BYTES ? to - END_BYTES : from
  let step: usize = STEPS
  let literals = from
  let at = from
  let misses: u32 = 0
  while (at < limit) {
    const bytes = load<u64>(at)
    const slot = PLACES_AT + (hash(bytes) << 2)
    const place = u32(at - origin)
    const before = load<u32>(slot)
    store<u32>(slot, place)
    let other = origin + before
    if (place - before > MOST_BACK || load<u32>(other) !== u32(bytes)) {
      const next = min(limit, at + min(LONGEST_STEP, 1 + (misses >> PATIENCE_BITS)))
      misses += 1
      do {
        count(at, 1)
        at += 1
      } while (at < next)
      continue
    }
    misses = 0
    const distance = place - before
    const end = matchEnd(at + SHORTEST, other + SHORTEST, to)
    // The bytes before may be the same too: they had another hash, or their place was taken by others.
    let start = at
    while (start > literals && other > first && end - start < LONGEST && load<u8>(start - 1) === load<u8>(other - 1)) {
      start -= 1
      other -= 1
      count(start, -1)
    }
    const length = u32(end - start)
    addTo(COUNTS + (FIRST_LENGTH + load<u8>(LENGTH_SYMBOLS + length)) * 4, 1)
    addTo(DISTANCE_COUNTS + distanceSymbol(distance - 1) * 4, 1)
    store<u32>(step, u32(start - literals))
    store<u32>(step, length | ((distance - 1) << 16), 4)
    step += 8
    if (end < limit) remember(end - 2, origin)
    at = end
    literals = end
  }
  for (; at < to; at += 1) count(at, 1)
  tail = u32(to - literals)
  stepsEnd = step
}

// @ts-ignore: decorator
@inline
function hash(bytes: u64): usize {
  return usize(((bytes << (64 - 8 * HASHED_BYTES)) * 0x9e3779b185ebca87) >> (64 - HASH_BITS))
}

// @ts-ignore: decorator
@inline
function remember(at: usize, origin: usize): void {
  store<u32>(PLACES_AT + (hash(load<u64>(at)) << 2), u32(at - origin))
}

// @ts-ignore: decorator
@inline
function matchEnd(at: usize, other: usize, to: usize): usize {
  const longest = min(to, at + LONGEST - SHORTEST)
  while (at + 8 <= longest) {
    const difference = load<u64>(at) ^ load<u64>(other)
    if (difference !== 0) return at + usize(ctz(difference) >> 3)
    at += 8
    other += 8
  }
  while (at < longest && load<u8>(at) === load<u8>(other)) {
    at += 1
    other += 1
  }
  return at
}

// @ts-ignore: decorator
@inline
function count(at: usize, occurrences: u32): void {
  addTo(COUNTS_AT + (usize(load<u8>(at)) << 2), occurrences)
}
