/** Keeps the text of a state file, a long one compressed, and reads single lines of it. A run may have very many inputs. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { LINE_FEED } from '../../../base/text/bytes.js'

/** Shorter text stays as it is. */
const LONG_BYTES = 1 << 20
const BLOCK_BYTES = 16 << 10
/** Room for a block in one piece. In as much as a block itself, zlib could not see that it is whole. */
const CHUNK_BYTES = BLOCK_BYTES + 64
/** Blocks that stay unpacked: the lines of one input stand in different places. */
const UNPACKED = 4

export class PackedText {
  readonly #blocks: readonly Buffer[]
  readonly #isLong: boolean
  /** With their numbers, the newest first. */
  readonly #unpacked: { readonly number: number; readonly block: Buffer }[] = []

  private constructor(blocks: readonly Buffer[], isLong: boolean) {
    this.#blocks = blocks
    this.#isLong = isLong
  }

  static of(text: Buffer): PackedText {
    return new PackedText([text], false)
  }

  /** Reads a file. Throws errors of the file system. */
  static read(path: string): PackedText {
    // A thousand small files are read in 10 ms, and in a second if each waits for the thread pool.
    const file = openSync(path, 'r')
    try {
      const { size } = fstatSync(file)
      if (size < LONG_BYTES) return PackedText.of(fill(Buffer.allocUnsafeSlow(size), file))
      const blocks: Buffer[] = []
      const block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
      for (let at = 0; at < size; at += BLOCK_BYTES) {
        const packed = deflateRawSync(fill(block.subarray(0, size - at), file), { level: 1, chunkSize: CHUNK_BYTES })
        // A copy: the result is a small part of a chunk.
        blocks.push(Buffer.from(packed))
      }
      return new PackedText(blocks, true)
    } finally {
      closeSync(file)
    }
  }

  /** Returns the line that begins at an offset, without its end. Undefined if it has no end. */
  lineAt(offset: number): Buffer | undefined {
    const size = this.#isLong ? BLOCK_BYTES : Number.MAX_SAFE_INTEGER
    let number = Math.floor(offset / size)
    let from = offset % size
    const parts: Buffer[] = []
    for (let block = this.#block(number); block !== undefined; block = this.#block(number)) {
      const end = block.indexOf(LINE_FEED, from)
      parts.push(block.subarray(from, end === -1 ? block.length : end))
      if (end !== -1) return parts.length === 1 ? parts[0] : Buffer.concat(parts)
      number += 1
      from = 0
    }
    return undefined
  }

  #block(number: number): Buffer | undefined {
    const packed = this.#blocks[number]
    if (packed === undefined || !this.#isLong) return packed
    const known = this.#unpacked.find(one => one.number === number)
    if (known !== undefined) return known.block
    const block = inflateRawSync(packed, { chunkSize: CHUNK_BYTES })
    this.#unpacked.unshift({ number, block })
    this.#unpacked.length = Math.min(this.#unpacked.length, UNPACKED)
    return block
  }
}

/** Fills the block from where the file was read to. Returns fewer bytes if the file has become shorter. */
function fill(block: Buffer, file: number): Buffer {
  let filled = 0
  while (filled < block.length) {
    const read = readSync(file, block, filled, block.length - filled, null)
    if (read === 0) break
    filled += read
  }
  return block.subarray(0, filled)
}
