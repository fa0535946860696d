import { MOST_NAMES, NAMES, NAME_BYTES, NAME_TEXT } from './layout.js'

/** The names of indices that the kernel knows. It finds them by what fields of documents say, and JavaScript makes each one once. */
export class Names {
  readonly #bytes: Buffer
  /** By their place. */
  readonly #names = new Map<number, string>()
  #pattern: string | undefined

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Forgets the names of another pattern. Absent: no document names its index. */
  begin(pattern: string | undefined): void {
    if (pattern === this.#pattern) return
    this.#pattern = pattern
    this.#names.clear()
    for (let at = 0; at < MOST_NAMES; at += 1)
      this.#bytes.fill(0, NAMES + at * NAME_BYTES, NAMES + at * NAME_BYTES + 12)
  }

  /** `place`: 0 if the kernel needs no name. */
  put(place: number, name: string): void {
    if (place === 0) return
    const bytes = this.#bytes.write(name, place + NAME_TEXT)
    this.#bytes.writeUInt32LE(bytes, place + 4)
    this.#names.set(place, name)
  }

  /** Yields how many documents got each name since the last call. */
  *take(): Generator<readonly [string, number]> {
    for (const [place, name] of this.#names) {
      const documents = this.#bytes.readUInt32LE(place + 8)
      if (documents === 0) continue
      this.#bytes.writeUInt32LE(0, place + 8)
      yield [name, documents]
    }
  }
}
