import type { StoredFile } from '../flow.js'
import { decompress } from './decompress.js'
import { skipBytes } from './skip-bytes.js'

interface Decoding {
  readonly name: string
  /** Present for all that is read from another place than its start. */
  readonly file?: StoredFile
  readonly from: number
  /** The stored bytes from that offset on. */
  read(from: number): AsyncIterable<Uint8Array>
}

/** The decoded bytes of an input from an offset of theirs. Compressed ones are decoded from the start all the same. */
export async function* decodedFrom({ name, file, from, read }: Decoding): AsyncGenerator<Uint8Array> {
  if (from === 0) yield* decompress(read(0), name)
  else if ((await file?.look())?.isCompressed === true) yield* skipBytes(decompress(read(0), name), from)
  else yield* read(from)
}
