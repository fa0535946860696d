/** Takes the documents out of a request, as NDJSON lines. Each is checked and stays as it was written. */
import { isUtf8 } from 'node:buffer'
import { CARRIAGE_RETURN, isWhiteSpace, LINE_FEED, SPACE } from '../text/bytes.js'
import { isObject, parseJson } from '../text/parse-json.js'

export type MediaType = 'ndjson' | 'json'

/** Lines with their line ends, and the number of documents in them. */
export interface Documents {
  readonly bytes: Uint8Array
  readonly documents: number
}

/** The reason to reject the whole request. `line` counts the lines of its body from 1. */
export interface BadDocument {
  /** 400 if the text is not JSON, 422 if it is JSON but not an object. */
  readonly status: 400 | 422
  readonly problem: string
  readonly line: number
}

const END = Buffer.from('\n')

/** Returns all documents, or the first bad one. */
export function documentsIn(body: Buffer, type: MediaType): Documents | BadDocument {
  const bytes = withoutByteOrderMark(body)
  return type === 'ndjson' ? linesIn(bytes) : elementsIn(bytes)
}

/** Returns the media type, if `Content-Type` names one that Sluice accepts. */
export function mediaTypeOf(header: string | undefined): MediaType | undefined {
  const [type = '', ...parameters] = (header ?? '')
    .toLowerCase()
    .split(';')
    .map(part => part.trim())
  const charset = parameters
    .find(one => one.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') return undefined
  if (type === 'application/json') return 'json'
  return type === 'application/x-ndjson' || type === 'application/ndjson' ? 'ndjson' : undefined
}

function linesIn(body: Buffer): Documents | BadDocument {
  const parts: Uint8Array[] = []
  let documents = 0
  let length = 0
  for (let at = 0, line = 1; at < body.length; line += 1) {
    const found = body.indexOf(LINE_FEED, at)
    const end = found === -1 ? body.length : found
    const text = body.subarray(at, end > at && body[end - 1] === CARRIAGE_RETURN ? end - 1 : end)
    at = end + 1
    if (isBlank(text)) continue
    const problem = problemOf(text)
    if (problem !== undefined) return { ...problem, line, problem: `line ${line} ${problem.problem}` }
    parts.push(text, END)
    documents += 1
    length += text.length + END.length
  }
  // Most bodies need no change: they have no blank line, and their last line has its line end.
  const isSame = length === body.length && body.at(-1) === LINE_FEED
  return { bytes: isSame ? body : Buffer.concat(parts, length), documents }
}

function elementsIn(body: Buffer): Documents | BadDocument {
  const parts: Uint8Array[] = []
  let documents = 0
  const found = elementsOf(body)
  for (const { from, to } of found.elements) {
    const text = body.subarray(from, to)
    const problem = problemOf(text)
    documents += 1
    if (problem !== undefined) return bad(body, from, problem, found.isArray ? `document ${documents}` : 'the body')
    // Line ends stand only between the parts of a document. JSON allows none inside a string.
    parts.push(onOneLine(text), END)
  }
  if (found.brokenAt !== undefined) {
    const what = found.elements.length === 0 ? 'the body' : `what follows document ${documents}`
    return bad(body, found.brokenAt, { status: 400, problem: 'is not valid JSON' }, what)
  }
  return { bytes: Buffer.concat(parts), documents }
}

function bad(body: Buffer, at: number, { status, problem }: Omit<BadDocument, 'line'>, what: string): BadDocument {
  let line = 1
  for (let next = body.indexOf(LINE_FEED); next !== -1 && next < at; next = body.indexOf(LINE_FEED, next + 1)) line += 1
  return { status, line, problem: `${what} (line ${line}) ${problem}` }
}

/** Returns why bytes are not a document. Messages never quote them. */
function problemOf(bytes: Uint8Array): Omit<BadDocument, 'line'> | undefined {
  if (!isUtf8(bytes)) return { status: 400, problem: 'is not UTF-8' }
  const value = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  if (value === undefined) return { status: 400, problem: 'is not valid JSON' }
  return isObject(value) ? undefined : { status: 422, problem: 'is not a JSON object' }
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every(byte => byte === SPACE || byte === 0x09 || byte === CARRIAGE_RETURN)
}

function onOneLine(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(LINE_FEED) && !bytes.includes(CARRIAGE_RETURN)) return bytes
  return bytes.map(byte => (byte === LINE_FEED || byte === CARRIAGE_RETURN ? SPACE : byte))
}

function withoutByteOrderMark(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body
}

/** Finds the documents in a JSON text: one value, or an array of values. A parser judges their content later. */
export interface Elements {
  readonly elements: readonly { readonly from: number; readonly to: number }[]
  readonly isArray: boolean
  /** The offset of the first byte around them that is not JSON. */
  readonly brokenAt?: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN = new Set([0x5b, 0x7b])
const CLOSE = new Set([0x5d, 0x7d])
const BRACKET = 0x5d

export function elementsOf(bytes: Uint8Array): Elements {
  const start = skipSpace(bytes, 0)
  const end = endOfText(bytes)
  if (start >= end) return { elements: [], isArray: false }
  if (bytes[start] !== 0x5b) return { elements: [{ from: start, to: end }], isArray: false }
  const elements: { from: number; to: number }[] = []
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === BRACKET) return behind({ elements, isArray: true }, bytes, at)
  for (;;) {
    const to = endOfValue(bytes, at)
    if (to === at) return { elements, isArray: true, brokenAt: at }
    elements.push({ from: at, to })
    at = skipSpace(bytes, to)
    if (bytes[at] === BRACKET) return behind({ elements, isArray: true }, bytes, at)
    if (bytes[at] !== COMMA) return { elements, isArray: true, brokenAt: Math.min(at, bytes.length) }
    at = skipSpace(bytes, at + 1)
  }
}

/** Checks that only white space follows the bracket that closes the array. */
function behind(found: Elements, bytes: Uint8Array, bracket: number): Elements {
  const at = skipSpace(bytes, bracket + 1)
  return at === bytes.length ? found : { ...found, brokenAt: at }
}

/** Returns the offset of the comma or bracket that ends a value of the outermost array. Returns `from` if there is no value. */
function endOfValue(bytes: Uint8Array, from: number): number {
  let depth = 0
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (OPEN.has(byte)) depth += 1
    else if (depth > 0 && CLOSE.has(byte)) depth -= 1
    else if (depth === 0 && (byte === COMMA || CLOSE.has(byte))) break
    at += 1
  }
  let end = Math.min(at, bytes.length)
  while (end > from && isWhiteSpace(bytes[end - 1])) end -= 1
  return end
}

/** Returns the offset of the closing quote, or the end of the text if there is none. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && isWhiteSpace(bytes[at])) at += 1
  return at
}

function endOfText(bytes: Uint8Array): number {
  let end = bytes.length
  while (end > 0 && isWhiteSpace(bytes[end - 1])) end -= 1
  return end
}
