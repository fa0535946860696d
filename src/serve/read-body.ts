/** Reads the body of a request into memory, never more than the limit. */
import type { IncomingMessage } from 'node:http'
import { createGunzip } from 'node:zlib'

/** The memory that all current requests share. */
export class Room {
  readonly #bytes: number
  #used = 0

  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** Takes memory. Returns false if there is too little left. */
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
  /** Most bytes, both compressed and decompressed. */
  readonly maxBody: number
  readonly room: Room
}

/** `gone`: the caller closed the connection. `busy`: there is too little memory now. */
export type ReadBody = { readonly body: Buffer } | { readonly refused: 'too large' | 'busy' | 'gone' | 'not gzip' }

/**
 * Reads the body to its end and decompresses it. Frees the memory when the promise of `use` settles. Reads and discards the rest of a
 * rejected body, so that the caller can read the answer.
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
