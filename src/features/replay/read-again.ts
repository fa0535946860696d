/** Reads a long document from its input again: its dead letter holds only the beginning. */
import { createHash } from 'node:crypto'
import type { StoredAt } from '../../pipeline/bulk/dead-letter.js'
import { isSluiceError } from '../../base/failure/failure.js'
import { findSources } from '../../pipeline/source/open-sources.js'

/** Returns the document, or why the input no longer holds it. The caller has checked that its length may be held. */
export async function readDocumentAgain(stored: StoredAt, signal: AbortSignal): Promise<Buffer | string> {
  const { file, offset, bytes, sha256 } = stored
  try {
    const document = await bytesAt(stored, signal)
    if (document.length < bytes) return `${file} ends before byte ${offset + bytes}`
    const isSame = createHash('sha256').update(document).digest('hex') === sha256
    return isSame ? document : `${file} has changed at byte ${offset}`
  } catch (error) {
    if (signal.aborted || !isSluiceError(error)) throw error
    return error.failure.message
  }
}

/** Returns fewer bytes if the file ends before. */
async function bytesAt({ file, offset, bytes }: StoredAt, signal: AbortSignal): Promise<Buffer> {
  const [source] = await findSources({ files: [file] }, {})
  // A pipe that has taken the place of the file would be waited for.
  if (source?.file === undefined) return Buffer.alloc(0)
  const document = Buffer.allocUnsafeSlow(bytes)
  let filled = 0
  for await (const chunk of source.open(signal, offset)) {
    const part = chunk.subarray(0, bytes - filled)
    document.set(part, filled)
    filled += part.length
    if (filled === bytes) break
  }
  return document.subarray(0, filled)
}
