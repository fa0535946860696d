/**
 * Fields that lie anywhere in a document: those that make its id together, the routing, and those that name its index. They are looked for in an object that
 * is known to be valid. JavaScript handles unusual values: those with escapes or with a separator.
 */
import { FIELDS, FIELD_BYTES, HASHED, LONGEST_HASHED } from '../layout'
import { MAX_ID_BYTES, TEXT_START } from '../../../../base/json/strict/layout'
import { afterSpace } from '../../../../base/json/strict/assembly/json'
import { closingQuote, lastEscape, noEscape } from '../../../../base/json/strict/assembly/marks'
import { copy } from './copy'
import { addToKey, findName, noKey } from './names'
import { HASH_BYTES, hash, writeHash } from './sha256'

const SPACE: u8 = 0x20
const QUOTE: u8 = 0x22
const COMMA: u8 = 0x2c
const MINUS: u8 = 0x2d
const DOT: u8 = 0x2e
const NINE: u8 = 0x39
const BRACKET: u8 = 0x5b
const BACKSLASH: u8 = 0x5c
const CLOSING_BRACKET: u8 = 0x5d
const BRACE: u8 = 0x7b
const CLOSING_BRACE: u8 = 0x7d

/** The result of the walk through an object, for one path. */
const MISSING: u32 = 0
const FOUND: u32 = 1
const UNCLEAR: u32 = 2

/** How many fields are looked for in each document: those of the id, then that of the routing, then those of the index. */
let fields: u32 = 0
let idFields: u32 = 0
let isRouted = false
let isNamed = false
let separator: u8 = 0
let isHashed = false

/** Bytes of the id and of the routing, as they go into the action line. */
export let idBytes: usize = 0
export let routingBytes: usize = 0

/** The value that was found last. */
let start: usize = 0
let end: usize = 0

/** Chooses the fields. Their paths have been laid down. */
export function wantParts(ofId: u32, routed: bool, between: u32, hashed: bool, ofIndex: u32): void {
  idFields = ofId
  isRouted = routed
  isNamed = ofIndex > 0
  fields = ofId + u32(routed) + ofIndex
  separator = u8(between)
  isHashed = hashed
}

/** Finds all parts in the object at `object`. False where JavaScript has to look at it. */
export function findParts(object: usize): bool {
  idBytes = 0
  routingBytes = 0
  for (let field: u32 = 0; field < fields; field += 1) {
    const path = pathOf(field)
    noEscape()
    if (walk(object, path + TEXT_START, <usize>load<u32>(path)) != FOUND) return false
    store<usize>(path, start, 4)
    store<usize>(path, end, 8)
    if (field >= idFields) {
      if (isRouted && field == idFields) routingBytes = end - start
    } else {
      if (idFields > 1 && hasSeparator(start, end)) return false
      idBytes += end - start + usize(field > 0)
    }
  }
  if (idFields > 0) {
    if (!isHashed) {
      if (idBytes > <usize>MAX_ID_BYTES) return false
    } else {
      if (idBytes > <usize>LONGEST_HASHED) return false
      hash(writeParts(HASHED) - HASHED)
      idBytes = HASH_BYTES
    }
  }
  return isNamed ? findIndex() : true
}

function findIndex(): bool {
  noKey()
  for (let field = idFields + u32(isRouted); field < fields; field += 1) {
    const path = pathOf(field)
    if (!addToKey(load<u32>(path, 12), load<usize>(path, 4), load<usize>(path, 8))) return false
  }
  return findName()
}

export function writeId(to: usize): usize {
  return isHashed ? writeHash(to) : writeParts(to)
}

export function writeRouting(to: usize): usize {
  return writePart(to, idFields)
}

function writeParts(to: usize): usize {
  let at = writePart(to, 0)
  for (let field: u32 = 1; field < idFields; field += 1) {
    store<u8>(at, separator)
    at = writePart(at + 1, field)
  }
  return at
}

function writePart(to: usize, field: u32): usize {
  const path = pathOf(field)
  const from = load<usize>(path, 4)
  const bytes = load<usize>(path, 8) - from
  copy(to, from, bytes)
  return to + bytes
}

// @ts-ignore: decorator
@inline
function pathOf(field: u32): usize {
  return <usize>FIELDS + <usize>field * FIELD_BYTES
}

/** Looks for the value at a path. The first one counts, and a key may hold several steps of the path. */
function walk(object: usize, path: usize, bytes: usize): u32 {
  let at = afterSpace(object + 1)
  while (load<u8>(at) == QUOTE) {
    const key = at + 1
    const keyEnd = closingQuote(key)
    if (lastEscape >= key) return UNCLEAR
    at = afterSpace(afterSpace(keyEnd + 1) + 1)
    const length = keyEnd - key
    if (length <= bytes && memory.compare(path, key, length) == 0) {
      if (length == bytes) return take(at)
      if (load<u8>(path + length) == DOT && load<u8>(at) == BRACE) {
        const found = walk(at, path + length + 1, bytes - length - 1)
        if (found != MISSING) return found
      }
    }
    at = afterSpace(endOfValue(at))
    if (load<u8>(at) == COMMA) at = afterSpace(at + 1)
  }
  return MISSING
}

function take(value: usize): u32 {
  const first = load<u8>(value)
  if (first == QUOTE) {
    start = value + 1
    end = closingQuote(start)
    return start == end || lastEscape >= start ? UNCLEAR : FOUND
  }
  if (first != MINUS && first > NINE) return UNCLEAR
  start = value
  end = endOfValue(value)
  return FOUND
}

function endOfValue(from: usize): usize {
  let at = from
  let depth: u32 = 0
  while (true) {
    const byte = load<u8>(at)
    if (byte == QUOTE) at = closingQuote(at + 1)
    else if (byte == BRACE || byte == BRACKET) depth += 1
    else if (byte == CLOSING_BRACE || byte == CLOSING_BRACKET) {
      // The end of what holds this number or literal.
      if (depth == 0) return at
      depth -= 1
    } else {
      if (depth == 0 && (byte == COMMA || byte <= SPACE)) return at
      at += 1
      continue
    }
    at += 1
    if (depth == 0) return at
  }
}

function hasSeparator(from: usize, to: usize): bool {
  for (let at = from; at < to; at += 1) {
    const byte = load<u8>(at)
    if (byte == separator || byte == BACKSLASH) return true
  }
  return false
}
