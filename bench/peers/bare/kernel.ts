/**
 * AssemblyScript. One pass over whole lines: each is checked to be one JSON object as RFC 8259 has it, and copied behind an
 * action line. The host has laid out the memory; every address may be read and written 32 bytes past its end.
 */

/** Where the last call stopped reading and writing, and how many documents it wrote. */
export let readTo: usize = 0
export let wroteTo: usize = 0
export let documents: u32 = 0

const MOST_NESTED: i32 = 1024
/** One byte for each container that is open: 1 for an object, 0 for an array. */
const open: usize = memory.data(1024)

const ID_DIGITS: i32 = 11

/**
 * Copies the lines from `from` to `end` (each with its newline) until `limit` is reached, each behind the `actionBytes` (up to
 * 48) at `action`. `number` >= 0 adds the document's number and closes the id and the action. Stops before a line that is no
 * JSON object when `check` is set; without it lines are copied as they are.
 */
export function splice(
  from: usize,
  end: usize,
  to: usize,
  limit: usize,
  action: usize,
  actionBytes: usize,
  number: f64,
  check: bool,
): void {
  const numbered = number >= 0
  let next = numbered ? <u64>number : 0
  const first = v128.load(action)
  const second = v128.load(action, 16)
  const third = v128.load(action, 32)
  let count: u32 = 0
  while (from < end && to < limit) {
    let after: usize = 0
    if (check) {
      after = afterDocument(from)
      if (after === 0) break
    }
    v128.store(to, first)
    v128.store(to, second, 16)
    v128.store(to, third, 32)
    to += actionBytes
    if (numbered) {
      let left = next++
      for (let digit = ID_DIGITS - 1; digit >= 0; digit--) {
        store<u8>(to + digit, 48 + <u8>(left % 10))
        left /= 10
      }
      to += ID_DIGITS
      store<u32>(to, 0x0a7d7d22) // "}} and a newline
      to += 4
    }
    if (check) {
      const bytes = after - from
      for (let done: usize = 0; done < bytes; done += 16) v128.store(to + done, v128.load(from + done))
      to += bytes
      from = after
    } else {
      const copied = copyLine(from, to)
      from += copied
      to += copied
    }
    count++
  }
  readTo = from
  wroteTo = to
  documents = count
}

/** Copies up to and with the next newline; returns how many bytes. */
function copyLine(from: usize, to: usize): usize {
  const newline = i8x16.splat(10)
  let done: usize = 0
  while (true) {
    const bytes = v128.load(from + done)
    v128.store(to + done, bytes)
    const found = i8x16.bitmask(i8x16.eq(bytes, newline))
    if (found) return done + <usize>ctz(found) + 1
    done += 16
  }
}

/** Address behind the newline of the line at `at` when it is one JSON object, else 0. A newline ends every scan. */
function afterDocument(at: usize): usize {
  at = afterSpace(at)
  if (load<u8>(at) !== 0x7b) return 0
  at = afterSpace(at + 1)
  let depth: i32 = 1
  let inObject = true
  store<u8>(open, 1)
  let empty = load<u8>(at) === 0x7d
  while (true) {
    if (!empty) {
      if (inObject) {
        if (load<u8>(at) !== 0x22) return 0
        at = afterString(at + 1)
        if (at === 0) return 0
        at = afterSpace(at)
        if (load<u8>(at) !== 0x3a) return 0
        at = afterSpace(at + 1)
      }
      const byte = load<u8>(at)
      if (byte === 0x22) at = afterString(at + 1)
      else if (byte === 0x7b || byte === 0x5b) {
        if (depth === MOST_NESTED) return 0
        inObject = byte === 0x7b
        store<u8>(open + depth, inObject ? 1 : 0)
        depth++
        at = afterSpace(at + 1)
        empty = load<u8>(at) === (inObject ? 0x7d : 0x5d)
        continue
      } else if (byte === 0x74) at = load<u32>(at) === 0x65757274 ? at + 4 : 0
      else if (byte === 0x66) at = load<u32>(at + 1) === 0x65736c61 ? at + 5 : 0
      else if (byte === 0x6e) at = load<u32>(at) === 0x6c6c756e ? at + 4 : 0
      else at = afterNumber(at)
      if (at === 0) return 0
      at = afterSpace(at)
    }
    empty = false
    while (load<u8>(at) === (inObject ? 0x7d : 0x5d)) {
      at = afterSpace(at + 1)
      depth--
      if (depth === 0) return load<u8>(at) === 0x0a ? at + 1 : 0
      inObject = load<u8>(open + depth - 1) === 1
    }
    if (load<u8>(at) !== 0x2c) return 0
    at = afterSpace(at + 1)
  }
}

function afterSpace(at: usize): usize {
  while (true) {
    const byte = load<u8>(at)
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return at
    at++
  }
}

/** `at` is behind the opening quote. */
function afterString(at: usize): usize {
  const quote = i8x16.splat(0x22)
  const backslash = i8x16.splat(0x5c)
  const space = i8x16.splat(0x20)
  while (true) {
    const bytes = v128.load(at)
    const special = v128.or(v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash)), i8x16.lt_u(bytes, space))
    const found = i8x16.bitmask(special)
    if (found === 0) {
      at += 16
      continue
    }
    at += <usize>ctz(found)
    const byte = load<u8>(at)
    if (byte === 0x22) return at + 1
    if (byte !== 0x5c) return 0
    at = afterEscape(at + 1)
    if (at === 0) return 0
  }
}

function afterEscape(at: usize): usize {
  const byte = load<u8>(at)
  if (byte !== 0x75) {
    const known =
      byte === 0x22 ||
      byte === 0x5c ||
      byte === 0x2f ||
      byte === 0x62 ||
      byte === 0x66 ||
      byte === 0x6e ||
      byte === 0x72 ||
      byte === 0x74
    return known ? at + 1 : 0
  }
  for (let digit: usize = 1; digit <= 4; digit++) {
    const hex = load<u8>(at + digit)
    if (!isDigit(hex) && ((hex | 0x20) < 0x61 || (hex | 0x20) > 0x66)) return 0
  }
  return at + 5
}

function isDigit(byte: u8): bool {
  return byte - 48 < 10
}

function afterNumber(at: usize): usize {
  if (load<u8>(at) === 0x2d) at++
  if (load<u8>(at) === 0x30) at++
  else {
    at = afterDigits(at)
    if (at === 0) return 0
  }
  if (load<u8>(at) === 0x2e) {
    at = afterDigits(at + 1)
    if (at === 0) return 0
  }
  if ((load<u8>(at) | 0x20) === 0x65) {
    at++
    const sign = load<u8>(at)
    if (sign === 0x2b || sign === 0x2d) at++
    at = afterDigits(at)
  }
  return at
}

function afterDigits(at: usize): usize {
  if (!isDigit(load<u8>(at))) return 0
  do at++
  while (isDigit(load<u8>(at)))
  return at
}
