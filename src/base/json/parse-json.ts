/** Reads JSON that is whole, and fields in the bytes of an object that was checked. */
import { SPACE } from '../text/bytes.js'

export type JsonObject = Readonly<Record<string, unknown>>

/** More levels than any answer or file has that Sluice reads. Writing a value of some thousand levels ends in an error. */
const DEEPEST = 1000

/** Parses JSON. Returns undefined if the text is not JSON, or has more than 1,000 levels. */
export function parseJson(text: string | Buffer): unknown {
  try {
    const value: unknown = JSON.parse(text.toString())
    // Each level takes two characters.
    const mayBeDeeper = text.length > 2 * DEEPEST && typeof value === 'object' && value !== null
    return mayBeDeeper && isDeeper(value, DEEPEST) ? undefined : value
  } catch {
    return undefined
  }
}

/** Answers may have many thousand objects: so it makes none, and looks only into those. */
function isDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true
  for (const key in value) {
    const one: unknown = value[key as keyof typeof value]
    if (typeof one === 'object' && one !== null && isDeeper(one, levels - 1)) return true
  }
  return false
}

/** Parses a JSON object. Returns undefined for any other value, and for a text that is not JSON. */
export function parseObject(text: string | Buffer): JsonObject | undefined {
  const value = parseJson(text)
  return isObject(value) ? value : undefined
}

/** Returns whether a value is an object with named fields: no array, no null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Finds where the fields of a JSON object stand. Used again and again: it makes nothing for an object. */
export class ObjectFields {
  count = 0
  /** Offsets of each name, behind its quote and at the next one, and of each value. */
  readonly nameFrom: number[] = []
  readonly nameTo: number[] = []
  readonly from: number[] = []
  readonly to: number[] = []

  /** Reads the object that begins at `at`, which is valid JSON. Returns the offset behind it. */
  read(bytes: Buffer, at: number): number {
    this.count = 0
    let next = passSpace(bytes, at + 1)
    while (bytes[next] === QUOTE) {
      const nameEnd = passString(bytes, next)
      // Behind the colon.
      const from = passSpace(bytes, passSpace(bytes, nameEnd) + 1)
      const to = passValue(bytes, from)
      const { count } = this
      this.nameFrom[count] = next + 1
      this.nameTo[count] = nameEnd - 1
      this.from[count] = from
      this.to[count] = to
      this.count = count + 1
      next = passComma(bytes, to)
    }
    return next + 1
  }

  name(bytes: Buffer, field: number): string {
    const [from, to] = [this.nameFrom[field], this.nameTo[field]]
    const text = bytes.toString('utf8', from, to)
    return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
  }

  /** Returns the number of the first field of that name, or -1. No name has an escape that need not be one. */
  find(bytes: Buffer, name: Buffer): number {
    for (let field = 0; field < this.count; field += 1) {
      const from = this.nameFrom[field] as number
      if ((this.nameTo[field] as number) - from === name.length && isAt(bytes, from, name)) return field
    }
    return -1
  }
}

/**
 * Returns the bytes of each top-level value by name, with its white space. They are views. The first of equal names counts. The bytes
 * must be a valid JSON object.
 */
export function topLevelFields(bytes: Buffer): ReadonlyMap<string, Buffer> {
  const fields = new ObjectFields()
  fields.read(bytes, bytes.indexOf('{'))
  const values = new Map<string, Buffer>()
  for (let field = 0; field < fields.count; field += 1) {
    const name = fields.name(bytes, field)
    if (values.has(name)) continue
    const colon = passSpace(bytes, (fields.nameTo[field] as number) + 1)
    values.set(name, bytes.subarray(colon + 1, passSpace(bytes, fields.to[field] as number)))
  }
  return values
}

function isAt(bytes: Buffer, from: number, name: Buffer): boolean {
  for (let at = 0; at < name.length; at += 1) if (bytes[from + at] !== name[at]) return false
  return true
}

/**
 * Passes the object that begins at `at`, field by field, so that each byte of a long answer is looked at once. `take` may pass a value
 * itself: then it returns the offset behind it. Returns the offset behind the object.
 */
export function passObject(
  bytes: Buffer,
  at: number,
  take: (name: string, value: number) => number | undefined,
): number {
  let next = passSpace(bytes, at + 1)
  while (bytes[next] === QUOTE) {
    const nameEnd = passString(bytes, next)
    // Behind the colon.
    const value = passSpace(bytes, passSpace(bytes, nameEnd) + 1)
    next = passComma(bytes, take(bytes.toString('latin1', next + 1, nameEnd - 1), value) ?? passValue(bytes, value))
  }
  return next + 1
}

/** Passes the comma behind a value, if there is one, and white space. Returns the offset behind them. */
export function passComma(bytes: Buffer, from: number): number {
  const at = passSpace(bytes, from)
  return bytes[at] === COMMA ? passSpace(bytes, at + 1) : at
}

/** Passes white space of text that is known to be valid JSON. Returns the offset behind it. */
export function passSpace(bytes: Buffer, from: number): number {
  let at = from
  while ((bytes[at] as number) <= SPACE) at += 1
  return at
}

/** Passes a text. Returns the offset behind it. */
function passString(bytes: Buffer, from: number): number {
  let at = from + 1
  for (let byte = bytes[at]; byte !== QUOTE && byte !== undefined; byte = bytes[at]) at += byte === BACKSLASH ? 2 : 1
  return at + 1
}

/** Passes a value. Returns the offset behind it. */
export function passValue(bytes: Buffer, from: number): number {
  const first = bytes[from]
  if (first === QUOTE) return passString(bytes, from)
  let at = from
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) {
    for (let byte = bytes[at] as number; byte > SPACE; byte = bytes[at] as number) {
      if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) break
      at += 1
    }
    return at
  }
  let depth = 0
  do {
    const byte = bytes[at] as number
    if (byte === QUOTE) at = passString(bytes, at)
    else {
      // Brackets and braces differ by one bit.
      if ((byte | SPACE) === OPEN_OBJECT) depth += 1
      else if ((byte | SPACE) === CLOSE_OBJECT) depth -= 1
      at += 1
    }
  } while (depth > 0 && at < bytes.length)
  return at
}
