/**
 * The names of indices that fields of documents decide. JavaScript makes each name once. Here they are found again by what the fields
 * say: values as they stand, and dates to the hour. JavaScript handles fields that are missing or unusual.
 */
import {
  AS_DATE,
  HASHED,
  LONGEST_KEY,
  MOST_NAMES,
  NAMES,
  NAME_BYTES,
  NAME_KEY,
  NAME_PLACES,
  NAME_TEXT,
} from '../layout'
import { copy } from './copy'

const PLUS: u8 = 0x2b
const COMMA: u8 = 0x2c
const MINUS: u8 = 0x2d
const DOT: u8 = 0x2e
const ZERO: u8 = 0x30
const COLON: u8 = 0x3a
const SPACE: u8 = 0x20
const LETTER_T: u8 = 0x54
const LETTER_Z: u8 = 0x5a

/** Where a key is made. The text of a hashed id is not needed any more by then. */
const KEY: usize = HASHED
/** A byte that no text in JSON has stands between the parts of a key, another one before a time. */
const BETWEEN: u8 = 0
const HOURS: u8 = 1

/** The place of the name that was found last. */
let name: usize = 0
let keyBytes: usize = 0

/** The place for the name that was not found. 0: none was looked for. */
export let missingName: usize = 0

export function noName(): void {
  missingName = 0
}

export function noKey(): void {
  keyBytes = 0
}

/** Adds what a field says to the key. False if JavaScript has to look at it. */
export function addToKey(kind: u32, from: usize, to: usize): bool {
  if (kind == AS_DATE) return addTime(from, to)
  const bytes = to - from
  if (!hasRoom(bytes)) return false
  add(from, bytes)
  return true
}

/** Finds the name of the key. If it is not known, chooses a place for it. */
export function findName(): bool {
  const first = hashOfKey()
  let free: usize = 0
  for (let next: u32 = 0; next < <u32>NAME_PLACES; next += 1) {
    const place = <usize>NAMES + <usize>((first + next) % MOST_NAMES) * NAME_BYTES
    const bytes = <usize>load<u32>(place)
    if (bytes == keyBytes && memory.compare(place + NAME_KEY, KEY, bytes) == 0) {
      name = place
      // It was looked for before, and is no name.
      if (load<u32>(place, 4) == 0) missingName = place
      return load<u32>(place, 4) != 0
    }
    if (bytes == 0 && free == 0) free = place
  }
  const place = free == 0 ? <usize>NAMES + <usize>(first % MOST_NAMES) * NAME_BYTES : free
  store<u32>(place, u32(keyBytes))
  store<u32>(place, 0, 4)
  memory.copy(place + NAME_KEY, KEY, keyBytes)
  missingName = place
  return false
}

// @ts-ignore: decorator
@inline
export function nameBytes(): usize {
  return <usize>load<u32>(name, 4)
}

export function writeName(to: usize): usize {
  const bytes = nameBytes()
  copy(to, name + NAME_TEXT, bytes)
  store<u32>(name, load<u32>(name, 8) + 1, 8)
  return to + bytes
}

function hasRoom(bytes: usize): bool {
  return keyBytes + bytes < <usize>LONGEST_KEY
}

function add(from: usize, bytes: usize): void {
  memory.copy(KEY + keyBytes, from, bytes)
  keyBytes += bytes
  store<u8>(KEY + keyBytes, BETWEEN)
  keyBytes += 1
}

/** FNV-1a. */
function hashOfKey(): u32 {
  let hash: u32 = 0x811c9dc5
  for (let at: usize = 0; at < keyBytes; at += 1) hash = (hash ^ load<u8>(KEY + at)) * 0x01000193
  return hash ^ (hash >> 15)
}

/** Adds the hour of a time. Minutes and seconds are checked, and left out. */
function addTime(from: usize, to: usize): bool {
  if (!hasRoom(32)) return false
  const digits = endOfDigits(from, to) - from
  if (digits == 4) return addIso(from, to)
  return addNumber(from, digits, to)
}

/** Seconds or milliseconds since 1970. */
function addNumber(from: usize, digits: usize, to: usize): bool {
  let number: u64 = 0
  const isOfSeconds = digits == 9 || digits == 10
  if (!isOfSeconds && digits != 12 && digits != 13) return false
  for (let at = from; at < from + digits; at += 1) number = number * 10 + (load<u8>(at) - ZERO)
  const end = from + digits
  if (end < to) {
    if (!isOfSeconds || load<u8>(end) != DOT) return false
    if (end + 1 == to || endOfDigits(end + 1, to) != to) return false
  }
  const seconds = isOfSeconds ? number : number / 1000
  store<u8>(KEY + keyBytes, HOURS)
  store<u32>(KEY + keyBytes + 1, u32(seconds / 3600))
  store<u8>(KEY + keyBytes + 5, BETWEEN)
  keyBytes += 6
  return true
}

/** `2026-01-02`, or with a time: `T03:04`, seconds, a fraction, a zone. JavaScript has checked the date, hour and zone of a known key. */
function addIso(from: usize, to: usize): bool {
  const bytes = to - from
  if (bytes < 10 || load<u8>(from, 4) != MINUS || load<u8>(from, 7) != MINUS) return false
  if (!areDigits(from + 5) || !areDigits(from + 8)) return false
  if (bytes == 10) {
    add(from, 10)
    return true
  }
  const between = load<u8>(from, 10)
  if (bytes < 16 || (between != LETTER_T && between != SPACE) || load<u8>(from, 13) != COLON) return false
  if (!areDigits(from + 11) || !isBelowSixty(from + 14)) return false
  let at = from + 16
  if (at < to && load<u8>(at) == COLON) {
    if (at + 3 > to || !isBelowSixty(at + 1)) return false
    at += 3
    if (at < to && (load<u8>(at) == DOT || load<u8>(at) == COMMA)) {
      const end = endOfDigits(at + 1, to)
      if (end == at + 1) return false
      at = end
    }
  }
  const zone = to - at
  if (zone > 6) return false
  if (zone == 0 || (zone == 1 && load<u8>(at) == LETTER_Z)) {
    add(from, 13)
    return true
  }
  if (load<u8>(at) != PLUS && load<u8>(at) != MINUS) return false
  // A zone with minutes begins an hour at another minute.
  const isOfHours = zone == 3 || (load<u8>(to - 1) == ZERO && load<u8>(to - 2) == ZERO)
  add(from, isOfHours ? 13 : 16)
  add(at, zone)
  return true
}

function endOfDigits(from: usize, to: usize): usize {
  let at = from
  while (at < to && load<u8>(at) - ZERO <= 9) at += 1
  return at
}

// @ts-ignore: decorator
@inline
function areDigits(at: usize): bool {
  return load<u8>(at) - ZERO <= 9 && load<u8>(at + 1) - ZERO <= 9
}

// @ts-ignore: decorator
@inline
function isBelowSixty(at: usize): bool {
  return load<u8>(at) - ZERO <= 5 && load<u8>(at + 1) - ZERO <= 9
}
