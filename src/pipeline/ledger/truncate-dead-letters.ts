import { type FileHandle, open } from 'node:fs/promises'
import { fail, SluiceError } from '../../base/failure/failure.js'
import { LINE_FEED } from '../../base/text/bytes.js'
import { type Author, openingsOf } from './dead-letter-record.js'

const READ_BYTES = 1 << 16

/**
 * Cuts dead letters to the length that a checkpoint covers: what stands behind will be written again. Only if the process that
 * wrote the checkpoint wrote all of it: others may have written to the same file since, also under the same name of a run.
 * Missing or shorter, the file is its owner's business. Throws SluiceError DEAD_LETTERS_UNWRITABLE.
 */
export async function truncateDeadLetters(path: string, length: number, author: Author): Promise<void> {
  let file: FileHandle
  try {
    file = await open(path, 'r+')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw unwritable(path, error)
  }
  try {
    const { size } = await file.stat()
    if (size <= length) return
    const end = await endOfOwn(openingsOf(author), file, length)
    // Somebody else may be writing to it at this moment.
    if (end === undefined || (await file.stat()).size !== end) return
    await file.truncate(length)
    await file.sync()
  } catch (error) {
    throw unwritable(path, error)
  } finally {
    await file.close()
  }
}

/**
 * Returns the end of the file if every line from `from` has one of these openings, otherwise undefined. The last line
 * may be torn.
 */
async function endOfOwn(openings: readonly string[], file: FileHandle, from: number): Promise<number | undefined> {
  const buffer = Buffer.alloc(READ_BYTES)
  const headBytes = Math.max(...openings.map(opening => opening.length))
  const isOwn = (head: string) => openings.some(opening => head.startsWith(opening))
  // A record that was torn before its author is complete is useless, and no checkpoint covers it.
  const isTorn = (head: string) => openings.some(opening => opening.startsWith(head))
  let head = ''
  for (let at = from; ;) {
    const { bytesRead } = await file.read(buffer, 0, READ_BYTES, at)
    if (bytesRead === 0) return isOwn(head) || isTorn(head) ? at : undefined
    const chunk = buffer.subarray(0, bytesRead)
    at += bytesRead
    for (let start = 0; start < bytesRead;) {
      const lineFeed = chunk.indexOf(LINE_FEED, start)
      const end = lineFeed === -1 ? bytesRead : lineFeed
      head += chunk.toString('latin1', start, Math.min(end, start + headBytes - head.length))
      start = end + 1
      if (lineFeed === -1) continue
      if (!isOwn(head)) return undefined
      head = ''
    }
  }
}

function unwritable(path: string, error: unknown): SluiceError {
  const { code, message } = error as NodeJS.ErrnoException
  return fail('DEAD_LETTERS_UNWRITABLE', { path, problem: code ?? message }, { cause: error })
}
