import { createHash } from 'node:crypto'
import type { FileLook, Mark, StoredFile } from '../flow.js'
import type { FileIdentity } from './checkpoint.js'

const TAIL_BYTES = 64 << 10

/** Returns the identity of a file before any byte is read. */
export function identityOf(look: FileLook): FileIdentity {
  return { ...look, tail: { end: 0, sha256: createHash('sha256').digest('hex') } }
}

/**
 * Returns the identity of a file that was read up to the mark. If the file cannot be read now, returns the earlier
 * identity.
 */
export async function identityAt(
  mark: Mark,
  isFinished: boolean,
  known: FileIdentity,
  file: StoredFile,
): Promise<FileIdentity> {
  // Only where bytes are loaded as they are stored is the mark an offset of the file.
  const isPlain = mark.kind === 'lines' && !known.isCompressed
  const read = mark.offset + mark.tail
  const size = isPlain && (isFinished || mark.tail > 0) ? read : known.size
  const end = isPlain ? (isFinished ? read : mark.offset) : known.size
  if (end === known.tail.end) return { ...known, size }
  const sha256 = await file.hash(Math.max(0, end - TAIL_BYTES), end, known.inode)
  return { ...known, size, ...(sha256 === undefined ? {} : { tail: { end, sha256 } }) }
}

/** Whether all that the file is known by is still there. More may have been appended. */
export async function holdsStill({ head, tail }: FileIdentity, file: StoredFile): Promise<boolean> {
  const [first, last] = await Promise.all([
    file.hash(0, head.bytes),
    file.hash(Math.max(0, tail.end - TAIL_BYTES), tail.end),
  ])
  return first === head.sha256 && last === tail.sha256
}
