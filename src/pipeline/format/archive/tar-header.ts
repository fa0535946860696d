/** Reads the headers of tar archives. Source: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Header Block". */
import { LINE_FEED, isWhiteSpace } from '../../../base/text/bytes.js'

export const TAR_BLOCK_BYTES = 512

/** Returns whether a tar archive begins so: its header has the right checksum. */
export function isTar(head: Uint8Array): boolean {
  if (head.length < TAR_BLOCK_BYTES || head[0] === 0) return false
  // Text has none, and there may be very many files.
  return head.subarray(0, MODE_END).includes(0) && isHeader(head.subarray(0, TAR_BLOCK_BYTES))
}

/**
 * Returns whether more bytes could show that. The name of the first file ends with zeros, which text does not have. JSON may come slowly,
 * and does not wait.
 */
export function mayBeTar(head: Uint8Array): boolean {
  if (head.length >= TAR_BLOCK_BYTES || head[0] === 0) return false
  const start = head.subarray(0, MODE_END)
  if (start.includes(0)) return true
  return head.length < MODE_END && !start.includes(LINE_FEED) && !beginsJson(start)
}

function beginsJson(head: Uint8Array): boolean {
  const first = head.find(byte => !isWhiteSpace(byte))
  return first === 0x7b || first === 0x5b
}

const NAME_BYTES = 100
/** The name may fill its field, but a zero or a blank ends the digits behind it. */
const MODE_END = 108

/** Returns whether the checksum of a header is right. */
export function isHeader(header: Uint8Array): boolean {
  const stated = tarNumber(header, 148, 8)
  let sum = 8 * 0x20
  for (const [at, byte] of header.entries()) if (at < 148 || at >= 156) sum += byte
  return stated === sum
}

/** Reads octal digits, or what GNU writes if there are too many. Undefined if it is neither, or too large. */
export function tarNumber(header: Uint8Array, from: number, length: number): number | undefined {
  const bytes = Buffer.from(header.buffer, header.byteOffset + from, length)
  if (bytes[0] === 0x80) {
    const value = bytes.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0)
    return Number.isSafeInteger(value) ? value : undefined
  }
  const [, digits] = /^[ \0]*([0-7]*)(?:[ \0]|$)/.exec(bytes.toString('latin1')) ?? []
  return digits === undefined ? undefined : Number.parseInt(`0${digits}`, 8)
}

/** Returns the name of the file, as far as the header has it. */
export function nameIn(header: Buffer): string {
  const name = textIn(header, 0, NAME_BYTES)
  // GNU keeps times there.
  const isPosix = header.toString('latin1', 257, 263) === 'ustar\0'
  const prefix = isPosix ? textIn(header, 345, 155) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

/** Returns the text up to the first zero. */
export function textIn(bytes: Buffer, from: number, length: number): string {
  const text = bytes.subarray(from, from + length)
  const end = text.indexOf(0)
  return text.toString('utf8', 0, end === -1 ? text.length : end)
}

/** Facts about a file from the records before its header. */
export interface PaxFacts {
  name?: string
  size?: number
  isSparse?: boolean
}

const BLANK = 0x20

/**
 * Reads the records of a pax header: each is its length, a blank, a name, `=`, a value and a line feed. Undefined if they are not whole.
 */
export function readPax(bytes: Buffer): PaxFacts | undefined {
  const facts: PaxFacts = {}
  for (let from = 0; from < bytes.length;) {
    const blank = bytes.indexOf(BLANK, from)
    const digits = blank === -1 ? '' : bytes.toString('latin1', from, blank)
    const end = from + Number(digits)
    if (!/^\d{1,7}$/.test(digits) || end <= blank + 1 || end > bytes.length || bytes[end - 1] !== LINE_FEED)
      return undefined
    const record = bytes.toString('utf8', blank + 1, end - 1)
    const equals = record.indexOf('=')
    if (equals === -1) return undefined
    const [name, value] = [record.slice(0, equals), record.slice(equals + 1)]
    if (name === 'path') facts.name = value
    if (name.startsWith('GNU.sparse.')) facts.isSparse = true
    if (name === 'size') {
      if (!/^\d+$/.test(value) || !Number.isSafeInteger(Number(value))) return undefined
      facts.size = Number(value)
    }
    from = end
  }
  return facts
}
