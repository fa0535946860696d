/** Finds and keeps the ends of what a followed file holds. */
import type { FileHandle } from 'node:fs/promises'
import type { Checksum } from '../../base/checksum/checksum.js'
import type { FileReading, FileStat } from '../../base/flow.js'

/** Bytes before the end of what was read that are compared each time the file has changed. */
const TAIL_BYTES = 1024

/** Returns where the line behind the last line feed of [from, to) begins. Undefined if no line ends there. */
export async function lastLineEnd(handle: FileHandle, from: number, to: number): Promise<number | undefined> {
  const buffer = Buffer.allocUnsafe(Math.min(LOOK_BYTES, Math.max(0, to - from)))
  for (let end = to; end > from;) {
    const start = Math.max(from, end - LOOK_BYTES)
    const { bytesRead } = await handle.read(buffer, 0, end - start, start)
    const at = buffer.subarray(0, bytesRead).lastIndexOf(LINE_FEED)
    if (at !== -1) return start + at + 1
    end = start
  }
  return undefined
}

const LOOK_BYTES = 64 << 10
const LINE_FEED = 0x0a

/** Bytes before the end of what was seen that are compared each time the file has changed. */
const SEEN_BYTES = 64

/** Returns the last bytes before an offset. */
export async function bytesBefore(handle: FileHandle, end: number): Promise<Buffer> {
  const length = Math.min(SEEN_BYTES, end)
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, end - length)
  // Less than these if the file was emptied just now: then its size shows that.
  return bytesRead === length ? buffer : Buffer.alloc(0)
}

/** Returns whether these bytes stand before an offset. */
export async function holds(handle: FileHandle, bytes: Buffer, end: number): Promise<boolean> {
  const { length } = bytes
  if (length === 0) return true
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, end - length)
  return bytesRead === length && buffer.equals(bytes)
}

/** Returns a copy of the last bytes. */
export function lastOf(before: Buffer, chunk: Buffer): Buffer {
  return Buffer.concat([before, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES)
}

/** Returns the account of what was read, which grows with the checksum. */
export function readingOf(stat: FileStat, sum: Checksum, head: string | undefined): FileReading {
  return {
    stat,
    head,
    get bytes() {
      return sum.bytes
    },
    sum: () => sum.digest(),
  }
}
