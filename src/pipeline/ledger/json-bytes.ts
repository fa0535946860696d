/** Writes JSON into memory, byte by byte: strings made for each record of millions would keep the garbage collector busy. */

/** Room that is used again and again. */
const USUAL_BYTES = 1 << 20

export class JsonBytes {
  #bytes = Buffer.alloc(0)
  #filled = 0

  /** Bytes that were not taken yet. */
  get length(): number {
    return this.#filled
  }

  /** Returns what was written. The bytes are valid until something is written again. */
  take(): Buffer {
    const written = this.#bytes.subarray(0, this.#filled)
    this.#filled = 0
    // Memory for an unusually long record is not kept.
    if (this.#bytes.length > USUAL_BYTES * 4) this.#bytes = Buffer.alloc(0)
    return written
  }

  /** Writes bytes as they are. */
  put(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#filled)
    this.#filled += bytes.length
  }

  /** Writes a text as it is. */
  write(text: string): void {
    this.#reserve(text.length * 3)
    this.#filled += this.#bytes.write(text, this.#filled)
  }

  /** Writes a whole number, not below 0. */
  number(value: number): void {
    this.#reserve(MOST_DIGITS)
    let digits = 1
    for (let more = 10; more <= value; more *= 10) digits += 1
    this.#filled += digits
    let rest = value
    for (let at = this.#filled - 1; digits > 0; at -= 1, digits -= 1) {
      const tens = Math.floor(rest / 10)
      this.#bytes[at] = ZERO + (rest - tens * 10)
      rest = tens
    }
  }

  /** Writes a string between quotes. */
  string(text: string): void {
    this.#reserve(text.length * LONGEST_ESCAPE + 2)
    const bytes = this.#bytes
    let at = this.#filled
    bytes[at++] = QUOTE
    for (let from = 0; from < text.length; from += 1) {
      const code = text.charCodeAt(from)
      if (code > LAST_ASCII) return this.write(JSON.stringify(text))
      const escape = ESCAPES[code]
      if (escape === undefined) bytes[at++] = code
      else for (const one of escape) bytes[at++] = one
    }
    bytes[at++] = QUOTE
    this.#filled = at
  }

  /** Writes these bytes of UTF-8 as a string between quotes. */
  stringOf(text: Uint8Array): void {
    this.#reserve(text.length * LONGEST_ESCAPE + 2)
    const bytes = this.#bytes
    let at = this.#filled
    bytes[at++] = QUOTE
    for (let from = 0; from < text.length; from += 1) {
      const byte = text[from] as number
      // JSON escapes only ASCII. All else stays as it is.
      const escape = ESCAPES[byte]
      if (escape === undefined) bytes[at++] = byte
      else for (const one of escape) bytes[at++] = one
    }
    bytes[at++] = QUOTE
    this.#filled = at
  }

  #reserve(bytes: number): void {
    const needed = this.#filled + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(USUAL_BYTES * 2, needed))
    larger.set(this.#bytes.subarray(0, this.#filled))
    this.#bytes = larger
  }
}

const QUOTE = 0x22
const ZERO = 0x30
const LAST_ASCII = 0x7f
const MOST_DIGITS = String(Number.MAX_SAFE_INTEGER).length
const LONGEST_ESCAPE = String.raw`\u0000`.length

/** How a string holds each byte. Undefined: as the byte itself. */
const ESCAPES = Array.from({ length: 256 }, (_, byte) => {
  const text = JSON.stringify(String.fromCharCode(byte)).slice(1, -1)
  return byte <= LAST_ASCII && text.length > 1 ? Buffer.from(text) : undefined
})
