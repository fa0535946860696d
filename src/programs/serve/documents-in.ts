/** Takes the documents out of a request, as NDJSON lines. Each is checked and stays as it was written. */
import { CARRIAGE_RETURN, endWithoutSpace, isBlank, isWhiteSpace, LINE_FEED } from '../../base/text/bytes.js'
import type { PostBody } from './read-body.js'
import { type Checking, DocumentLines, type LineProblem } from './document-lines.js'

export type MediaType = 'ndjson' | 'json'

/** Lines with their line ends, and the number of documents in them. */
export interface CountedLines {
  readonly bytes: Uint8Array
  readonly documents: number
}

/** The reason to reject the whole request. `line` counts the lines of its body from 1. */
interface BadDocument extends LineProblem {
  readonly line: number
}

const BROKEN: LineProblem = { status: 400, problem: 'is not valid JSON' }
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d

/** Returns all documents, or the first bad one. Needs no memory beside the body, which holds the lines in the end. */
export async function documentsIn(
  body: PostBody,
  type: MediaType,
  checking: Checking,
): Promise<CountedLines | BadDocument> {
  const { bytes, length } = withoutByteOrderMark(body)
  const text = bytes.subarray(0, length)
  const lines = new DocumentLines(bytes, length, checking)
  const isArray = type === 'json' && text[afterSpace(text, 0)] === OPEN_ARRAY
  const add = type === 'ndjson' ? addLines : isArray ? addElements : addValue
  return (await add(text, lines)) ?? { bytes: lines.bytes, documents: lines.documents }
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
  // A structured type, such as application/cloudevents+json, is JSON.
  if (/^application\/([\w!#$&^.-]+\+)?json$/.test(type)) return 'json'
  return type === 'application/x-ndjson' || type === 'application/ndjson' ? 'ndjson' : undefined
}

async function addLines(body: Buffer, lines: DocumentLines): Promise<BadDocument | undefined> {
  for (let at = 0, line = 1; at < body.length; line += 1) {
    const lineFeed = body.indexOf(LINE_FEED, at)
    const end = lineFeed === -1 ? body.length : lineFeed
    if (!isBlank(body, at, end)) {
      const to = body[end - 1] === CARRIAGE_RETURN ? end - 1 : end
      const next = await lines.check(at, to)
      if (next !== to) return bad(next, line, `line ${line}`)
      lines.add(at, to)
    }
    at = end + 1
    if (lines.isTurnOver(at)) await lines.nextTurn(at)
  }
  return undefined
}

async function addValue(body: Buffer, lines: DocumentLines): Promise<BadDocument | undefined> {
  const at = afterSpace(body, 0)
  if (at === body.length) return undefined
  const next = await lines.check(at, body.length)
  if (next !== body.length) return badAt(lines, at, next, 'the body')
  lines.addOnOneLine(at, endWithoutSpace(body, next))
  return undefined
}

async function addElements(body: Buffer, lines: DocumentLines): Promise<BadDocument | undefined> {
  const from = afterSpace(body, 0) + 1
  let at = afterSpace(body, from)
  if (body[at] !== CLOSE_ARRAY) {
    for (at = from - 1; lines.documents === 0 || body[at] === COMMA;) {
      const element = afterSpace(body, at + 1)
      const next = await lines.check(element, body.length)
      if (typeof next !== 'number') return badAt(lines, element, next, `document ${lines.documents + 1}`)
      lines.addOnOneLine(element, endWithoutSpace(body, next))
      at = next
    }
  }
  const isWhole = body[at] === CLOSE_ARRAY && afterSpace(body, at + 1) === body.length
  return isWhole ? undefined : badAt(lines, at, BROKEN, `the text after document ${lines.documents}`)
}

/** `found`: the problem, or the offset of what follows a whole value. */
function bad(found: LineProblem | number, line: number, what: string): BadDocument {
  const { status, problem } = typeof found === 'number' ? BROKEN : found
  // A request with too many documents has no bad one.
  return { status, line, problem: status === 413 ? problem : `${what} ${problem}` }
}

function badAt(lines: DocumentLines, at: number, found: LineProblem | number, what: string): BadDocument {
  const line = lines.lineAt(at)
  return bad(found, line, `${what} (line ${line})`)
}

function afterSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (isWhiteSpace(bytes[at])) at += 1
  return at
}

function withoutByteOrderMark({ bytes, length }: PostBody): PostBody {
  const isMarked = length > 2 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return isMarked ? { bytes: bytes.subarray(3), length: length - 3 } : { bytes, length }
}
