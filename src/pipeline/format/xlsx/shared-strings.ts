import { Texts } from './texts.js'
import { XmlTokens } from './xml-tokens.js'

const CHUNK_BYTES = 1 << 20
/** How many starts stand in one piece: a list that grows in one piece would be copied. */
const STARTS = 1 << 16
/** More texts do not fit beside the rest of a load. */
const MOST_BYTES = 1 << 30

/** Holds the texts of a workbook in little memory: their bytes one behind the other, each behind its length. */
export class SharedStrings {
  count = 0
  /** The text that was found last. */
  bytes: Buffer = Buffer.alloc(0)
  from = 0
  to = 0
  readonly #chunks: Buffer[] = []
  #filled = CHUNK_BYTES
  #size = 0
  readonly #starts: Uint32Array[] = []

  add(text: Buffer): void {
    const needed = text.length + LENGTH_BYTES
    let chunk = this.#chunks.at(-1)
    if (chunk === undefined || this.#filled + needed > chunk.length) {
      const size = Math.max(CHUNK_BYTES, needed)
      this.#take(size)
      chunk = Buffer.allocUnsafeSlow(size)
      this.#chunks.push(chunk)
      this.#filled = 0
    }
    if (this.count % STARTS === 0) {
      this.#take(STARTS * Uint32Array.BYTES_PER_ELEMENT)
      this.#starts.push(new Uint32Array(STARTS))
    }
    const starts = this.#starts.at(-1) as Uint32Array
    starts[this.count % STARTS] = (this.#chunks.length - 1) * CHUNK_BYTES + this.#filled
    let at = this.#filled
    let length = text.length
    for (; length >= 0x80; length >>>= 7) chunk[at++] = (length & 0x7f) | 0x80
    chunk[at++] = length
    text.copy(chunk, at)
    this.#filled = at + text.length
    this.count += 1
  }

  #take(bytes: number): void {
    this.#size += bytes
    if (this.#size > MOST_BYTES) throw new Error('its texts need more than 1 GiB of memory')
  }

  /** Finds a text by its number. Returns false if there is none. */
  find(number: number): boolean {
    if (!(number >= 0 && number < this.count)) return false
    const start = this.#starts[Math.floor(number / STARTS)]?.[number % STARTS] ?? 0
    const chunk = this.#chunks[Math.floor(start / CHUNK_BYTES)]
    if (chunk === undefined) return false
    let at = start % CHUNK_BYTES
    let length = 0
    for (let shift = 0; ; shift += 7) {
      const byte = chunk[at++] as number
      length |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    this.bytes = chunk
    this.from = at
    this.to = at + length
    return true
  }
}

/** A length of at most 28 bits. */
const LENGTH_BYTES = 4

/** Reads the part of a workbook that holds its texts. Texts of a phonetic guide belong to none of them. */
export async function readSharedStrings(bytes: AsyncIterable<Uint8Array>): Promise<SharedStrings> {
  const strings = new SharedStrings()
  const text = new Texts()
  const tokens = new XmlTokens()
  let isIn = false
  let guides = 0
  for await (const chunk of bytes) {
    tokens.add(chunk)
    for (let token = tokens.next(); token !== undefined; token = tokens.next()) {
      if (token === 'text') {
        if (isIn && guides === 0) text.addText(tokens)
        continue
      }
      const isOpening = token === 'open'
      if (tokens.name === 't') isIn = isOpening
      else if (tokens.name === 'rPh') guides += isOpening ? 1 : -1
      else if (tokens.name === 'si') {
        if (!isOpening) strings.add(text.bytes.subarray(0, text.length))
        text.length = 0
      }
    }
  }
  tokens.end()
  return strings
}
