import type { StoredFile } from '../flow.js'
import { decompress } from './decompress.js'

interface Decoding {
  readonly name: string
  /** Needed to read from another position than the start. */
  readonly file?: StoredFile
  readonly from: number
  /** Reads the stored bytes from that offset. */
  read(from: number): AsyncIterable<Uint8Array>
}

/** Reads the decoded bytes of an input from an offset among them. Compressed input is decoded from its start. */
export async function* decodedFrom({ name, file, from, read }: Decoding): AsyncGenerator<Uint8Array> {
  if (from === 0) yield* decompress(read(0), name)
  else if ((await file?.look())?.isCompressed === true) yield* skipBytes(decompress(read(0), name), from)
  else yield* read(from)
}

/** Skips the first `count` bytes. */
export async function* skipBytes(chunks: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  let left = count
  for await (const chunk of chunks) {
    if (left < chunk.length) yield chunk.subarray(left)
    left = Math.max(0, left - chunk.length)
  }
}
