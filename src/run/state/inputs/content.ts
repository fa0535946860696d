/**
 * The content of an input: its lines as decoded bytes. It stays the same if the file is packed, unpacked, packed again, or put into
 * an archive. So an input is known by it whatever its name and packing.
 */
import { Checksum, FIRST_BYTES } from '../../../base/checksum/checksum.js'
import type { Lines, StoredFile } from '../../../base/flow.js'
import type { ContentIdentity, FileIdentity } from '../checkpoint/checkpoint.js'

/** Takes the checksum of lines while they are read. */
export class ContentSum {
  /** See `Lines.at`. */
  readonly #at: number
  readonly #sum = new Checksum()
  readonly #first = new Checksum()

  constructor(at: number) {
    this.#at = at
  }

  get bytes(): number {
    return this.#sum.bytes
  }

  add(chunk: Uint8Array): void {
    const missing = FIRST_BYTES - this.#first.bytes
    if (missing > 0) this.#first.add(chunk.subarray(0, missing))
    this.#sum.add(chunk)
  }

  /** Passes lines on, and adds them. */
  async *of(lines: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of lines) {
      this.add(chunk)
      yield chunk
    }
  }

  /** Returns the identity of the lines so far. */
  identity(): ContentIdentity {
    return {
      bytes: this.bytes,
      sum: this.#sum.digest(),
      ...(this.#first.bytes < FIRST_BYTES ? {} : { head: this.#first.digest() }),
      ...(this.#at === 0 ? {} : { at: this.#at }),
    }
  }
}

/** Returns whether the lines are the stored bytes as they stand: then their checksum is that of the file. */
export function isStoredAsLines({ kind, at }: Pick<Lines, 'kind' | 'at'>, { isPacked }: StoredFile): boolean {
  return kind === 'lines' && at === 0 && isPacked === false
}

/** Returns the identity of a file, as far as it was read. */
export function identityOf({ realPath: path, stat: found, reading }: StoredFile): FileIdentity {
  if (reading === undefined) return { path, stat: found, bytes: 0, sum: '' }
  const { stat, bytes } = reading
  const state = reading.state?.()
  return { path, stat, bytes, sum: reading.sum(), ...(state === undefined ? {} : { state }) }
}
