const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const SPACE = 0x20

/** Finds where the fields of a JSON object stand. Used again and again: it makes nothing for an object. */
export class ObjectFields {
  count = 0
  /** Offsets of each name, behind its quote and at the next one, and of each value. */
  readonly nameFrom: number[] = []
  readonly nameTo: number[] = []
  readonly from: number[] = []
  readonly to: number[] = []

  /** Reads the object that begins at `at`, which is valid JSON. */
  read(bytes: Buffer, at: number): void {
    this.count = 0
    let next = skipSpace(bytes, at + 1)
    while (bytes[next] === QUOTE) {
      const nameEnd = endOfText(bytes, next)
      // Behind the colon.
      const from = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1)
      const to = endOfValue(bytes, from)
      const { count } = this
      this.nameFrom[count] = next + 1
      this.nameTo[count] = nameEnd - 1
      this.from[count] = from
      this.to[count] = to
      this.count = count + 1
      next = skipSpace(bytes, to)
      if (bytes[next] === COMMA) next = skipSpace(bytes, next + 1)
    }
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

function isAt(bytes: Buffer, from: number, name: Buffer): boolean {
  for (let at = 0; at < name.length; at += 1) if (bytes[from + at] !== name[at]) return false
  return true
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  while ((bytes[at] as number) <= SPACE) at += 1
  return at
}

/** Returns the offset behind the closing quote. */
function endOfText(bytes: Buffer, from: number): number {
  let at = from + 1
  for (let byte = bytes[at]; byte !== QUOTE && byte !== undefined; byte = bytes[at]) at += byte === BACKSLASH ? 2 : 1
  return at + 1
}

function endOfValue(bytes: Buffer, from: number): number {
  const first = bytes[from]
  if (first === QUOTE) return endOfText(bytes, from)
  let at = from
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
    let depth = 0
    do {
      const byte = bytes[at]
      if (byte === QUOTE) {
        at = endOfText(bytes, at)
        continue
      }
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth -= 1
      at += 1
    } while (depth > 0 && at < bytes.length)
    return at
  }
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] as number
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || byte <= SPACE) break
  }
  return at
}
