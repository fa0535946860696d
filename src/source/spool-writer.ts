import { type FileHandle, open } from 'node:fs/promises'
import { fail } from '../failure/fail.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import { cannotRead } from './cannot-read.js'
import { isCompressed } from './decompress.js'
import { dropBetween, hasLine } from './spool-drop.js'
import { KNOWN_BYTES, type SpoolRoom } from './spool-room.js'
import { type Segment, type SegmentFolder, markDropped, markEnded, writing } from './spool-segments.js'

const READ_BYTES = 1 << 20
/** Written at once, where there is a limit. */
const PIECE_BYTES = 64 << 10
/** Enough to tell what the bytes are: compressed or not. */
const HEAD_BYTES = 4

/** Writes what comes from stdin into a segment, as fast as it comes, and lets it be read meanwhile. Owns the file. */
export class SpoolWriter implements AsyncDisposable {
  readonly segment: Segment
  readonly #folder: SegmentFolder
  readonly #room: SpoolRoom | undefined
  readonly #waiting = new Set<() => void>()
  #file: FileHandle
  #written: number
  #dropped: number
  /** Nothing more comes: stdin ended, or why it was not read to its end. */
  #over: { readonly error?: unknown } | undefined
  #filling: Promise<void> | undefined

  /** `size`: what the segment holds. `room`: where that has a limit. */
  constructor(folder: SegmentFolder, segment: Segment, file: FileHandle, size: number, room?: SpoolRoom) {
    this.#folder = folder
    this.segment = segment
    this.#file = file
    this.#written = size
    this.#dropped = segment.dropped
    this.#room = room
  }

  get isOver(): boolean {
    return this.#over !== undefined
  }

  /** What stands before is not there any more, but for its first bytes. */
  get dropped(): number {
    return this.#dropped
  }

  /** Throws SluiceError STATE_UNWRITABLE: the bytes before stay as they are. */
  async append(bytes: Uint8Array): Promise<void> {
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

  /**
   * Takes all that is to come, up to the end, which is marked unless the signal came before it. `first`: what was taken of it
   * already.
   */
  fill(chunks: AsyncIterator<Uint8Array>, signal: AbortSignal, first: Uint8Array = new Uint8Array(0)): void {
    const filling = async () => {
      try {
        await this.#take(first, signal)
        for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
          await this.#take(next.value, signal)
      } finally {
        await chunks.return?.()
      }
      await this.sync()
      // An interruption that ends the producer, too, ends stdin before its end.
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

  /**
   * All that was written from there on, and what will be, to the end of stdin. Throws what kept stdin from being read to its
   * end, after all that was written.
   */
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
          // What is added now is in the new one alone.
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

  /** Resolves when it can be told what the bytes are. */
  async begun(): Promise<void> {
    await this.#until(HEAD_BYTES)
    const { buffer } = await this.#file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    // It is read from its start whenever it is gone on with. Before the first checkpoint nobody else says so.
    if (isCompressed(buffer)) this.loaded(undefined)
  }

  /** So far a checkpoint says that it is loaded; undefined where it is read from its start. */
  loaded(to: number | undefined): void {
    this.#room?.loaded(to)
  }

  /** Makes what was written last. Throws SluiceError STATE_UNWRITABLE. */
  async sync(): Promise<void> {
    await writing(this.segment.path, async () => await this.#file.sync())
  }

  /**
   * Once nothing more is loaded: waits until stdin has been taken. Resolves to why it could not be to its end, where it was not the
   * signal that kept it from it.
   */
  async untaken(): Promise<SluiceError | undefined> {
    this.#room?.keepWhole()
    await this.#filling
    const error = this.#over?.error
    return isSluiceError(error) ? error : undefined
  }

  /** Waits until stdin has been taken. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#filling
    await this.#file.close()
  }

  /** Resolves when so many bytes are there, or nothing more will be. Throws the signal's reason, once it is woken. */
  async #until(bytes: number, signal?: AbortSignal): Promise<void> {
    while (this.#written < bytes && this.#over === undefined) {
      signal?.throwIfAborted()
      this.#room?.want(true)
      await new Promise<void>(resolve => this.#waiting.add(resolve))
    }
  }

  async #take(chunk: Uint8Array, signal: AbortSignal): Promise<void> {
    if (this.#room === undefined) return await this.append(chunk)
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const piece = chunk.subarray(at, at + PIECE_BYTES)
      await this.#makeRoom(this.#room, piece.length, signal)
      await this.append(piece)
    }
  }

  async #openToRead(name: string): Promise<FileHandle> {
    return await open(this.segment.path, 'r').catch((error: unknown) => {
      throw cannotRead(name, error)
    })
  }

  /** Resolves when so many bytes more may be written. Throws SluiceError STATE_UNWRITABLE; the signal's reason. */
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
        const problem = `what is spooled has reached its limit of ${room.limit} bytes (--spool-limit)`
        throw fail('STATE_UNWRITABLE', { path, problem })
      }
      if (step.kind === 'drop') await this.#drop(step.to)
      else await room.changed(signal)
    }
  }

  /** Told before it is done: what is not there must not be read, what is there need not. */
  async #drop(to: number): Promise<void> {
    const { path } = this.segment
    await markDropped(this.#folder, this.segment, to)
    this.#dropped = to
    const before = this.#file
    this.#file = await writing(
      path,
      async () => await dropBetween(before, path, { head: KNOWN_BYTES, to, size: this.#written }),
    )
    await before.close()
    await writing(path, async () => await this.#folder.syncFolder(this.#folder.path))
  }

  /** What cannot be written is lost, unless it can be had again: so it is told where that begins. */
  #withPlace(error: unknown): unknown {
    if (!isSluiceError(error) || error.code !== 'STATE_UNWRITABLE') return error
    const { problem } = error.failure.evidence
    const bytes = this.#written
    const told = `${String(problem)}; stdin was taken up to byte ${bytes}, and what came behind it was not`
    return fail(
      'STATE_UNWRITABLE',
      { path: this.segment.path, problem: told, bytes },
      {
        cause: error,
      },
    )
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }
}
