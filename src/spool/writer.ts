import { type FileHandle, open } from 'node:fs/promises'
import { fail } from '../failure/fail.js'
import { isSluiceError, SluiceError } from '../failure/sluice-error.js'
import { cannotRead } from '../source/cannot-read.js'
import { isCompressed } from '../source/decompress.js'
import { dropBetween, hasLine, KEPT_HEAD_BYTES, type SpoolRoom } from './room.js'
import { markDropped, markEnded, type SegmentFolder, type SpoolSegment, writing } from './segments.js'

const READ_BYTES = 1 << 20
/** Bytes written in one go if there is a limit. */
const PIECE_BYTES = 64 << 10
/** Enough bytes to see whether they are compressed. */
const MAGIC_BYTES = 4

/** Writes stdin to a segment as fast as it comes, and lets the load read the segment meanwhile. Owns the file. */
export class SpoolWriter implements AsyncDisposable {
  readonly segment: SpoolSegment
  readonly #folder: SegmentFolder
  readonly #room: SpoolRoom | undefined
  readonly #waiting = new Set<() => void>()
  #file: FileHandle
  #written = 0
  #dropped = 0
  /** Set when nothing more comes. `error`: why stdin was not read to its end. */
  #over: { readonly error?: unknown } | undefined
  #filling: Promise<void> | undefined

  /** `room`: keeps the segment below a limit. */
  constructor(folder: SegmentFolder, segment: SpoolSegment, file: FileHandle, room?: SpoolRoom) {
    this.#folder = folder
    this.segment = segment
    this.#file = file
    this.#room = room
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
      .then(() => this.#wake())
  }

  /** Reads from an offset to the end of stdin, also what is still to come. Throws why stdin was not read to its end. */
  async *read(name: string, from: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let current = this.#file
    let file = await this.#openToRead(name)
    const abort = () => this.#wake()
    signal.addEventListener('abort', abort)
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
      signal.removeEventListener('abort', abort)
      await file.close()
    }
    if (this.#over?.error !== undefined) throw cannotRead(name, this.#over.error)
  }

  /** Waits for the first bytes. */
  async begun(): Promise<void> {
    await this.#until(MAGIC_BYTES)
    const { buffer } = await this.#file.read(Buffer.alloc(MAGIC_BYTES), 0, MAGIC_BYTES, 0)
    // A resume reads compressed bytes from their start. The first checkpoint comes too late to say so.
    if (isCompressed(buffer)) this.loaded(undefined)
  }

  /** Notes the offset up to which a checkpoint counts the bytes as loaded. Undefined: a resume needs all of them. */
  loaded(to: number | undefined): void {
    this.#room?.loaded(to)
  }

  /** Makes what was written survive a power cut. Throws SluiceError STATE_UNWRITABLE. */
  async sync(): Promise<void> {
    await writing(this.segment.path, async () => await this.#file.sync())
  }

  /** See `SpooledStdin.untaken`. */
  async untaken(): Promise<SluiceError | undefined> {
    // The load has stopped, so no more bytes can be deleted.
    this.#room?.loaded(undefined)
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
      this.#room?.want(true)
      await new Promise<void>(resolve => this.#waiting.add(resolve))
    }
  }

  async #take(chunk: Uint8Array, signal: AbortSignal): Promise<void> {
    if (this.#room === undefined) return await this.#append(chunk)
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const piece = chunk.subarray(at, at + PIECE_BYTES)
      await this.#makeRoom(this.#room, piece.length, signal)
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
      this.#room?.want(false)
      this.#wake()
    }
  }

  async #openToRead(name: string): Promise<FileHandle> {
    return await open(this.segment.path, 'r').catch((error: unknown) => {
      throw cannotRead(name, error)
    })
  }

  /** Waits until `more` bytes may be written. Throws SluiceError STATE_UNWRITABLE, or the signal's reason. */
  async #makeRoom(room: SpoolRoom, more: number, signal: AbortSignal): Promise<void> {
    const { path } = this.segment
    for (;;) {
      const written = this.#written
      const line = async (from: number) => await hasLine(this.#file, from, written)
      const step = await writing(
        path,
        async () => await room.next({ written, dropped: this.#dropped, more, hasLine: line }),
      )
      if (step.kind === 'write') return
      if (step.kind === 'full') {
        const problem = `the spool has reached its limit of ${room.limit} bytes (--spool-limit)`
        throw fail('STATE_UNWRITABLE', { path, problem })
      }
      if (step.kind === 'drop') await this.#drop(step.to)
      else await room.changed(signal)
    }
  }

  /** Marks first: after a kill, nobody reads bytes that are gone. */
  async #drop(to: number): Promise<void> {
    const { path } = this.segment
    await markDropped(this.#folder, this.segment, to)
    this.#dropped = to
    const before = this.#file
    this.#file = await writing(
      path,
      async () => await dropBetween(before, path, { head: KEPT_HEAD_BYTES, to, size: this.#written }),
    )
    await before.close()
    await writing(path, async () => await this.#folder.syncFolder(this.#folder.path))
  }

  /** Names the first byte that could not be written: from there the producer has to repeat. */
  #withPlace(error: unknown): unknown {
    if (!isSluiceError(error) || error.code !== 'STATE_UNWRITABLE') return error
    const { problem } = error.failure.evidence
    const bytes = this.#written
    const told = `${String(problem)}. Sluice took stdin up to byte ${bytes}, and no more`
    return fail('STATE_UNWRITABLE', { path: this.segment.path, problem: told, bytes }, { cause: error })
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }
}
