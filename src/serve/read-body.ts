/** A request's body, in memory, never more of it than is allowed. */
import type { IncomingMessage } from 'node:http'
import { createGunzip } from 'node:zlib'

/** Memory that all requests under way share. */
export class Room {
  readonly #bytes: number
  #used = 0

  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** False: there is no room for so much more. What was taken is given back. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.#bytes) return false
    this.#used += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#used -= bytes
  }
}

export interface BodyLimits {
  /** As it comes over the wire, and decompressed. */
  readonly maxBody: number
  readonly room: Room
}

/** `gone`: the caller went away in the middle. `busy`: there is no memory for it now. */
export type ReadBody = { readonly body: Buffer } | { readonly refused: 'too large' | 'busy' | 'gone' | 'not gzip' }

/**
 * Reads it to its end, and gunzips it. What was taken of the room is given back by `use`, whose promise is waited for. Of a body that
 * is refused the rest is read and forgotten, so that the caller gets to read the answer.
 */
export async function readBody<T>(
  request: IncomingMessage,
  { maxBody, room }: BodyLimits,
  isGzip: boolean,
  use: (read: ReadBody) => Promise<T>,
): Promise<T> {
  let taken = 0
  const take = (bytes: number) => {
    if (!room.take(bytes)) return false
    taken += bytes
    return true
  }
  try {
    const read = await collect(request, maxBody, take)
    if (!('body' in read) || !isGzip) return await use(read)
    return await use(await inflate(read.body, maxBody, take))
  } finally {
    room.giveBack(taken)
  }
}

async function collect(request: IncomingMessage, maxBody: number, take: (bytes: number) => boolean): Promise<ReadBody> {
  return await new Promise(resolve => {
    const chunks: Buffer[] = []
    let length = 0
    const settle = (read: ReadBody) => {
      request.off('data', onData).off('end', onEnd).off('close', onGone)
      chunks.length = 0
      resolve(read)
      request.resume()
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length > maxBody) settle({ refused: 'too large' })
      else if (take(chunk.length)) chunks.push(chunk)
      else settle({ refused: 'busy' })
    }
    const onEnd = () => settle({ body: Buffer.concat(chunks, length) })
    const onGone = () => settle({ refused: 'gone' })
    request.on('data', onData).once('end', onEnd).once('close', onGone)
  })
}

async function inflate(compressed: Buffer, maxBody: number, take: (bytes: number) => boolean): Promise<ReadBody> {
  const engine = createGunzip()
  engine.end(compressed)
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of engine as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > maxBody) return { refused: 'too large' }
      if (!take(chunk.length)) return { refused: 'busy' }
      chunks.push(chunk)
    }
    return { body: Buffer.concat(chunks, length) }
  } catch {
    return { refused: 'not gzip' }
  }
}
