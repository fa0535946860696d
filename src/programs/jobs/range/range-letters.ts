/** Dead letters of ranges: written where only this process writes, and put whole into the folder of the job. */
import { randomUUID } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
