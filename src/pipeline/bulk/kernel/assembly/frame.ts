/**
 * Frames lines into a body: each line checked, an action line written, the document copied byte for byte. All memory is
 * JavaScript's: nothing is allocated here.
 */
import { AFTER, BEFORE, BETWEEN, CLOSING, ID_IN_FIELD, ID_NUMBER, ID_OF_PARTS, ID_OFFSET, NAME_OPENING, OPENING, STOP_BLANK, STOP_DONE, STOP_FULL, STOP_LINE } from '../layout'
import { idEnd, idStart, isFieldWanted, routingEnd, routingStart, wantFields } from '../../../../base/json/strict/assembly/fields'
import { afterSpace, endOfObject, endOfObjectWithFields } from '../../../../base/json/strict/assembly/json'
import { noEscape, noMarks } from '../../../../base/json/strict/assembly/marks'
import { TEXT_START } from '../../../../base/json/strict/layout'
import { copy } from './copy'
import { countBytes, countUp, digits, numberFrom, writeNumber } from './document-number'
import { nameBytes, noName, writeName } from './names'
import { findParts, idBytes, routingBytes, wantParts, writeId, writeRouting } from './parts'

const LINE_FEED: u8 = 0x0a

/** The place for the name of an index that the next line needs. 0: it needs none. */
export { missingName } from './names'
/** Whether some byte that the last call looked at is not ASCII. If none is, all it framed is UTF-8. */
export { isBeyondAscii } from '../../../../base/json/strict/assembly/marks'

/** The result of the last call, which first passed blank lines and then framed documents. */
export let blankLines: u32 = 0
export let blankBytes: usize = 0
/** Bytes of the documents' lines, and what became of them in the body. */
export let linesBytes: usize = 0
export let bodyBytes: usize = 0
export let documents: u32 = 0

let id: u32 = 0
let isNumbered = false
let isRouted = false
let isNamed = false
let looksForFields = false
let looksForParts = false
/** Bytes of the texts that go with each document, and of those among them that go around it. */
let textBytes: usize = 0
let aroundBytes: usize = 0

/**
 * Chooses what goes into action lines. Their texts have been laid down. `parts`: id and routing lie anywhere in a document, and so
 * many fields make the id, with `separator` between them. `indexFields`: so many name the index.
 */
export function prepare(
  idKind: u32,
  routed: bool,
  parts: bool,
  idFields: u32,
  separator: u32,
  hashed: bool,
  indexFields: u32,
): void {
  id = idKind
  isNumbered = idKind == ID_NUMBER || idKind == ID_OFFSET
  isRouted = routed
  isNamed = indexFields > 0
  looksForParts = parts
  wantParts(idFields, parts && routed, separator, hashed, indexFields)
  aroundBytes = bytesOf(OPENING) + bytesOf(CLOSING)
  textBytes = bytesOf(BEFORE) + bytesOf(BETWEEN) + bytesOf(AFTER) + aroundBytes
  if (isNamed) textBytes += bytesOf(NAME_OPENING)
  looksForFields = !parts && (idKind == ID_IN_FIELD || routed)
  wantFields(idKind == ID_IN_FIELD, looksForFields && routed)
}

/**
 * Passes the blank lines at the start of [from, to), then frames the documents that lie one behind the other, each line with
 * its line feed, into the `room` bytes at `body`: at most `most` documents, no line longer than `longest`. `number` is that of
 * the first one, or the offset of the first line. Returns why it stopped; the line it stopped at is untouched.
 */
export function frame(from: usize, to: usize, body: usize, room: usize, most: u32, longest: usize, number: f64): u32 {
  let line = from
  let firstDocument = from
  let blanks: u32 = 0
  let out = body
  let framed: u32 = 0
  let stop: u32 = STOP_DONE
  noEscape()
  noMarks()
  noName()
  if (isNumbered) numberFrom(u64(number))
  while (line < to && framed < most) {
    const start = afterSpace(line)
    if (load<u8>(start) == LINE_FEED) {
      if (framed > 0) {
        stop = STOP_BLANK
        break
      }
      blanks += 1
      if (id == ID_OFFSET) countBytes(start + 1 - line)
      line = firstDocument = start + 1
      continue
    }
    const object = looksForFields ? endOfObjectWithFields(start) : endOfObject(start)
    const end: usize = object == 0 ? 0 : afterSpace(object)
    if (end == 0 || load<u8>(end) != LINE_FEED || isFieldWanted() || end + 1 - line > longest) {
      stop = STOP_LINE
      break
    }
    if (looksForParts && !findParts(start)) {
      stop = STOP_LINE
      break
    }
    const lineBytes = end + 1 - line
    if (out - body + addedBytes() + lineBytes > room) {
      stop = STOP_FULL
      break
    }
    out = writeAction(out)
    out = aroundBytes == 0 ? write(out, line, end + 1) : writeAround(out, line, object, end + 1)
    line = end + 1
    framed += 1
    if (id == ID_NUMBER) countUp()
    else if (id == ID_OFFSET) countBytes(lineBytes)
  }
  blankLines = blanks
  blankBytes = firstDocument - from
  linesBytes = line - firstDocument
  bodyBytes = out - body
  documents = framed
  return stop
}

/** The bytes that a body needs for a document beside its line. */
// @ts-ignore: decorator
@inline
function addedBytes(): usize {
  let bytes = textBytes
  if (isNumbered) bytes += digits
  else if (id == ID_IN_FIELD) bytes += idEnd - idStart
  if (isNamed) bytes += nameBytes()
  if (looksForParts) bytes += idBytes + routingBytes
  else if (isRouted) bytes += routingEnd - routingStart
  return bytes
}

// @ts-ignore: decorator
@inline
function writeAction(to: usize): usize {
  let at = to
  if (isNamed) at = writeName(writeText(at, NAME_OPENING))
  at = writeText(at, BEFORE)
  if (isNumbered) at = writeNumber(at)
  else if (id == ID_IN_FIELD) at = write(at, idStart, idEnd)
  else if (id == ID_OF_PARTS) at = writeId(at)
  if (isRouted) {
    at = writeText(at, BETWEEN)
    at = looksForParts ? writeRouting(at) : write(at, routingStart, routingEnd)
  }
  return writeText(at, AFTER)
}

/** The line [from, end) whose object ends at `object`: the line end stays behind everything. */
function writeAround(to: usize, from: usize, object: usize, end: usize): usize {
  let at = writeText(to, OPENING)
  at = write(at, from, object)
  at = writeText(at, CLOSING)
  return write(at, object, end)
}

// @ts-ignore: decorator
@inline
function writeText(to: usize, text: usize): usize {
  const bytes = bytesOf(text)
  copy(to, text + TEXT_START, bytes)
  return to + bytes
}

// @ts-ignore: decorator
@inline
function write(to: usize, from: usize, end: usize): usize {
  copy(to, from, end - from)
  return to + end - from
}

// @ts-ignore: decorator
@inline
function bytesOf(text: usize): usize {
  return <usize>load<u32>(text)
}
