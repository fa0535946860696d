/**
 * Writes a rejected document as one NDJSON line, with the reason and everything that a replay needs. Keeps the
 * document's bytes: as `document` if they are a JSON object, as `line` if they are other text, as `base64` if they
 * are not UTF-8 or too long to hold. The author comes first, so that readers find the author without reading the
 * rest.
 */
import { isUtf8 } from 'node:buffer'
import type { Destination, Refused } from '../flow.js'
import { operations } from '../operation.js'

/** Longer text goes as base64: escaped, it could grow past what a string can hold. */
const LONGEST_TEXT = 16 << 20

/** Whose a record is. */
export interface Author {
  readonly run: string
  /** Letters and digits. Unique for each process, because runs of the same name may write to one file. */
  readonly writer: string
}

/** Fields that every record of a process shares. */
export interface Stamp extends Author {
  readonly destination: Destination
}

/** Room for records, used again and again. */
const USUAL_BYTES = 1 << 20

/** Writes records into memory, one behind the other. */
export class Records {
  readonly #headOf: HeadOf
  #bytes = Buffer.alloc(0)
  #filled = 0

  constructor(stamp: Stamp | undefined) {
    this.#headOf = headsOf(stamp)
  }

  /** Bytes of the records that nobody took yet. */
  get length(): number {
    return this.#filled
  }

  add(refused: Refused): void {
    const { document, type, reason } = refused
    const start = `{${this.#headOf(refused)},"reason":${JSON.stringify(reason)},`
    if (isText.has(type)) return this.#write(`${start}${textOf(document)}}\n`)
    this.#write(`${start}"document":`)
    this.#reserve(document.length)
    this.#bytes.set(document, this.#filled)
    this.#filled += document.length
    this.#write('}\n')
  }

  /** Returns the records. The bytes are valid until the next call of `add`. */
  take(): Buffer {
    const records = this.#bytes.subarray(0, this.#filled)
    this.#filled = 0
    // Memory for an unusually long record is not kept.
    if (this.#bytes.length > USUAL_BYTES * 4) this.#bytes = Buffer.alloc(0)
    return records
  }

  #write(text: string): void {
    this.#reserve(text.length * 3)
    this.#filled += this.#bytes.write(text, this.#filled)
  }

  #reserve(bytes: number): void {
    const needed = this.#filled + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(USUAL_BYTES * 2, needed))
    larger.set(this.#bytes.subarray(0, this.#filled))
    this.#bytes = larger
  }
}

/** Returns the field that keeps what is not known to be a JSON object. */
function textOf(document: Uint8Array): string {
  const bytes = Buffer.isBuffer(document)
    ? document
    : Buffer.from(document.buffer, document.byteOffset, document.length)
  return bytes.length <= LONGEST_TEXT && isUtf8(bytes)
    ? `"line":${JSON.stringify(bytes.toString())}`
    : `"base64":"${bytes.toString('base64')}"`
}

/** Codes of lines that are no object, or that could not be parsed. */
const isText = new Set(['DOCUMENT_NOT_JSON', 'DOCUMENT_ROW_INVALID', 'DOCUMENT_TOO_LARGE', 'DEAD_LETTER_BROKEN'])

/** Returns the fields that a record begins with, without braces. */
export type HeadOf = (refused: Omit<Refused, 'document' | 'reason'>) => string

/** Most records of a run are alike: what repeats is written as JSON once. */
export function headsOf(stamp: Stamp | undefined): HeadOf {
  const author = stamp === undefined ? '' : `,${fieldsOf({ run: stamp.run, writer: stamp.writer })}`
  const where = lastOf((destination: Destination | undefined) => {
    const fields = fieldsOf(destination ?? {})
    return fields === '' ? '' : `,${fields}`
  })
  const typed = lastOf((type: string) => JSON.stringify(type))
  return ({ operation, origin, destination, id, routing, status, type, attempts }) => {
    const whose = `"operation":"${operation}"${author},"origin":${JSON.stringify(origin)}`
    const named = id === undefined ? '' : `,"id":${JSON.stringify(id)}`
    const routed = routing === undefined ? '' : `,"routing":${JSON.stringify(routing)}`
    const why = `,"status":${JSON.stringify(status)},"type":${typed(type)},"attempts":${JSON.stringify(attempts)}`
    return whose + where(destination ?? stamp?.destination) + named + routed + why
  }
}

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
