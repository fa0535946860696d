import { gunzipWhole } from './gunzip-whole.js'
import { readSmallFile, type SmallFile } from './read-file.js'

/** Files of up to this size are read as a whole, several of them at once. */
const SMALL_BYTES = 64 << 10
/** The same limit for files in gzip. Decoding them takes longest. */
const SMALL_GZIP_BYTES = 2 << 20
/** Bytes that come out of one, at most: in all, and for each byte. What has more is decoded when it is opened. */
const MOST_DECODED_BYTES = 8 << 20
const MOST_DECODED_PER_BYTE = 16
/** Bytes of all that were read before their turn, at most. */
const MOST_BYTES = 16 << 20

interface Job {
  readonly path: string
  readonly stored: number
  readonly decoded: number
}

/** Reads small files before their turn, and decodes those in gzip: in the threads of Node, while one file is framed. */
export class ReadAhead {
  readonly #waiting = new Map<number, Job>()
  readonly #started = new Map<number, { readonly job: Job; readonly file: Promise<SmallFile | undefined> }>()
  #left = MOST_BYTES

  /** Files are started in the order in which they are added. */
  add(id: number, path: string, size: number): void {
    const isGzip = path.endsWith('.gz')
    if (size > (isGzip ? SMALL_GZIP_BYTES : SMALL_BYTES) || this.#started.has(id)) return
    const most = Math.min(MOST_DECODED_BYTES, Math.max(SMALL_BYTES, size * MOST_DECODED_PER_BYTE))
    this.#waiting.set(id, { path, stored: size, decoded: isGzip ? most : 0 })
    this.#start()
  }

  /** Resolves to undefined if there was no memory for the file so far, or if it cannot be read. */
  async take(id: number): Promise<SmallFile | undefined> {
    this.#waiting.delete(id)
    const started = this.#started.get(id)
    if (started === undefined) return undefined
    this.#started.delete(id)
    const file = await started.file
    this.#left += bytesOf(started.job)
    this.#start()
    return file
  }

  #start(): void {
    for (const [id, job] of this.#waiting) {
      if (bytesOf(job) > this.#left) return
      this.#left -= bytesOf(job)
      this.#waiting.delete(id)
      this.#started.set(id, { job, file: read(job) })
    }
  }
}

function bytesOf({ stored, decoded }: Job): number {
  return stored + decoded
}

async function read({ path, stored, decoded }: Job): Promise<SmallFile | undefined> {
  const file = await readSmallFile(path, stored)
  if (file === undefined || decoded === 0) return file
  return { ...file, decoded: await gunzipWhole(file.bytes, decoded) }
}
