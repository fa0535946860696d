/** Walks through a document and notes its patches: see `document-editor.ts`, which says the same at length. */
import { afterSpace } from '../../../../base/json/strict/assembly/json'
import { lastEscape } from '../../../../base/json/strict/assembly/marks'
import {
  EDIT_BYTES,
  INSERT_BYTES,
  IS_DROPPED,
  IS_WAY,
  NONE,
  LINE_NUMBER_END,
  STATES,
  STATE_BYTES,
  TEXT_BYTES,
  VALUES,
  VALUE_BYTES,
} from '../layout'
import { insert, patch } from './patches'
import { endOfJsonValue, isContainer, quoteBehind } from './value'

const QUOTE: u8 = 0x22
const COMMA: u8 = 0x2c
const COLON: u8 = 0x3a
const BRACE: u8 = 0x7b
const CLOSING_BRACKET: u8 = 0x5d
const CLOSING_BRACE: u8 = 0x7d
const ZERO: u8 = 0x30

/** Deeper documents are left to JavaScript. */
const MOST_LEVELS: u32 = 64

/** Values that are set, new names that are given, and new names that were there before, as bits. */
let isSet: u32 = 0
let renamed: u32 = 0
let taken: u32 = 0
let levels: u32 = 0
/** Whether the last field that was passed is to be left out. */
let isLeftOut = false
let number: u64 = 0

export function numberIs(line: u64): void {
  number = line
}

/** Passes the object at `from`, of which the line may hold more. Returns the offset behind it, or 0 where JavaScript has to look at it. */
export function endOfDocument(from: usize, top: usize, sets: u32): usize {
  isSet = 0
  renamed = 0
  taken = 0
  levels = 0
  for (let set: u32 = 0; set < sets; set += 1) store<u32>(stateOf(set), 0)
  if (load<u8>(from) != BRACE) return 0
  const end = object(from, top, false)
  if (end == 0 || (renamed & taken) != 0) return 0
  for (let set: u32 = 0; set < sets; set += 1) if ((isSet & (1 << set)) == 0 && !add(set)) return 0
  return end
}

function object(start: usize, level: usize, isInArray: bool): usize {
  let kept: u32 = 0
  let begin = start + 1
  let comma = start
  let at = afterSpace(begin)
  if (load<u8>(at) == CLOSING_BRACE) {
    noteEnd(level, at, 0, isInArray)
    return at + 1
  }
  while (true) {
    let end = member(at, level, isInArray)
    if (end == 0) return 0
    end = afterSpace(end)
    const isLast = load<u8>(end) != COMMA
    if (isLast && load<u8>(end) != CLOSING_BRACE) return 0
    if (!isLeftOut) kept += 1
    else if (!leaveOut(kept > 0, comma, begin, end, isLast)) return 0
    if (isLast) {
      noteEnd(level, end, kept, isInArray)
      return end + 1
    }
    comma = end
    begin = end + 1
    at = afterSpace(begin)
  }
}

// @ts-ignore: decorator
@inline
function leaveOut(isBehind: bool, comma: usize, begin: usize, end: usize, isLast: bool): bool {
  return patch(isBehind ? comma : begin, isBehind || isLast ? end : end + 1, 0, 0)
}

function member(at: usize, level: usize, isInArray: bool): usize {
  if (load<u8>(at) != QUOTE) return 0
  const key = at + 1
  const keyEnd = quoteBehind(key)
  if (keyEnd == 0 || lastEscape >= key) return 0
  let value = afterSpace(keyEnd + 1)
  if (load<u8>(value) != COLON) return 0
  value = afterSpace(value + 1)
  const found = fieldOf(level, key, keyEnd)
  if (found != 0) return field(found, at, keyEnd + 1, value, isInArray)
  const keeps = load<u32>(level) != 0
  isLeftOut = isInside(level, 20, key, keyEnd) || (keeps && !isInside(level, 28, key, keyEnd))
  return endOfJsonValue(value)
}

function field(found: usize, key: usize, keyEnd: usize, value: usize, isInArray: bool): usize {
  const flags = load<u32>(found, 8)
  const holds = isContainer(value)
  isLeftOut = (flags & IS_DROPPED) != 0 || ((flags & IS_WAY) != 0 && !holds)
  if (isLeftOut) return endOfJsonValue(value)
  const rename = load<u32>(found, 16)
  const set = load<u32>(found, 12)
  if (rename != NONE) {
    // A field that moves is left to JavaScript.
    if (load<u32>(found, 20) == 0) return 0
    renamed |= 1 << rename
    if (!patch(key, keyEnd, <usize>load<u32>(found, 20), <usize>load<u32>(found, 24))) return 0
  } else if (set != NONE) return replace(set, value)
  else taken |= load<u32>(found, 28)
  const inside = <usize>load<u32>(found, 32)
  if (inside == 0 || !holds) return endOfJsonValue(value)
  const end = container(value, inside, isInArray)
  isLeftOut = false
  return end
}

