import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { LINE_FEED } from '../text/bytes.js'

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

/** Tells whether a line that is not blank ends in that range. */
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
