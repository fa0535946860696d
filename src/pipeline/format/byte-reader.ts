/** Reads parts of known length from a stream of bytes, without a copy of what is passed on. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #held: Uint8Array = new Uint8Array(0)
  #at = 0

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** How many bytes were read. */
  get at(): number {
    return this.#at
  }

  /** Returns a copy of the next bytes: fewer if the stream ends before. */
  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for await (const part of this.pass(length)) parts.push(Buffer.from(part))
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
  }

  /** Yields the next bytes: fewer if the stream ends before. Each part is valid until the next one is asked for. */
  async *pass(length: number): AsyncGenerator<Uint8Array> {
    for (let left = length; left > 0;) {
      if (this.#held.length === 0 && !(await this.#fill())) return
      const part = this.#held.subarray(0, left)
      this.#held = this.#held.subarray(part.length)
      this.#at += part.length
      left -= part.length
      yield part
    }
  }

  /** Returns false if there were fewer bytes. */
  async skip(length: number): Promise<boolean> {
    const end = this.#at + length
    for await (const _ of this.pass(length));
    return this.#at === end
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  async #fill(): Promise<boolean> {
    while (this.#held.length === 0) {
      const { done, value } = await this.#chunks.next()
      if (done === true) return false
      this.#held = value
    }
    return true
  }
}
