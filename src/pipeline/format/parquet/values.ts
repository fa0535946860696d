/** Writes values of Parquet columns as JSON, digit by digit. Source: apache/parquet-format, LogicalTypes.md. */
import { isUtf8 } from 'node:buffer'

/** A value that JSON cannot hold, or that is not what its column says: its row is refused. `text`: JSON that shows it. */
export class Unwritable {
  readonly reason: string
  readonly text: string
  /** Whether it is NaN or infinite. */
  readonly isNoNumber: boolean

  constructor(reason: string, text: string, isNoNumber = false) {
    this.reason = reason
    this.text = JSON.stringify(text)
    this.isNoNumber = isNoNumber
  }
}

/** Returns the JSON of a value as the decoder gives it. */
export type Write = (value: unknown) => string | Unwritable

/** Returns text as JSON. The decoder calls it once for each entry of a dictionary. */
export function writeText(bytes: Uint8Array): string | Unwritable {
  const text = bufferOf(bytes).toString('utf8')
  if (text.includes('\ufffd') && !isUtf8(bytes)) return new Unwritable('is not UTF-8', writeBase64(bytes))
  return JSON.stringify(text)
}

/** Passes on what `writeText` made. */
export const writeMade: Write = made => made as string | Unwritable

/** Passes on JSON text. */
export const writeJsonText: Write = value => {
  const text = bufferOf(value as Uint8Array).toString('utf8')
  try {
    JSON.parse(text)
  } catch {
    return new Unwritable('is not JSON', text)
  }
  // They stand only between its values.
  return text.replaceAll(/[\r\n]/g, ' ')
}

export const writeBinary: Write = value => `"${writeBase64(value as Uint8Array)}"`
export const writeBoolean: Write = value => (value === true ? 'true' : 'false')
export const writeInteger: Write = value => String(value)
export const writeUnsigned: Write = value =>
  typeof value === 'bigint' ? String(BigInt.asUintN(64, value)) : String((value as number) >>> 0)

/** A whole number keeps a point, so that the index takes the field for one of such numbers. */
export const writeFloat: Write = value => {
  const number = value as number
  if (!Number.isFinite(number))
    return new Unwritable(`is ${number}, which JSON does not have. --nan null loads it as null`, String(number), true)
  const text = Object.is(number, -0) ? '-0' : String(number)
  return /[.e]/.test(text) ? text : `${text}.0`
}

/** Source: IEEE 754, binary16. */
export const writeHalf: Write = value => {
  const bits = bufferOf(value as Uint8Array).readUInt16LE(0)
  const [exponent, fraction] = [(bits >> 10) & 0x1f, bits & 0x3ff]
  const size = exponent === 0 ? 2 ** -24 * fraction : 2 ** (exponent - 25) * (1024 + fraction)
  const number = exponent < 0x1f ? size : fraction === 0 ? Infinity : Number.NaN
  return writeFloat(bits >> 15 === 1 ? -number : number)
}

export function decimalWriter(scale: number): Write {
  return value => {
    const digits = String(unscaled(value))
    if (scale <= 0) return scale === 0 || digits === '0' ? digits : digits + '0'.repeat(-scale)
    const sign = digits.startsWith('-') ? '-' : ''
    const padded = digits.slice(sign.length).padStart(scale + 1, '0')
    return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`
  }
}

function unscaled(value: unknown): number | bigint {
  if (!(value instanceof Uint8Array)) return value as number | bigint
  return value.length === 0 ? 0 : BigInt.asIntN(value.length * 8, BigInt(`0x${bufferOf(value).toString('hex')}`))
}

export const writeDate: Write = value => {
  const date = new Date((value as number) * DAY_MS)
  if (Number.isNaN(date.getTime())) return outOfRange(value)
  return `"${date.toISOString().slice(0, -'T00:00:00.000Z'.length)}"`
}

const DAY_MS = 86_400_000
/** Digits of a fraction of a second. */
const DIGITS = { MILLIS: 3, MICROS: 6, NANOS: 9 } as const

export type Unit = keyof typeof DIGITS

/** `isUtc`: otherwise the clock of an unknown zone shows it, and no zone is written. */
export function timestampWriter(unit: Unit, isUtc: boolean): Write {
  const digits = DIGITS[unit]
  const zone = isUtc ? 'Z"' : '"'
  return value => {
    const { seconds, fraction } = secondsOf(value as bigint | number, 10 ** digits)
    const date = new Date(seconds * 1000)
    if (Number.isNaN(date.getTime())) return outOfRange(value)
    return `"${date.toISOString().slice(0, -'.000Z'.length)}.${String(fraction).padStart(digits, '0')}${zone}`
  }
}

/** Takes whole seconds apart from their fraction, which is never negative. Small counts need no long integers, which take most of the time. */
function secondsOf(value: bigint | number, perSecond: number): { seconds: number; fraction: number } {
  const count = Number(value)
  if (Number.isSafeInteger(count)) {
    const fraction = ((count % perSecond) + perSecond) % perSecond
    return { seconds: (count - fraction) / perSecond, fraction }
  }
  const [long, per] = [BigInt(value), BigInt(perSecond)]
  const fraction = ((long % per) + per) % per
  return { seconds: Number((long - fraction) / per), fraction: Number(fraction) }
}

export function timeWriter(unit: Unit): Write {
  const write = timestampWriter(unit, false)
  const perDay = 86_400n * 10n ** BigInt(DIGITS[unit])
  return value => {
    const count = BigInt(value as bigint | number)
    if (count < 0n || count >= perDay) return outOfRange(value)
    const text = write(count)
    return typeof text === 'string' ? `"${text.slice('"1970-01-01T'.length)}` : text
  }
}

function outOfRange(value: unknown): Unwritable {
  return new Unwritable('is a date or time out of range', String(value))
}

export const writeUuid: Write = value => {
  const hex = bufferOf(value as Uint8Array).toString('hex')
  return `"${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}"`
}

function writeBase64(bytes: Uint8Array): string {
  return bufferOf(bytes).toString('base64')
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
