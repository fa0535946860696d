import { FIRST_BYTES } from '../../../base/checksum/checksum.js'
import type { ContentSum } from './content.js'

/** Reads lines up to given numbers of bytes. */
export class LineReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  /** Read, and not added yet. A chunk may be overwritten by the next one. */
  #left: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Returns the first bytes, as many as there are up to `FIRST_BYTES`. */
  async first(): Promise<Uint8Array> {
    return await this.peek(FIRST_BYTES)
  }

  /** Returns the next bytes, which stay the next ones. Fewer at the end. */
  async peek(bytes: number): Promise<Uint8Array> {
    while (this.#left.length < bytes && (await this.#more()));
    return this.#left.subarray(0, bytes)
  }

  /** Adds bytes until there are so many. Returns false if there are fewer. */
  async addTo(sum: Pick<ContentSum, 'bytes' | 'add'>, bytes: number): Promise<boolean> {
    while (sum.bytes < bytes) {
      if (this.#left.length === 0 && !(await this.#more())) return false
      const taken = this.#left.subarray(0, bytes - sum.bytes)
      sum.add(taken)
      this.#left = this.#left.subarray(taken.length)
    }
    return true
  }

  async isOver(): Promise<boolean> {
    while (this.#left.length === 0) if (!(await this.#more())) return true
    return false
  }

  /** Reads all that is left. */
  async *rest(): AsyncGenerator<Uint8Array> {
    try {
      while (this.#left.length > 0 || (await this.#more())) {
        const chunk = this.#left
        this.#left = Buffer.alloc(0)
        yield chunk
      }
    } finally {
      await this.close()
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  async #more(): Promise<boolean> {
    const next = await this.#chunks.next()
    if (next.done === true) return false
    this.#left = this.#left.length === 0 ? Buffer.from(next.value) : Buffer.concat([this.#left, next.value])
    return true
  }
}
