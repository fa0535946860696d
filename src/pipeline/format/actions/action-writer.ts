import { unicodeProblem } from '../../../base/text/shown.js'
import {
  ACTION_MARK,
  conditionLetters,
  copyBytes,
  LINE_FEED,
  refusedLineStart,
  SPACE,
} from '../../../base/text/bytes.js'
import type { Condition } from '../../../base/text/condition.js'

const USUAL_BYTES = 256 << 10
const QUOTE = 0x22
const CLOSE_OBJECT = 0x7d
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const BACKSLASH = 0x5c
/** Elasticsearch refuses a request with a longer id. */
const MAX_ID_BYTES = 512

/** A stretch of bytes. */
export interface Range {
  readonly bytes: Buffer
  readonly from: number
  readonly to: number
}

/** Where a document belongs, and what becomes of it there. */
export interface Address {
  /** Absent: that of the run. */
  readonly operation?: string | undefined
  /** A JSON string or number. */
  readonly id?: Range | undefined
  readonly routing?: Range | undefined
  readonly condition?: Condition | undefined
  /** Absent: that of the run. */
  readonly index?: string | undefined
}

/** Writes lines that carry their own action, into memory that is used again and again. */
export class ActionWriter {
  #out = Buffer.allocUnsafeSlow(USUAL_BYTES)
  #at = 0

  get isFull(): boolean {
    return this.#at >= USUAL_BYTES
  }

  /** Returns the lines since the last call, which are valid until the next line. */
  take(): Buffer {
    const lines = this.#out.subarray(0, this.#at)
    this.#at = 0
    return lines
  }

  /** Writes a document. */
  add(address: Address, document: Range): void {
    this.#reserve(lengthOf(address) + document.to - document.from + 1)
    this.#address(address)
    this.#copy(document)
    this.#out[this.#at++] = LINE_FEED
  }

  /** Writes what is no document, for the dead letters. `address`: where its document belongs, as far as that is known. */
  refused(reason: string, lines: readonly Range[], address: Address = {}): void {
    const start = refusedLineStart('DOCUMENT_HIT_INVALID', reason)
    const length = lines.reduce((sum, { from, to }) => sum + to - from + 1, 0)
    this.#reserve(start.length + lengthOf(address) + length + 1)
    this.#at += start.copy(this.#out, this.#at)
    this.#address(address)
    for (const [number, line] of lines.entries()) {
      if (number > 0) this.#out[this.#at++] = SPACE
      this.#copy(line)
    }
    this.#out[this.#at++] = LINE_FEED
  }

  #address({ operation, id, routing, condition, index }: Address): void {
    this.#out[this.#at++] = ACTION_MARK
    if (operation !== undefined) this.#at += this.#out.write(operation, this.#at, 'latin1')
    if (condition !== undefined) this.#out[this.#at++] = conditionLetters[condition.kind]
    this.#out[this.#at++] = OPEN_OBJECT
    if (id !== undefined) this.#value(ID, id)
    if (id !== undefined && routing !== undefined) this.#out[this.#at++] = COMMA
    if (routing !== undefined) this.#value(ROUTING, routing)
    if (index !== undefined) {
      const comma = id === undefined && routing === undefined ? '' : ','
      this.#at += this.#out.write(`${comma}"_index":"${index}"`, this.#at)
    }
    if (condition !== undefined) this.#at += this.#out.write(`,${condition.text}`, this.#at, 'latin1')
    this.#out[this.#at++] = CLOSE_OBJECT
    this.#out[this.#at++] = ACTION_MARK
  }

  /** Writes a field. A number becomes a string with its digits. */
  #value(name: Buffer, value: Range): void {
    this.#at = copyBytes(name, 0, name.length, this.#out, this.#at)
    const isText = value.bytes[value.from] === QUOTE
    if (!isText) this.#out[this.#at++] = QUOTE
    this.#copy(value)
    if (!isText) this.#out[this.#at++] = QUOTE
  }

  #copy({ bytes, from, to }: Range): void {
    this.#at = copyBytes(bytes, from, to, this.#out, this.#at)
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes
    if (needed <= this.#out.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(USUAL_BYTES * 2, needed))
    this.#out.copy(larger, 0, 0, this.#at)
    this.#out = larger
  }
}

/** Returns how many bytes it takes at most. */
function lengthOf({ id, routing, index }: Address): number {
  const length = (range: Range | undefined) => (range === undefined ? 0 : range.to - range.from)
  return length(id) + length(routing) + 3 * (index?.length ?? 0) + 192
}

const OPEN_OBJECT = 0x7b
const ID = Buffer.from('"_id":')
const ROUTING = Buffer.from('"routing":')

/** Returns why a value can be no id and no routing. Undefined: it can, or there is none. */
export function addressProblem(name: string, value: Range | undefined): string | undefined {
  if (value === undefined) return undefined
  const { bytes, from, to } = value
  const first = bytes[from] as number
  if (first !== QUOTE) {
    const isNumber = first === MINUS || (first >= ZERO && first <= NINE)
    return isNumber ? undefined : `its ${name} is neither a string nor a number`
  }
  if (to - from === 2) return `its ${name} is empty`
  // Only an escaped text may be shorter than it stands, and only an escape makes half of a surrogate pair.
  const isEscaped = bytes.subarray(from, to).includes(BACKSLASH)
  const text = isEscaped ? (JSON.parse(bytes.toString('utf8', from, to)) as string) : undefined
  const problem = text === undefined ? undefined : unicodeProblem(text)
  if (problem !== undefined) return `its ${name} ${problem}`
  const length = text === undefined ? to - from - 2 : Buffer.byteLength(text)
  return name === '_id' && length > MAX_ID_BYTES ? `its ${name} has more than ${MAX_ID_BYTES} bytes` : undefined
}
