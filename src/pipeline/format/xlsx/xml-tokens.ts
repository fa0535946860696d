/** Splits XML into tags and text while its bytes come. Office programs write no DTD, so there is none here. */
import { isWhiteSpace } from '../../../base/text/bytes.js'

/** The names of tags that matter in a workbook. */
const NAMES =
  'c cellXfs cellStyleXfs f is mergeCell numFmt r rPh Relationship row sheet sheetData si sst t v workbookPr xf'.split(
    ' ',
  )

/** Most bytes of a tag, a comment or a text in one piece. No cell of a spreadsheet holds as much. */
const LONGEST_BYTES = 4 << 20

type Token = 'open' | 'close' | 'text'

export class XmlTokens {
  bytes: Buffer = Buffer.alloc(0)
  /** The place of the text, or of the value of the last attribute that was found. */
  from = 0
  to = 0
  /** The name of the tag without its prefix. Empty: a name that does not matter. */
  name = ''
  #tagFrom = 0
  #tagTo = 0
  #isOfEmpty = false
  /** Whether the text is taken as it stands. */
  #isRaw = false
  #depth = 0
  #hasRoot = false
  #next = 0

  /** Adds a chunk. `next` has returned undefined before. */
  add(chunk: Uint8Array): void {
    const rest = this.bytes
    this.bytes =
      rest.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat([rest, chunk])
    this.#next = 0
  }

  /** Throws an error if the document is not whole. */
  end(): void {
    if (this.bytes.length > 0 || this.#depth > 0 || !this.#hasRoot) throw new Error('its XML ends too early')
  }

  /** Moves to the next token. Returns undefined if it needs more bytes. Then it copies the rest of the last chunk. */
  next(): Token | undefined {
    if (this.#isOfEmpty) {
      this.#isOfEmpty = false
      this.#depth -= 1
      return 'close'
    }
    const { bytes } = this
    for (let at = this.#next; at < bytes.length; at = this.#next) {
      const token = bytes[at] === LESS ? this.#markup(at) : this.#text(at)
      if (token === 'cut') return this.#keep(at)
      if (token !== 'nothing') return token
    }
    return this.#keep(bytes.length)
  }

  /** Finds an attribute of the tag, by its name without its prefix. Its value stands between `from` and `to`. */
  find(name: string): boolean {
    const { bytes } = this
    const end = this.#tagTo
    let at = this.#tagFrom
    while (at < end) {
      while (at < end && isWhiteSpace(bytes[at])) at += 1
      let nameFrom = at
      while (at < end && bytes[at] !== EQUALS) {
        if (bytes[at] === COLON) nameFrom = at + 1
        at += 1
      }
      let nameTo = at
      while (nameTo > nameFrom && isWhiteSpace(bytes[nameTo - 1])) nameTo -= 1
      at += 1
      while (at < end && isWhiteSpace(bytes[at])) at += 1
      const quote = bytes[at]
      if (at >= end) return false
      if (quote !== QUOTE && quote !== APOSTROPHE) throw new Error('an attribute of its XML has no quotes')
      const from = at + 1
      at = from
      while (at < end && bytes[at] !== quote) at += 1
      if (isNamed(bytes, nameFrom, nameTo, name)) {
        this.from = from
        this.to = at
        return true
      }
      at += 1
    }
    return false
  }

  /** Returns the value of an attribute of the tag. */
  attribute(name: string): string | undefined {
    return this.find(name) ? withoutEntities(this.bytes.toString('utf8', this.from, this.to)) : undefined
  }

  /** Whether the text does not stand as it is meant: it has entities, line ends of Windows or codes such as `_x000D_`. */
  get isCoded(): boolean {
    const { bytes, to } = this
    for (let at = this.from; at < to; at += 1) {
      const byte = bytes[at]
      if (byte === AMPERSAND || byte === RETURN || (byte === UNDERSCORE && bytes[at + 1] === LETTER_X)) return true
    }
    return false
  }

  /** Returns the text without entities. Its codes stay. */
  text(): string {
    const text = this.bytes.toString('utf8', this.from, this.to)
    return this.#isRaw ? text : withoutEntities(text.replaceAll(/\r\n?/g, '\n'))
  }

  #keep(from: number): undefined {
    if (this.bytes.length - from > LONGEST_BYTES) throw new Error('its XML has a text or tag of more than 4 MiB')
    this.bytes = Buffer.from(this.bytes.subarray(from))
    this.#next = 0
    return undefined
  }

