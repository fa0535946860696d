import type { FileHandle } from 'node:fs/promises'
import { KNOWN_BYTES } from './spool-room.js'

/** Something that was spooled before, and holds at least one byte. */
export interface Spooled {
  readonly file: FileHandle
  /** Bytes of the file. */
  readonly size: number
  /** Those from `KNOWN_BYTES` to there are not kept: they pass for the same as any. */
  readonly dropped: number
}

/** How stdin begins, held against all that was spooled before. */
export type Start<T extends Spooled> =
  /** It ended before its first byte. */
  | { readonly kind: 'nothing' }
  /**
   * With `same` bytes that are those of `like`, and then `rest`; behind that comes more, unless it `isOver`. `whole`: the longest
   * one that it begins with all of.
   */
  | {
      readonly kind: 'begun'
      readonly whole: T | undefined
      readonly like: T | undefined
      readonly same: number
      readonly rest: Uint8Array
      readonly isOver: boolean
    }

/** Reads no more of stdin than it takes to tell. */
export async function compareStart<T extends Spooled>(
  chunks: AsyncIterator<Uint8Array>,
  spooled: readonly T[],
): Promise<Start<T>> {
  let whole: T | undefined
  let alike = spooled
  for (let same = 0; ;) {
    const { done, value } = await chunks.next()
    const like = alike.find(({ dropped }) => dropped === 0) ?? alike[0]
    if (done === true) {
      if (same === 0) return { kind: 'nothing' }
      whole = alike.find(({ size }) => size === same) ?? whole
      return { kind: 'begun', whole, like, same, rest: new Uint8Array(0), isOver: true }
    }
    const still: T[] = []
    for (const one of alike) {
      const both = value.subarray(0, Math.min(value.length, one.size - same))
      if (!(await holds(one, same, both))) continue
      // Where both end alike, what comes next tells.
      if (both.length === value.length) still.push(one)
      else if (whole === undefined || one.size > whole.size) whole = one
    }
    if (still.length === 0) return { kind: 'begun', whole, like, same, rest: value, isOver: false }
    alike = still
    same += value.length
  }
}

async function holds({ file, dropped }: Spooled, at: number, bytes: Uint8Array): Promise<boolean> {
  const end = at + bytes.length
  if (dropped <= KNOWN_BYTES) return await isThere(file, at, bytes)
  const [first, last] = [Math.max(0, Math.min(end, KNOWN_BYTES) - at), Math.max(0, dropped - at)]
  if (!(await isThere(file, at, bytes.subarray(0, first)))) return false
  return await isThere(file, Math.max(at, dropped), bytes.subarray(last))
}

async function isThere(file: FileHandle, at: number, bytes: Uint8Array): Promise<boolean> {
  const there = Buffer.alloc(bytes.length)
  const { bytesRead } = await file.read(there, 0, bytes.length, at)
  return bytesRead === bytes.length && there.equals(bytes)
}