function container(value: usize, level: usize, isInArray: bool): usize {
  if (levels == MOST_LEVELS) return 0
  levels += 1
  const end = load<u8>(value) == BRACE ? object(value, level, isInArray) : array(value, level)
  levels -= 1
  return end
}

function array(start: usize, level: usize): usize {
  const keeps = load<u32>(level) != 0
  let kept: u32 = 0
  let begin = start + 1
  let comma = start
  let at = afterSpace(begin)
  if (load<u8>(at) == CLOSING_BRACKET) return at + 1
  while (true) {
    const holds = isContainer(at)
    let end = holds ? container(at, level, true) : endOfJsonValue(at)
    if (end == 0) return 0
    end = afterSpace(end)
    const isLast = load<u8>(end) != COMMA
    if (isLast && load<u8>(end) != CLOSING_BRACKET) return 0
    if (!keeps || holds) kept += 1
    else if (!leaveOut(kept > 0, comma, begin, end, isLast)) return 0
    if (isLast) return end + 1
    comma = end
    begin = end + 1
    at = afterSpace(begin)
  }
}

function replace(set: u32, value: usize): usize {
  const end = endOfJsonValue(value)
  if (end == 0) return 0
  isLeftOut = (isSet & (1 << set)) != 0
  isSet |= 1 << set
  return isLeftOut || patch(value, end, 0, 0) ? (isLeftOut || putValue(set, end) ? end : 0) : 0
}

/** Puts the parts of a value behind what was patched so far. */
function putValue(set: u32, place: usize): bool {
  const value = <usize>VALUES + <usize>set * VALUE_BYTES
  if (!insert(place, <usize>load<u32>(value), <usize>load<u32>(value, 4))) return false
  if (load<u32>(value, 16) == 0) return true
  const start = digits()
  const end: usize = LINE_NUMBER_END
  return insert(place, start, end - start) && insert(place, <usize>load<u32>(value, 8), <usize>load<u32>(value, 12))
}

/** Writes the number of the line. Returns where it begins. */
function digits(): usize {
  let at: usize = LINE_NUMBER_END
  let rest = number
  do {
    at -= 1
    store<u8>(at, ZERO + u8(rest % 10))
    rest /= 10
  } while (rest > 0)
  return at
}

// @ts-ignore: decorator
@inline
function stateOf(set: u32): usize {
  return <usize>STATES + <usize>set * STATE_BYTES
}

/** Remembers the first of the deepest objects that a value may be added to: the insert, where it ends, and whether it is empty. */
function noteEnd(level: usize, end: usize, kept: u32, isInArray: bool): void {
  if (isInArray) return
  const inserts = <usize>load<u32>(level, 40)
  const last = inserts + <usize>load<u32>(level, 36) * INSERT_BYTES
  for (let at = inserts; at < last; at += INSERT_BYTES) {
    const state = stateOf(load<u32>(at))
    const before = <usize>load<u32>(state)
    if (before != 0 && load<u32>(state, 8) >= load<u32>(level, 44)) continue
    store<u32>(state, u32(at))
    store<u32>(state, u32(end), 4)
    store<u32>(state, load<u32>(level, 44), 8)
    store<u32>(state, kept == 0 ? 1 : 0, 12)
  }
}

/** Adds a value that the document does not have. */
function add(set: u32): bool {
  const state = stateOf(set)
  const how = <usize>load<u32>(state)
  const place = <usize>load<u32>(state, 4)
  let isAlone = load<u32>(state, 12) != 0
  for (let other: u32 = 0; other < set; other += 1)
    if ((isSet & (1 << other)) == 0 && <usize>load<u32>(stateOf(other), 4) == place) isAlone = false
  // Its text begins with a comma.
  const skipped: usize = isAlone ? 1 : 0
  return insert(place, <usize>load<u32>(how, 4) + skipped, <usize>load<u32>(how, 8) - skipped) && putValue(set, place)
}

function fieldOf(level: usize, key: usize, keyEnd: usize): usize {
  const bytes = keyEnd - key
  if (((load<u64>(level, 8) >> u64(bytes & 63)) & 1) == 0) return 0
  const fields = <usize>load<u32>(level, 16)
  const last = fields + <usize>load<u32>(level, 4) * EDIT_BYTES
  for (let at = fields; at < last; at += EDIT_BYTES)
    if (<usize>load<u32>(at) == bytes && memory.compare(<usize>load<u32>(at, 4), key, bytes) == 0) return at
  return 0
}

/** Returns whether a name has one of the beginnings in the list that the level holds at `list`. */
function isInside(level: usize, list: usize, key: usize, keyEnd: usize): bool {
  const count = load<u32>(level + list)
  if (count == 0) return false
  const texts = <usize>load<u32>(level + list + 4)
  const last = texts + <usize>count * TEXT_BYTES
  for (let at = texts; at < last; at += TEXT_BYTES) {
    const bytes = <usize>load<u32>(at, 4)
    if (bytes <= keyEnd - key && memory.compare(<usize>load<u32>(at), key, bytes) == 0) return true
  }
  return false
}
