/** Reads the body of a request into memory, never more than the limit. */
import type { IncomingMessage } from 'node:http'
import { createGunzip } from 'node:zlib'
import type { Room, Share } from './room.js'

/** Node's parser needs a microsecond for each piece. Honest callers send few that are so small. */
const MOST_PIECES = 2000
const SMALL_PIECE_BYTES = 16
/** A body is decompressed in pieces of this size. Each waits for a thread. */
const LEAST_INFLATED_BYTES = 4 << 10
const MOST_INFLATED_BYTES = 64 << 10

/** `bytes` has room for one more byte behind `length`. */
export interface PostBody {
  readonly bytes: Buffer
  readonly length: number
}

/** `gone`: the caller closed the connection. `busy`: there is too little memory now. */
export type RefusedBody = 'too large' | 'too many pieces' | 'busy' | 'gone' | 'not gzip'
export type ReadBody = PostBody | { readonly refused: RefusedBody }

/**
 * Reads the body to its end and decompresses it. Neither form may have more than `maxBody` bytes. The memory is used again when the
 * promise of `use` settles. Reads and discards the rest of a rejected body, so that the caller can read the answer.
 */
export async function readBody<T>(
  request: IncomingMessage,
  { maxBody, room }: { readonly maxBody: number; readonly room: Room },
  isGzip: boolean,
  use: (read: ReadBody) => Promise<T>,
): Promise<T> {
  const share = room.open()
  if (share === undefined) return await use({ refused: 'busy' })
  try {
    const read = await collect(request, new Growing(maxBody, share), share)
    return await use(isGzip && 'bytes' in read ? await inflate(read, new Growing(maxBody, share)) : read)
  } finally {
    share.close()
  }
}

async function collect(request: IncomingMessage, body: Growing, share: Share): Promise<ReadBody> {
  return await new Promise(resolve => {
    const settle = (read: ReadBody) => {
      share.end()
      request.off('data', onData).off('end', onEnd).off('close', onGone)
      resolve(read)
      // The answer to too many pieces closes the connection, so that Sluice need not read the rest.
      if ('refused' in read && read.refused === 'too many pieces') request.pause()
      else request.resume()
    }
    const onData = (chunk: Buffer) => {
      const refused = body.add(chunk)
      if (refused === 'busy') void later(chunk)
      else if (refused !== undefined) settle({ refused })
    }
    const later = async (chunk: Buffer) => {
      request.pause()
      const refused = await body.addLater(chunk)
      if (refused !== undefined) settle({ refused })
      else request.resume()
    }
    const onEnd = () => settle(body.whole)
    const onGone = () => settle({ refused: 'gone' })
    share.begin(() => settle({ refused: 'busy' }))
    request.on('data', onData).once('end', onEnd).once('close', onGone)
  })
}

async function inflate({ bytes, length }: PostBody, body: Growing): Promise<ReadBody> {
  const compressed = bytes.subarray(0, length)
  const engine = createGunzip({
    chunkSize: Math.min(Math.max(4 * length, LEAST_INFLATED_BYTES), MOST_INFLATED_BYTES),
  })
  engine.end(compressed)
  try {
    for await (const chunk of engine as AsyncIterable<Buffer>) {
      const added = body.add(chunk)
      const refused = added === 'busy' ? await body.addLater(chunk) : added
      if (refused !== undefined) return { refused }
    }
  } catch {
    return { refused: 'not gzip' }
  }
  // The engine stops at a zero byte behind its data. Only zeros to the end are padding.
  return isZero(compressed.subarray(engine.bytesWritten)) ? body.whole : { refused: 'not gzip' }
}

function isZero(bytes: Buffer): boolean {
  return bytes.length === 0 || (bytes[0] === 0 && bytes.subarray(1).equals(bytes.subarray(0, -1)))
}

/** A body in one buffer. Many small pieces need no more memory than one large piece. */
class Growing {
  readonly #most: number
  readonly #share: Share
  #buffer: Buffer = Buffer.alloc(1)
  #length = 0
  #pieces = 0

  constructor(most: number, share: Share) {
    this.#most = most
    this.#share = share
  }

  get whole(): PostBody {
    return { bytes: this.#buffer, length: this.#length }
  }

  /** Returns why the piece cannot be added, if so. */
  add(piece: Buffer): RefusedBody | undefined {
    const length = this.#length + piece.length
    this.#pieces += 1
    if (length > this.#most) return 'too large'
    if (this.#pieces > MOST_PIECES && length < this.#pieces * SMALL_PIECE_BYTES) return 'too many pieces'
    return this.#put(piece, length < this.#buffer.length ? this.#buffer : this.#share.grow(this.#buffer, length + 1))
  }

  /** Adds a piece that there was no memory for, if there is some soon. */
  async addLater(piece: Buffer): Promise<'busy' | undefined> {
    return this.#put(piece, await this.#share.wait(this.#buffer, this.#length + piece.length + 1))
  }

  #put(piece: Buffer, buffer: Buffer | undefined): 'busy' | undefined {
    if (buffer === undefined) return 'busy'
    this.#buffer = buffer
    this.#length += piece.copy(buffer, this.#length)
    return undefined
  }
}
