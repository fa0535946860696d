/** Shortens long texts in JSON while it passes: the error of an item quotes the value that it refuses, which may be a whole document. */

/** Of a longer text, these first bytes stay. An error names its field and type in the first few hundred. */
const KEPT_BYTES = 1024

export class TextCutter {
  #isInText = false
  /** Bytes of the text under way, as they stand in the JSON. */
  #length = 0
  #isCut = false
  /** Bytes of an escape that have not come yet: a text is never cut inside one. */
  #escaping = 0

  /** Returns the next bytes without what is cut out of them, in memory of their own. */
  cut(bytes: Uint8Array): Buffer {
    const kept: Uint8Array[] = []
    let from = this.#isCut ? bytes.length : 0
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] as number
      if (!this.#isInText) {
        if (byte === QUOTE) this.#begin()
        continue
      }
      if (this.#escaping === 0 && byte === QUOTE) {
        this.#isInText = false
        if (!this.#isCut) continue
        kept.push(Buffer.from(`… (${this.#length.toLocaleString('en-US')} bytes)`))
        this.#isCut = false
        from = at
        continue
      }
      const mayEnd = this.#escaping === 0 && (byte & CONTINUATION_BITS) !== CONTINUATION
      if (!this.#isCut && mayEnd && this.#length >= KEPT_BYTES) {
        kept.push(bytes.subarray(from, at))
        this.#isCut = true
        from = bytes.length
      }
      this.#escaping = stillEscaping(this.#escaping, byte)
      this.#length += 1
    }
    if (from < bytes.length) kept.push(bytes.subarray(from))
    return Buffer.concat(kept)
  }

  #begin(): void {
    this.#isInText = true
    this.#length = 0
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const CONTINUATION_BITS = 0xc0
const CONTINUATION = 0x80
/** One byte follows a backslash, or `u` and four digits. */
const FIRST_ESCAPED = 5
const DIGITS = 4

/** Returns how many bytes of an escape may follow this byte. */
function stillEscaping(before: number, byte: number): number {
  if (before === 0) return byte === BACKSLASH ? FIRST_ESCAPED : 0
  if (before === FIRST_ESCAPED) return byte === LETTER_U ? DIGITS : 0
  return before - 1
}