  #text(from: number): Token | 'cut' | 'nothing' {
    const { bytes } = this
    let at = from
    while (at < bytes.length && bytes[at] !== LESS) at += 1
    if (at - from > LONGEST_BYTES) throw new Error('its XML has a text or tag of more than 4 MiB')
    if (this.#depth === 0) {
      // Only white space and the mark of its encoding may stand around the document.
      this.#next = at
      return 'nothing'
    }
    if (at === bytes.length) return 'cut'
    return this.#textAt(from, at, at, false)
  }

  #textAt(from: number, to: number, next: number, isRaw: boolean): Token | 'nothing' {
    this.#next = next
    this.from = from
    this.to = to
    this.#isRaw = isRaw
    return from === to ? 'nothing' : 'text'
  }

  #markup(at: number): Token | 'cut' | 'nothing' {
    const { bytes } = this
    const second = bytes[at + 1]
    if (second === undefined) return 'cut'
    if (second === QUESTION) return this.#passed(at, '?>')
    if (second === EXCLAMATION) {
      if (bytes.length - at < CDATA.length && !this.#starts(at, '<!--')) return 'cut'
      if (this.#starts(at, '<!--')) return this.#passed(at, '-->')
      if (!this.#starts(at, CDATA)) throw new Error('its XML has a DTD, which Sluice does not read')
      const end = bytes.indexOf(']]>', at)
      return end === -1 ? 'cut' : this.#textAt(at + CDATA.length, end, end + 3, true)
    }
    return this.#tag(at, second === SLASH)
  }

  #tag(at: number, isClosing: boolean): Token | 'cut' {
    const { bytes } = this
    const from = at + (isClosing ? 2 : 1)
    let end = from
    let quote = 0
    for (; end < bytes.length; end += 1) {
      const byte = bytes[end] as number
      if (quote !== 0) {
        if (byte === quote) quote = 0
      } else if (byte === GREATER) break
      else if (byte === QUOTE || byte === APOSTROPHE) quote = byte
    }
    if (end === bytes.length) return 'cut'
    this.#next = end + 1
    let nameFrom = from
    let nameTo = from
    for (; nameTo < end && bytes[nameTo] !== SLASH && !isWhiteSpace(bytes[nameTo]); nameTo += 1)
      if (bytes[nameTo] === COLON) nameFrom = nameTo + 1
    this.name = nameAt(bytes, nameFrom, nameTo)
    if (isClosing) {
      this.#depth -= 1
      if (this.#depth < 0) throw new Error('its XML closes a tag that is not open')
      return 'close'
    }
    this.#isOfEmpty = bytes[end - 1] === SLASH
    this.#tagFrom = nameTo
    this.#tagTo = this.#isOfEmpty ? end - 1 : end
    this.#depth += 1
    this.#hasRoot = true
    return 'open'
  }

  #passed(at: number, ending: string): 'cut' | 'nothing' {
    const end = this.bytes.indexOf(ending, at)
    if (end === -1) return 'cut'
    this.#next = end + ending.length
    return 'nothing'
  }

  #starts(at: number, text: string): boolean {
    return this.bytes.toString('latin1', at, at + text.length) === text
  }
}

/** The names by their last bytes and lengths, which are enough to tell them apart quickly. */
const byKey = new Map<number, readonly string[]>()
for (const name of NAMES) {
  const key = keyOf(Buffer.from(name), 0, name.length)
  byKey.set(key, [...(byKey.get(key) ?? []), name])
}

function keyOf(bytes: Buffer, from: number, to: number): number {
  return ((to - from) << 8) | (bytes[to - 1] ?? 0)
}

function nameAt(bytes: Buffer, from: number, to: number): string {
  const names = byKey.get(keyOf(bytes, from, to))
  if (names !== undefined) for (const name of names) if (isNamed(bytes, from, to, name)) return name
  return ''
}

function isNamed(bytes: Buffer, from: number, to: number, name: string): boolean {
  if (to - from !== name.length) return false
  for (let at = from; at < to; at += 1) if (bytes[at] !== name.charCodeAt(at - from)) return false
  return true
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function withoutEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    const code = decimal !== undefined ? Number(decimal) : hex !== undefined ? Number.parseInt(String(hex), 16) : -1
    if (code >= 0) return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    return ENTITIES[String(name)] ?? whole
  })
}

const CDATA = '<![CDATA['
const QUOTE = 0x22
const AMPERSAND = 0x26
const APOSTROPHE = 0x27
const SLASH = 0x2f
const COLON = 0x3a
const LESS = 0x3c
const EQUALS = 0x3d
const GREATER = 0x3e
const QUESTION = 0x3f
const EXCLAMATION = 0x21
const RETURN = 0x0d
const UNDERSCORE = 0x5f
const LETTER_X = 0x78
