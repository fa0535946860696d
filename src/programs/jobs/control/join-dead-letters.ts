/** Joins the dead letters of all ranges of a job into one file, one after the other: there may be very many. */
import { constants } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { fail } from '../../../base/failure/failure.js'

export interface Joined {
  /** Absent: this machine can read none of them. */
  readonly path?: string
  /** How many files this machine cannot read, by the machines that wrote them. */
  readonly elsewhere: Readonly<Record<string, number>>
}

/** Only the owner: rejected documents may hold what the index would protect. */
const MODE = 0o600

/** The files stay, so that a job that continues can join them again. Its methods throw SluiceError DEAD_LETTERS_UNWRITABLE. */
export class JoinedDeadLetters implements AsyncDisposable {
  readonly #folder: string
  readonly #path: string
  /** Of this command alone: another one may wait for the same job, and joins the same files. */
  readonly #part: string
  readonly #elsewhere: Record<string, number> = {}
  #file: FileHandle | undefined

  /** `folder`: of the job. The joined file stands beside it. */
  constructor(folder: string) {
    this.#folder = resolve(folder) + sep
    this.#path = `${folder}.ndjson`
    this.#part = join(folder, `joined-${randomUUID()}.part`)
  }

  /** `host`: the machine that wrote the file. A file outside the folder is not read: the queue must not name files of this machine. */
  async add(file: string, host: string): Promise<void> {
    const read = resolve(file).startsWith(this.#folder) ? await openToRead(file) : undefined
    if (read === undefined) {
      this.#elsewhere[host] = (this.#elsewhere[host] ?? 0) + 1
      return
    }
    try {
      await this.#written(async () => {
        this.#file ??= await open(this.#part, 'wx', MODE)
        for await (const bytes of read.createReadStream({ autoClose: false }))
          await this.#file.writeFile(bytes as Buffer)
      })
    } finally {
      await read.close()
    }
  }

  async end(): Promise<Joined> {
    const elsewhere = this.#elsewhere
    if (this.#file === undefined) return { elsewhere }
    await this.#written(async () => {
      await this.#file?.close()
      // Whole, or not at all.
      await rename(this.#part, this.#path)
      this.#file = undefined
    })
    return { path: this.#path, elsewhere }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#file === undefined) return
    await this.#file.close()
    this.#file = undefined
    await rm(this.#part, { force: true })
  }

  async #written(write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      throw fail('DEAD_LETTERS_UNWRITABLE', { path: this.#path, problem: code ?? message }, { cause: error })
    }
  }
}

/** Opens a file. Returns undefined if it cannot be read, and for a link: the queue must not name a file that a link leads to. */
async function openToRead(path: string): Promise<FileHandle | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch {
    // Counted as a file of another machine.
  }
  return undefined
}
