import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { LINE_FEED } from '../../base/text/bytes.js'
import { ChangeSignal } from '../../base/time/clock.js'

/** The step before the next bytes of stdin are written. */
type Step =
  | { readonly kind: 'write' }
  /** Wait until more is loaded, or until the load waits for more. */
  | { readonly kind: 'wait' }
  /** Delete the bytes before `to`, except the head: they are loaded. */
  | { readonly kind: 'drop'; readonly to: number }
  | { readonly kind: 'full' }

/** A checkpoint knows a file by its first bytes, and by as many before the position where loading continues. */
export const KEPT_HEAD_BYTES = 64 << 10

interface Use {
  /** Bytes of stdin that were written. */
  readonly written: number
  /** The bytes from `KEPT_HEAD_BYTES` to here are deleted. */
  readonly dropped: number
  /** Bytes to write next. */
  readonly more: number
  /** Returns whether a whole line with content is behind that offset. */
  hasLine(from: number): Promise<boolean>
}

/** The rest of the limit is for the smaller copy that replaces the file. For a moment, both exist. */
const USABLE = 2 / 3

/**
 * Keeps the file of one stdin below a limit. When the limit is near, Sluice stops reading stdin until the first part of the file
 * is loaded, and deletes that part. If nothing can be deleted, the spool is full.
 */
export class SizeLimit {
  readonly bytes: number
  #loaded = 0
  #isWanted = false
  #isKeptWhole = false
  /** Whether something has changed since the last step. */
  #isChanged = false
  readonly #change = new ChangeSignal()

  constructor(bytes: number) {
    this.bytes = bytes
  }

  /** Notes the offset up to which a checkpoint counts the bytes as loaded. Undefined: no bytes may be deleted. */
  loaded(to: number | undefined): void {
    if (to === undefined) this.#isKeptWhole = true
    else this.#loaded = to
    this.#notify()
  }

  /** Notes whether the load waits for more. */
  want(isWanted: boolean): void {
    this.#isWanted = isWanted
    if (isWanted) this.#notify()
  }

  async next(use: Use): Promise<Step> {
    this.#isChanged = false
    const { written, dropped, more, hasLine } = use
    const kept = written - Math.max(0, dropped - KEPT_HEAD_BYTES)
    if (kept + more <= this.bytes * USABLE) return { kind: 'write' }
    if (this.#isKeptWhole) return { kind: 'full' }
    const isAllLoaded = this.#isWanted && !(await hasLine(this.#loaded))
    const to = this.#loaded - KEPT_HEAD_BYTES
    const gain = to - Math.max(dropped, KEPT_HEAD_BYTES)
    // Each deletion rewrites the rest of the file, so it must be worth it.
    if (gain >= kept / 2) return { kind: 'drop', to }
    return { kind: isAllLoaded && !this.#isChanged ? 'full' : 'wait' }
  }

  /** Waits until the next step may be another one. Throws the signal's reason. */
  async changed(signal: AbortSignal): Promise<void> {
    if (!this.#isChanged) await this.#change.changed(signal)
    signal.throwIfAborted()
  }

  #notify(): void {
    this.#isChanged = true
    this.#change.notify()
  }
}

const COPY_BYTES = 1 << 20

/**
 * Replaces a file by one without the bytes between `head` and `to`. The other bytes keep their offsets, and the gap
 * takes no space. Returns the new file. Readers of the old file can continue. Throws errors of the file system.
 */
export async function dropBetween(
  file: FileHandle,
  path: string,
  { head, to, size }: { readonly head: number; readonly to: number; readonly size: number },
): Promise<FileHandle> {
  const beside = `${path}.new`
  const copy = await open(beside, 'w+', 0o600)
  try {
    for (const [from, end] of [
      [0, head],
      [to, size],
    ] as const) {
      let at = from
      for await (const piece of pieces(file, from, end)) {
        for (let done = 0; done < piece.length;)
          done += (await copy.write(piece, done, piece.length - done, at + done)).bytesWritten
        at += piece.length
      }
    }
    await copy.sync()
    await rename(beside, path)
    return copy
  } catch (error) {
    await copy.close()
    await rm(beside, { force: true })
    throw error
  }
}

/** Returns whether a line that is not blank ends in that range. */
export async function hasLine(file: FileHandle, from: number, to: number): Promise<boolean> {
  let isBlank = true
  for await (const piece of pieces(file, from, to)) {
    for (const byte of piece) {
      if (byte === LINE_FEED && !isBlank) return true
      isBlank &&= byte <= 0x20
    }
  }
  return false
}

/** Reads a range of a file. Each piece is valid until the next one is asked for. */
async function* pieces(file: FileHandle, from: number, to: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, Math.max(0, to - from)))
  for (let at = from; at < to;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, to - at), at)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    at += bytesRead
  }
}
