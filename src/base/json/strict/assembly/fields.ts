/** The top-level fields that hold id and routing. Of duplicate keys the first counts. */
import { ID_FIELD, MAX_ID_BYTES, ROUTING_FIELD, TEXT_START } from '../layout'
import { lastEscape } from './marks'

const QUOTE: u8 = 0x22
const MINUS: u8 = 0x2d
const DIGIT_NINE: u8 = 0x39

const ID: u32 = 1
const ROUTING: u32 = 2
/** A key whose text tells nothing before its escapes are resolved, which JavaScript does. */
const UNCLEAR: u32 = 4

/** The fields to look for in each line, as bits. */
let wantedFields: u32 = 0
/** Those of them that the line at hand has not shown yet. */
let missing: u32 = 0

/** The values as they go into the action line: a string's bytes without its quotes, a number's digits. */
export let idStart: usize = 0
export let idEnd: usize = 0
export let routingStart: usize = 0
export let routingEnd: usize = 0

export function wantFields(id: bool, routing: bool): void {
  wantedFields = (id ? ID : 0) | (routing ? ROUTING : 0)
  missing = 0
}

// @ts-ignore: decorator
@inline
export function noField(): void {
  missing = wantedFields
}

// @ts-ignore: decorator
@inline
export function isFieldWanted(): bool {
  return missing != 0
}

/** Which of the missing fields has this key. */
export function wantedField(key: usize, end: usize): u32 {
  if (lastEscape >= key) return UNCLEAR
  let found: u32 = 0
  if ((missing & ID) != 0 && isText(ID_FIELD, key, end)) found |= ID
  if ((missing & ROUTING) != 0 && isText(ROUTING_FIELD, key, end)) found |= ROUTING
  return found
}

/** Takes the value of a wanted field. False where JavaScript has to look at it: escaped, empty, too long, neither string nor number. */
export function foundField(fields: u32, value: usize, valueEnd: usize): bool {
  let start = value
  let end = valueEnd
  const first = load<u8>(start)
  if (first == QUOTE) {
    start += 1
    end -= 1
    if (start == end || lastEscape >= start) return false
  } else if (first != MINUS && first > DIGIT_NINE) return false
  if ((fields & UNCLEAR) != 0) return false
  if ((fields & ID) != 0) {
    if (end - start > <usize>MAX_ID_BYTES) return false
    idStart = start
    idEnd = end
  }
  if ((fields & ROUTING) != 0) {
    routingStart = start
    routingEnd = end
  }
  missing &= ~fields
  return true
}

function isText(text: usize, from: usize, to: usize): bool {
  const bytes = to - from
  if (load<u32>(text) != u32(bytes)) return false
  return memory.compare(text + TEXT_START, from, bytes) == 0
}
