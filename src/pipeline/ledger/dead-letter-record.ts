/**
 * Writes a rejected document as one NDJSON line, with the reason and everything that a replay needs. Keeps the
 * document's bytes: as `document` if they are a JSON object, as `line` if they are other text, as `base64` if they
 * are not UTF-8 or too long to hold. Of a long document that its input still holds, only the `start` is kept. The author comes first, so that readers find the author without reading the
 * rest.
 */
import { isUtf8 } from 'node:buffer'
import type { Destination, Origin, Refused } from '../../base/flow.js'
import { type Operation, operations } from '../../base/operation.js'
import { JsonBytes } from './json-bytes.js'

/** Longer text goes as base64: escaped, it could grow past what a string can hold. */
const LONGEST_TEXT = 16 << 20

/** The writer of a record. */
export interface Author {
  readonly run: string
  /** Letters and digits. Unique for each process, because runs of the same name may write to one file. */
  readonly writer: string
}

/** Fields that every record of a process shares. */
export interface Stamp extends Author {
  readonly destination: Destination
}

/** Writes records into memory, one behind the other. */
export class Records {
  readonly #bytes = new JsonBytes()
  readonly #writeHead: HeadWriter

  constructor(stamp: Stamp | undefined) {
    this.#writeHead = headWriter(stamp)
  }

  /** Bytes of the records that were not taken yet. */
  get length(): number {
    return this.#bytes.length
  }

  add(refused: Refused): void {
    const { document, type, reason } = refused
    const bytes = this.#bytes
    this.#writeHead(bytes, refused)
    bytes.put(REASON)
    bytes.string(reason)
    if (refused.isExcerpt === true) {
      bytes.put(START)
      bytes.string(Buffer.from(document).toString('utf8'))
    } else if (isText.has(type)) putText(bytes, document)
    else {
      bytes.put(DOCUMENT)
      bytes.put(document)
    }
    bytes.put(END)
  }

  /** Returns the records. The bytes are valid until the next call of `add`. */
  take(): Buffer {
    return this.#bytes.take()
  }
}

const REASON = Buffer.from(',"reason":')
const DOCUMENT = Buffer.from(',"document":')
const LINE = Buffer.from(',"line":')
const START = Buffer.from(',"start":')
const END = Buffer.from('}\n')

/** Writes the field that keeps what is not known to be a JSON object. */
function putText(bytes: JsonBytes, document: Uint8Array): void {
  if (document.length <= LONGEST_TEXT && isUtf8(document)) {
    bytes.put(LINE)
    bytes.stringOf(document)
  } else {
    const whole = Buffer.from(document.buffer, document.byteOffset, document.length)
    bytes.write(`,"base64":"${whole.toString('base64')}"`)
  }
}

/** Codes of lines that are no object, or that could not be parsed. */
const isText = new Set([
  'DOCUMENT_NOT_JSON',
  'DOCUMENT_ROW_INVALID',
  'DOCUMENT_HIT_INVALID',
  'DOCUMENT_NOT_EDITED',
  'DOCUMENT_NOT_TRANSFORMED',
  'DOCUMENT_TOO_LARGE',
  'DEAD_LETTER_BROKEN',
])

/** Writes what a record begins with: the opening brace, and the fields before the reason. */
type HeadWriter = (bytes: JsonBytes, refused: Head) => void

type Head = Omit<Refused, 'document' | 'reason'>

/** Returns what a record of a document begins with that is written in pieces. */
export function headOf(stamp: Stamp | undefined, refused: Head): Buffer {
  const bytes = new JsonBytes()
  headWriter(stamp)(bytes, refused)
  return bytes.take()
}

/** Most records of a run are alike: what repeats is made once. */
function headWriter(stamp: Stamp | undefined): HeadWriter {
  const author = stamp === undefined ? '' : `,${fieldsOf({ run: stamp.run, writer: stamp.writer })}`
  const openingOf = lastOf((operation: Operation) => Buffer.from(`{"operation":"${operation}"${author},"origin":`))
  const whereOf = lastOf((destination: Destination | undefined) => {
    const fields = fieldsOf(destination ?? {})
    return Buffer.from(fields === '' ? '' : `,${fields}`)
  })
  const namedIn = lastOf((index: string | undefined) =>
    index === undefined || stamp === undefined ? stamp?.destination : { ...stamp.destination, index },
  )
  const statusOf = lastOf((status: number) => Buffer.from(`,"status":${JSON.stringify(status)},"type":`))
  const typeOf = lastOf((type: string) => Buffer.from(JSON.stringify(type)))
  const attemptsOf = lastOf((attempts: number) => Buffer.from(`,"attempts":${JSON.stringify(attempts)}`))
  const putOrigin = originWriter()
  return (bytes, { operation, origin, index, destination, id, routing, condition, status, type, attempts }) => {
    bytes.put(openingOf(operation))
    putOrigin(bytes, origin)
    bytes.put(whereOf(destination ?? namedIn(index)))
    if (id !== undefined) {
      bytes.put(ID)
      bytes.string(id)
    }
    if (routing !== undefined) bytes.write(`,"routing":${JSON.stringify(routing)}`)
    if (condition !== undefined) bytes.write(`,"condition":{${condition}}`)
    bytes.put(statusOf(status))
    bytes.put(typeOf(type))
    bytes.put(attemptsOf(attempts))
  }
}

const ID = Buffer.from(',"id":')

/** Returns a function that writes origins. */
function originWriter(): (bytes: JsonBytes, origin: Origin) => void {
  const openingOf = lastOf((input: string) => Buffer.from(`{"input":${JSON.stringify(input)},"document":`))
  return (bytes, origin) => {
    const { input, document, line, offset } = origin
    // A record that comes back may have an origin that a person has edited. Of a line in the middle of an input only the offset is known.
    if (document === undefined || !isAsMade(origin)) return bytes.write(JSON.stringify(origin))
    bytes.put(openingOf(input))
    bytes.number(document)
    if (line !== undefined && offset !== undefined) {
      bytes.put(LINE)
      bytes.number(line)
      bytes.put(OFFSET)
      bytes.number(offset)
    }
    bytes.put(CLOSING)
  }
}

const OFFSET = Buffer.from(',"offset":')
const CLOSING = Buffer.from('}')

/** Returns whether an origin has the fields of an origin, in their order, and nothing else. */
function isAsMade(origin: Origin): boolean {
  let fields = 0
  for (const name in origin) if (name !== ORIGIN[fields++]) return false
  if (!isCount(origin.document)) return false
  return fields === 2 || (isCount(origin.line) && isCount(origin.offset))
}

function isCount(value: number | undefined): boolean {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0
}

const ORIGIN = ['input', 'document', 'line', 'offset']

function fieldsOf(fields: object): string {
  return JSON.stringify(fields).slice(1, -1)
}

/** Remembers what was made last. */
function lastOf<From, To>(make: (from: From) => To): (from: From) => To {
  let last: { readonly from: From; readonly made: To } | undefined
  return from => {
    if (last === undefined || last.from !== from) last = { from, made: make(from) }
    return last.made
  }
}

/** Returns the possible beginnings of an author's records, with bytes as characters. */
export function openingsOf({ run, writer }: Author): readonly string[] {
  return operations.map(operation => {
    const opening = `${JSON.stringify({ operation, run, writer }).slice(0, -1)},`
    return Buffer.from(opening).toString('latin1')
  })
}
