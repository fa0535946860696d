import { mostBytes } from './kernel/kernel.js'

/** Takes the parts of one gzip file after the other into memory that is used again. */
export class Collector {
  #memory = new Uint8Array(0)
  #end = 0

  begin(bodyBytes: number): void {
    const most = mostBytes(bodyBytes)
    if (this.#memory.length < most) this.#memory = new Uint8Array(most)
    this.#end = 0
  }

  add(part: Uint8Array): void {
    this.#memory.set(part, this.#end)
    this.#end += part.length
  }

  /** Returns all parts in memory of their own. */
  take(): Uint8Array<ArrayBuffer> {
    return this.#memory.slice(0, this.#end)
  }
}
