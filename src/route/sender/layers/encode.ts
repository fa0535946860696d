/** The layer that makes what goes over the wire: once for each attempt, however often it passes the layers below. */
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import type { ZlibOptions } from 'node:zlib'
import pLimit from 'p-limit'
import { requestBytes } from '../body.js'
import type { Send } from '../send.js'

export class Encoder {
  readonly #isGzip: boolean
  readonly #compressed: (bytes: Buffer) => Promise<Buffer>
  readonly #cores = availableParallelism()
  readonly #limited = pLimit(this.#cores)
  /** Bodies that are being compressed, or wait for that. */
  #bodies = 0
  #reader: (() => void) | undefined

  constructor(isGzip: boolean, compressed = gzipped) {
    this.#isGzip = isGzip
    this.#compressed = compressed
  }

  /** Resolves when a core is free to compress another body: one that waits would only take memory. For one reader. */
  async room(): Promise<void> {
    if (this.#bodies >= this.#cores) await new Promise<void>(resolve => (this.#reader = resolve))
  }

  encode(inner: Send): Send {
    const isGzip = this.#isGzip
    return async request => {
      const { body, batch } = request
      const bytes = requestBytes(body, batch.operation)
      if (isGzip) return await inner({ ...request, wire: { bytes: await this.#compress(bytes), isGzip } })
      return await inner(bytes === body.bytes ? request : { ...request, wire: { bytes, isGzip } })
    }
  }

  async #compress(bytes: Buffer): Promise<Buffer> {
    this.#bodies += 1
    try {
      return await this.#limited(async () => await this.#compressed(bytes))
    } finally {
      this.#bodies -= 1
      if (this.#bodies < this.#cores) this.#reader?.()
    }
  }
}

let gzip: ((bytes: Buffer, options: ZlibOptions) => Promise<Buffer>) | undefined

/** Compresses with gzip at level 1: higher levels cost more than twice the CPU for a sixth fewer bytes. */
async function gzipped(bytes: Buffer): Promise<Buffer> {
  gzip ??= promisify((await import('node:zlib')).gzip)
  return await gzip(bytes, { level: 1, chunkSize: Math.max(1 << 10, (bytes.length * 3) >> 3) })
}
