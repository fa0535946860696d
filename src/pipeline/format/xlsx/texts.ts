import type { XmlTokens } from './xml-tokens.js'

/** Collects texts in memory that is used again. */
export class Texts {
  bytes: Buffer = Buffer.allocUnsafeSlow(16 << 10)
  length = 0

  add(bytes: Buffer, from: number, to: number): void {
    this.#reserve(to - from)
    const own = this.bytes
    let at = this.length
    // Most texts are short.
    if (to - from > SHORT_BYTES) bytes.copy(own, at, from, to)
    else for (let each = from; each < to; each += 1) own[at++] = bytes[each] as number
    this.length += to - from
  }

  addString(text: string): void {
    this.#reserve(text.length * 3)
    this.length += this.bytes.write(text, this.length)
  }

  /** Adds the text that the tokens have come to. */
  addText(tokens: XmlTokens): void {
    const { bytes, from, to } = tokens
    if (!tokens.isCoded) return this.add(bytes, from, to)
    // Office programs write control characters as `_x000D_`.
    this.addString(tokens.text().replaceAll(/_x([\dA-Fa-f]{4})_/g, (_, code: string) => characterOf(code)))
  }

  #reserve(bytes: number): void {
    const needed = this.length + bytes
    if (needed > MOST_BYTES) throw new Error('a row or a text of its sheet has more than 64 MiB')
    if (needed <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, needed))
    this.bytes.copy(larger, 0, 0, this.length)
    this.bytes = larger
  }
}

const MOST_BYTES = 64 << 20
const SHORT_BYTES = 64

function characterOf(code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16))
}
