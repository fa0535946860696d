import type { FileHandle } from 'node:fs/promises'

/** How stdin begins, held against what was spooled before. */
export type Start =
  /** It ended before its first byte. */
  | { readonly kind: 'nothing' }
  /** With all of that, and then `rest`; or it ends there. */
  | { readonly kind: 'same'; readonly rest?: Uint8Array }
  /** With something else: the first `same` bytes of that, and then `rest`. */
  | { readonly kind: 'other'; readonly same: number; readonly rest: Uint8Array }

/** Reads no more of stdin than it takes to tell; `size`: bytes of the file. */
export async function compareStart(chunks: AsyncIterator<Uint8Array>, file: FileHandle, size: number): Promise<Start> {
  for (let same = 0; ;) {
    const { done, value } = await chunks.next()
    if (done === true) {
      if (same === 0) return { kind: 'nothing' }
      return same === size ? { kind: 'same' } : { kind: 'other', same, rest: new Uint8Array(0) }
    }
    const both = Math.min(value.length, size - same)
    const before = Buffer.alloc(both)
    const { bytesRead } = await file.read(before, 0, both, same)
    if (bytesRead < both || !before.equals(value.subarray(0, both))) return { kind: 'other', same, rest: value }
    if (value.length > both) return { kind: 'same', rest: value.subarray(both) }
    same += both
  }
}
