import { type FileHandle, open } from 'node:fs/promises'
import { fail, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import { cannotRead } from '../../pipeline/source/read-file.js'
import { isCompressed } from '../../base/compression/decompress.js'
import { syncFolder } from '../../base/disk/safe-files.js'
import { ChangeSignal } from '../../base/time/clock.js'
import { markDropped, markEnded, type SpoolSegment, writing } from './segments.js'
import { dropBetween, hasLine, KEPT_HEAD_BYTES, type SizeLimit } from './size-limit.js'

const READ_BYTES = 1 << 20
/** Bytes written in one go if there is a limit. */
const PIECE_BYTES = 64 << 10
const MAGIC_BYTES = 4

/** Writes stdin to a segment as fast as it comes, and lets the load read the segment meanwhile. Owns the file. */
export class SpoolWriter implements AsyncDisposable {
  readonly segment: SpoolSegment
  readonly #folder: string
  readonly #limit: SizeLimit | undefined
  /** Notified when bytes are written, and when nothing more comes. */
  readonly #progress = new ChangeSignal()
  #file: FileHandle
  #written = 0
  #dropped = 0
  #isCompressed = false
  /** Set when nothing more comes. `error`: why stdin was not read to its end. */
  #over: { readonly error?: unknown } | undefined
  #filling: Promise<void> | undefined

  constructor(folder: string, segment: SpoolSegment, file: FileHandle, limit?: SizeLimit) {
    this.#folder = folder
    this.segment = segment
    this.#file = file
    this.#limit = limit
  }

  get isOver(): boolean {
    return this.#over !== undefined
  }

  /** Whether the end of stdin was seen. */
  get isWhole(): boolean {
    return this.#over !== undefined && !('error' in this.#over)
  }

  get written(): number {
    return this.#written
  }

  /** The bytes before this offset are deleted, except the first ones. */
  get dropped(): number {
    return this.#dropped
  }

  /** Takes all of stdin, and marks its end unless the signal comes first. */
  fill(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): void {
    const filling = async () => {
      for await (const chunk of chunks) await this.#take(chunk, signal)
      await this.sync()
      // An interruption that ends the producer too ends stdin early.
      signal.throwIfAborted()
      await markEnded(this.#folder, this.segment)
    }
    this.#filling = filling()
      .then(
        () => (this.#over = {}),
        (error: unknown) => (this.#over = { error: this.#withPlace(error) }),
      )
      .then(() => this.#progress.notify())
  }

  /** Reads from an offset to the end of stdin, also what is still to come. Throws why stdin was not read to its end. */
  async *read(name: string, from: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let current = this.#file
    let file = await this.#openToRead(name)
    try {
      const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
      for (let at = from; ;) {
        await this.#until(at + 1, signal)
        if (current !== this.#file) {
          // The file was replaced. New bytes go only to the new one.
          current = this.#file
          await file.close()
          file = await this.#openToRead(name)
          continue
        }
        const there = Math.min(READ_BYTES, this.#written - at)
        if (there <= 0) break
        const { bytesRead } = await file.read(buffer, 0, there, at)
        if (bytesRead === 0) throw fail('INPUT_TRUNCATED', { input: name, encoding: 'spooled', bytes: at })
        at += bytesRead
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      await file.close()
    }
    if (this.#over?.error !== undefined) throw cannotRead(name, this.#over.error)
  }

  async begun(): Promise<void> {
    await this.#until(MAGIC_BYTES)
    const { buffer } = await this.#file.read(Buffer.alloc(MAGIC_BYTES), 0, MAGIC_BYTES, 0)
    // A resume reads compressed bytes from their start. The first checkpoint comes too late to say so.
    this.#isCompressed = isCompressed(buffer)
    if (this.#isCompressed) this.loaded(undefined)
  }

  /** Notes the offset up to which a checkpoint counts the bytes as loaded. Undefined: a resume needs all of them. */
  loaded(to: number | undefined): void {
    this.#limit?.loaded(this.#isCompressed ? undefined : to)
  }

  /** Makes what was written survive a power cut. Throws SluiceError STATE_UNWRITABLE. */
  async sync(): Promise<void> {
    await writing(this.segment.path, async () => await this.#file.sync())
  }

  /** See `SpooledStdin.untaken`. */
  async untaken(): Promise<SluiceError | undefined> {
    // The load has stopped, so no more bytes can be deleted.
    this.#limit?.loaded(undefined)
    await this.#filling
    const error = this.#over?.error
    return isSluiceError(error) ? error : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#filling
    await this.#file.close()
  }

  /** Waits until this number of bytes is there, or stdin ends. Throws the signal's reason. */
  async #until(bytes: number, signal?: AbortSignal): Promise<void> {
    while (this.#written < bytes && this.#over === undefined) {
      signal?.throwIfAborted()
      this.#limit?.want(true)
      await this.#progress.changed(signal)
    }
  }

  async #take(chunk: Uint8Array, signal: AbortSignal): Promise<void> {
    if (this.#limit === undefined) return await this.#append(chunk)
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const piece = chunk.subarray(at, at + PIECE_BYTES)
      await this.#makeRoom(this.#limit, piece.length, signal)
      await this.#append(piece)
    }
  }

  async #append(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await writing(
        this.segment.path,
        async () => await this.#file.write(bytes, done, bytes.length - done, this.#written),
      )
      done += bytesWritten
      this.#written += bytesWritten
      this.#limit?.want(false)
      this.#progress.notify()
    }
  }

  async #openToRead(name: string): Promise<FileHandle> {
    return await open(this.segment.path, 'r').catch((error: unknown) => {
      throw cannotRead(name, error)
    })
  }

  /** Waits until `more` bytes may be written. Throws SluiceError STATE_UNWRITABLE, or the signal's reason. */
  async #makeRoom(limit: SizeLimit, more: number, signal: AbortSignal): Promise<void> {
    const { path } = this.segment
    for (;;) {
      const written = this.#written
      const line = async (from: number) => await hasLine(this.#file, from, written)
      const use = { written, dropped: this.#dropped, more, hasLine: line }
      const step = await writing(path, async () => await limit.next(use))
      if (step.kind === 'write') return
      if (step.kind === 'full') {
        const problem = `the spool has reached its limit of ${limit.bytes.toLocaleString('en-US')} bytes (--spool-limit)`
        throw fail('STATE_UNWRITABLE', { path, problem })
      }
      if (step.kind === 'drop') await this.#drop(step.to)
      else await limit.changed(signal)
    }
  }

  /** Drops bytes up to `to`. Writes the mark first, so that the next process does not look for bytes that are gone. */
  async #drop(to: number): Promise<void> {
    const { path } = this.segment
    await markDropped(this.#folder, this.segment, to)
    this.#dropped = to
    const before = this.#file
    const kept = { head: KEPT_HEAD_BYTES, to, size: this.#written }
    this.#file = await writing(path, async () => await dropBetween(before, path, kept))
    await before.close()
    await writing(path, async () => await syncFolder(this.#folder))
  }

  /** Names the first byte that could not be written: from there the producer has to repeat. */
  #withPlace(error: unknown): unknown {
    if (!isSluiceError(error) || error.code !== 'STATE_UNWRITABLE') return error
    const { problem } = error.failure.evidence
    const bytes = this.#written
    const told = `${String(problem)}. Sluice read stdin only up to byte ${bytes.toLocaleString('en-US')}`
    return fail('STATE_UNWRITABLE', { path: this.segment.path, problem: told, bytes }, { cause: error })
  }
}
