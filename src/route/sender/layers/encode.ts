/** The layer that makes what goes over the wire: once for each attempt, however often it passes the layers below. */
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import type { ZlibOptions } from 'node:zlib'
import pLimit from 'p-limit'
import { type BulkRequest, requestBytes, type Send, type Verdict } from '../send.js'
import type { GzipFile } from '../../gzip/gzip.js'
import type { Clock } from '../../../base/flow.js'
import type { Compressing } from './compressing.js'

/** More bodies that wait would only take memory. */
export const MOST_BODIES = availableParallelism()

/**
 * Size of bodies that are compressed, unless somebody set another one. Each is kept until its answer, beside its compressed bytes. Less than half the
 * usual size compresses as well and as fast, in 15 MB less.
 */
const COMPRESSED_BYTES = 2_000_000

export class Encoder {
  readonly #compressing: Compressing
  readonly #clock: Pick<Clock, 'now'>
  readonly #compressed: (bytes: Buffer) => Promise<GzipFile>
  readonly #limited = pLimit(MOST_BODIES)
  /** Bodies that are being compressed, or wait for that. */
  #bodies = 0
  #reader: (() => void) | undefined

  constructor(compressing: Compressing, clock: Pick<Clock, 'now'>, compressed = gzipped) {
    this.#compressing = compressing
    this.#clock = clock
    this.#compressed = compressed
  }

  /** How large the next body should be, if nobody set a size. */
  get bodyBytes(): number {
    return this.#compressing.isNext() ? COMPRESSED_BYTES : Infinity
  }

  /** Resolves when another body may be compressed soon. For one reader. */
  async room(): Promise<void> {
    if (this.#bodies >= MOST_BODIES) await new Promise<void>(resolve => (this.#reader = resolve))
  }

  encode(inner: Send): Send {
    return async request => {
      const { body, batch } = request
      const bytes = requestBytes(body, batch.operation)
      const wasCompressed = this.#compressing.isNext()
      const since = this.#clock.now()
      const { verdict, compressingMs } = wasCompressed
        ? await this.#sendCompressed(bytes, request, inner, since)
        : { verdict: await inner(plain(bytes, request)), compressingMs: 0 }
      if (verdict.kind === 'done')
        this.#compressing.answered({ bytes: bytes.length, wasCompressed, ms: this.#clock.now() - since, compressingMs })
      return verdict
    }
  }

  async #sendCompressed(
    bytes: Buffer,
    request: BulkRequest,
    inner: Send,
    since: number,
  ): Promise<{ readonly verdict: Verdict; readonly compressingMs: number }> {
    const file = await this.#compress(bytes)
    const compressingMs = this.#clock.now() - since
    try {
      return { verdict: await inner({ ...request, wire: { bytes: file.bytes, isGzip: true } }), compressingMs }
    } finally {
      file.release()
    }
  }

  async #compress(bytes: Buffer): Promise<GzipFile> {
    this.#bodies += 1
    try {
      return await this.#limited(async () => await this.#compressed(bytes))
    } finally {
      this.#bodies -= 1
      if (this.#bodies < MOST_BODIES) this.#reader?.()
    }
  }
}

function plain(bytes: Buffer, request: BulkRequest): BulkRequest {
  return bytes === request.body.bytes ? request : { ...request, wire: { bytes, isGzip: false } }
}

let zlib: ((bytes: Buffer, options: ZlibOptions) => Promise<Buffer>) | undefined

/** Loaded when used: most loads to a cluster on this machine compress nothing. */
async function gzipped(bytes: Buffer): Promise<GzipFile> {
  const gzip = (await import('../../gzip/gzip.js')).sharedGzip()
  if (gzip !== undefined) return await gzip.gzip(bytes)
  zlib ??= promisify((await import('node:zlib')).gzip)
  const file = await zlib(bytes, { level: 1, chunkSize: Math.max(1 << 10, (bytes.length * 3) >> 3) })
  return { bytes: file, release: () => undefined }
}
