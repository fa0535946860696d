import type { Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Checksum } from './checksum.js'

const READ_BYTES = 1 << 20

/**
 * Returns the checksums of a file's first bytes: as many as each of `ends` says, in ascending order. Undefined if the
 * file is shorter. Reads each byte once. Does not move the position of the handle. Throws what reading throws, and the
 * reason of the signal.
 */
export async function checksumOf(
  handle: FileHandle,
  ends: readonly number[],
  signal?: AbortSignal,
): Promise<(string | undefined)[]> {
  return (await checksumsAt(handle, ends, signal)).map(checksum => checksum?.digest())
}

/** Adds the bytes of a file up to each end. Returns a checksum for each end, which can continue from there. */
export async function checksumsAt(
  handle: FileHandle,
  ends: readonly number[],
  signal?: AbortSignal,
): Promise<(Checksum | undefined)[]> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, ends.at(-1) ?? 0))
  const sofar = new Checksum()
  const found: (Checksum | undefined)[] = []
  for (const end of ends) found.push((await addUpTo(end, sofar, handle, buffer, signal)) ? sofar.clone() : undefined)
  return found
}

/** Adds the bytes of a file up to an offset. Returns false if the file is shorter. */
export async function addUpTo(
  end: number,
  checksum: Checksum,
  handle: FileHandle,
  buffer: Buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, end)),
  signal?: AbortSignal,
): Promise<boolean> {
  while (checksum.bytes < end) {
    signal?.throwIfAborted()
    const length = Math.min(buffer.length, end - checksum.bytes)
    const { bytesRead } = await handle.read(buffer, 0, length, checksum.bytes)
    if (bytesRead === 0) return false
    checksum.add(buffer.subarray(0, bytesRead))
  }
  return true
}

/** Returns the checksums of the first bytes of the file at a path: see `checksumOf`. None if the file cannot be read. */
export async function sumsOf(path: string, ends: readonly number[]): Promise<readonly (string | undefined)[]> {
  try {
    const file = await open(path, 'r')
    try {
      return await checksumOf(file, ends)
    } finally {
      await file.close()
    }
  } catch {
    return ends.map(() => undefined)
  }
}

/** A file that changed within this time may change again and show the same time: two seconds is the coarsest step of all systems. */
const RACY_MS = 2000

/**
 * Returns what shows that a file is unchanged. Its time of change is 0, which no file has, if that was so recent that the next change
 * may show the same time.
 */
export function fileStat({ size, ino: inode, mtimeMs, ctimeMs }: Stats) {
  return { size, inode, mtimeMs, ctimeMs: ctimeMs + RACY_MS < Date.now() ? ctimeMs : 0 }
}
