/** Keeps the attachments of records as files: FOLDER/RECORD/ATTACHMENT-NAME. A file that is there and whole is not fetched again. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { diskProblem, makeFolder } from '../../base/disk/safe-files.js'
import { fail, isSluiceError } from '../../base/failure/failure.js'
import { type Attachment, listAttachments } from './list-attachments.js'
import type { OpenInstance } from '../../route/connect/open-servicenow.js'
import { isSysId } from './reading/id-set.js'
import { stored } from './reading/row.js'
import { safeFileName } from './safe-file-name.js'

interface Keeping {
  readonly folder: string
  readonly instance: OpenInstance
  readonly signal: AbortSignal
  onWarning(message: string): void
}

/** Files that are fetched at once. */
const AT_ONCE = 4

export class Attachments {
  readonly #keeping: Keeping
  readonly counts = { fetched: 0, bytes: 0, kept: 0, refused: 0 }

  constructor(keeping: Keeping) {
    this.#keeping = keeping
  }

  /** Throws SluiceError SERVICENOW_*, PROXY_*, OUTPUT_UNWRITABLE, RUN_INTERRUPTED. */
  async fetchOf(rows: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    const { instance, signal } = this.#keeping
    const records = rows.map(row => stored(row['sys_id'])).filter(isSysId)
    const ending = new AbortController()
    const either = AbortSignal.any([signal, ending.signal])
    const listed = listAttachments(instance, records, either)
    let failed: { readonly error: unknown } | undefined
    const work = async (): Promise<void> => {
      try {
        for (let next = await listed.next(); next.done !== true; next = await listed.next())
          await this.#keep(next.value, either)
      } catch (error) {
        failed ??= { error }
        ending.abort(error)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    if (failed !== undefined) throw failed.error
  }

  async #keep(one: Attachment, signal: AbortSignal): Promise<void> {
    const { folder, onWarning } = this.#keeping
    const place = join(folder, one.record)
    const path = join(place, `${one.sysId}-${safeFileName(one.fileName)}`)
    if (await writing(path, async () => await isWhole(path, one))) {
      this.counts.kept += 1
      return
    }
    await writing(place, async () => await makeFolder(place))
    try {
      const bytes = await this.#fetch(one, path, signal)
      this.counts.bytes += bytes
      this.counts.fetched += 1
    } catch (error) {
      if (!isSluiceError(error) || !ofOneAttachment.has(error.code)) throw error
      this.counts.refused += 1
      onWarning(`the attachment ${one.sysId} of the record ${one.record} is not in ${folder}: ${error.message}`)
    }
  }

  async #fetch(one: Attachment, path: string, signal: AbortSignal): Promise<number> {
    const { instance } = this.#keeping
    const part = `${path}.part`
    let bytes = 0
    try {
      const { sysId, size } = one
      const take = async (body: AsyncIterable<Buffer>): Promise<string | undefined> => {
        // A link that others have put there would lead to another file.
        const file = await writing(part, async () => {
          await rm(part, { force: true })
          return await open(part, 'wx', 0o600)
        })
        try {
          const taken = await pour(body, file, one, path)
          bytes = taken.bytes
          return taken.problem
        } finally {
          await file.close()
        }
      }
      await instance.download({ sysId, size, signal, take })
      await writing(path, async () => await rename(part, path))
      return bytes
    } catch (error) {
      await rm(part, { force: true }).catch(() => undefined)
      throw error
    }
  }
}

/** These concern one attachment, not the pull. */
const ofOneAttachment = new Set<string>(['SERVICENOW_ACCESS_DENIED', 'SERVICENOW_REQUEST_REFUSED'])

async function pour(body: AsyncIterable<Buffer>, file: FileHandle, { size, hash }: Attachment, path: string) {
  const checksum = createHash('sha256')
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (size !== undefined && bytes > size) return { bytes, problem: `it has more than the expected ${size} bytes` }
    checksum.update(chunk)
    await writing(path, async () => await file.writeFile(chunk))
  }
  if (size !== undefined && bytes !== size) return { bytes, problem: `${bytes} of ${size} bytes came` }
  if (hash !== undefined && checksum.digest('hex') !== hash)
    return { bytes, problem: 'its checksum (SHA-256) differs from the one that the instance reports' }
  await writing(path, async () => await file.sync())
  return { bytes, problem: undefined }
}

async function isWhole(path: string, { size, hash }: Attachment): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (found === undefined || !found.isFile() || size === undefined || found.size !== size) return false
  if (hash === undefined) return true
  const checksum = createHash('sha256')
  for await (const chunk of createReadStream(path)) checksum.update(chunk as Buffer)
  return checksum.digest('hex') === hash
}

async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (isSluiceError(error)) throw error
    throw fail('OUTPUT_UNWRITABLE', { path, problem: diskProblem(error) }, { cause: error })
  }
}
