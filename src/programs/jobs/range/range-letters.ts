/** Dead letters of ranges: written where only this process writes, and put whole into the folder of the job. */
import { randomUUID } from 'node:crypto'
import { copyFile, lstat, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fail } from '../../../base/failure/failure.js'

export class RangeLetters implements AsyncDisposable {
  readonly #folder: string
  #own: Promise<string> | undefined

  /** `folder`: of the job. It is made when a range has dead letters, because not every worker may write there. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** Returns a file that does not exist. Another worker may load the same range, and has another file. */
  async newFile(id: string): Promise<string> {
    this.#own ??= mkdtemp(join(tmpdir(), 'sluice-ranges-'))
    return join(await this.#own, `${id}-${randomUUID()}.ndjson`)
  }

  /** Returns where they are then. A second delivery of the range replaces them. Throws SluiceError DEAD_LETTERS_UNWRITABLE. */
  async keep(id: string, file: string): Promise<string> {
    const path = join(this.#folder, `${id}.ndjson`)
    const part = `${path}.${randomUUID()}.part`
    try {
      await refuseLink(this.#folder)
      await mkdir(this.#folder, { recursive: true })
      // The two folders may be on different disks.
      await copyFile(file, part)
      await rename(part, path)
      return path
    } catch (error) {
      await rm(part, { force: true }).catch(() => undefined)
      const { code, message } = error as NodeJS.ErrnoException
      throw fail('DEAD_LETTERS_UNWRITABLE', { path, problem: code ?? message }, { cause: error })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#own !== undefined) await rm(await this.#own, { recursive: true, force: true })
  }
}

/**
 * Refuses a link with the name that Sluice itself gives to the folder in the working folder of the job. Nobody asked for it, and others may
 * have put it there.
 */
async function refuseLink(folder: string): Promise<void> {
  if (!basename(folder).startsWith('sluice-dead-letters-')) return
  const isLink = await lstat(folder).then(
    found => found.isSymbolicLink(),
    () => false,
  )
  if (isLink) throw new Error(`${folder} is a symbolic link. Remove it, or pass a folder with --dead-letters`)
}
