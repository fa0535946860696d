/** Writes the file of rejected documents. Every record is whole and holds everything that a replay needs. */
import { constants } from 'node:fs'
import { access, type FileHandle, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fail, failure, SluiceError } from '../../base/failure/failure.js'
import type { LongLine, Origin, Refused, Rejected } from '../../base/flow.js'
import type { Operation } from '../../base/operation.js'
import { type Author, headOf, openingsOf, Records, type Stamp } from './dead-letter-record.js'
import { excerptOf, LongExcerpt, type PathOf } from './excerpt.js'
import { diskProblem, syncFolder } from '../../base/disk/safe-files.js'
import { LINE_FEED } from '../../base/text/bytes.js'

/** Only the owner: rejected documents may hold what the index would protect. */
const MODE = 0o600
const OTHERS = 0o077
const WRITE_BYTES = 1 << 20

type Head = Omit<Refused, 'document' | 'reason'>

export class DeadLetters implements AsyncDisposable {
  /** Undefined if rejected documents are counted and passed to the caller, but not written. */
  readonly path: string | undefined
  readonly #stamp: Stamp | undefined
  readonly #warn: (message: string) => void
  readonly #pathOf: PathOf
  readonly #waiting: Records
  #file: FileHandle | undefined
  /** End of the last whole record. */
  #end = 0
  /** Where the record under way began, and how much of it was written. Other runs may write to the same file. */
  #from = 0
  #torn = 0
  #records = 0
  /** Whether the user knows that the inputs are still needed. */
  #isTold = false
  #synced = 0
  #turn: Promise<void> = Promise.resolve()

  /** `pathOf`: finds inputs that can be read again. Default: none can. */
  constructor(
    path: string | undefined,
    stamp?: Stamp,
    warn: (message: string) => void = () => undefined,
    pathOf: PathOf = () => undefined,
  ) {
    this.path = path
    this.#stamp = stamp
    this.#warn = warn
    this.#pathOf = pathOf
    this.#waiting = new Records(stamp)
  }

  /** The mark of this process in its records. Undefined if records have no mark. */
  get writer(): string | undefined {
    return this.#stamp?.writer
  }

  get records(): number {
    return this.#records
  }

  /** Bytes of whole records, with those of earlier runs. Unknown before `check`. */
  get length(): number {
    return this.#end
  }

  /** Throws DEAD_LETTERS_UNWRITABLE if the file cannot be written. Does not create the file yet. */
  async check(): Promise<void> {
    if (this.path === undefined) return
    try {
      const known = await stat(this.path).catch(ignoreMissing)
      if (known === undefined) await access(dirname(this.path), constants.W_OK | constants.X_OK)
      else if (known.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' })
      // Opening it would wait for a reader, and what it takes could neither be synced nor taken back.
      else if (known.isFIFO() || known.isSocket()) throw new Error('it is a pipe or socket, not a file')
      else await access(this.path, constants.R_OK | constants.W_OK)
      this.#end = this.#synced = known?.size ?? 0
    } catch (error) {
      throw unwritable(this.path, error)
    }
  }

  /** Appends all of the records, or none. Throws DEAD_LETTERS_UNWRITABLE. */
  async append(refused: Rejected): Promise<void> {
    if (refused.length === 0) return
    const done = await this.#takeTurn()
    try {
      if (this.path !== undefined) {
        for (const one of refused) {
          this.#add(excerptOf(one, this.#pathOf))
          if (this.#waiting.length >= WRITE_BYTES) await this.#write(this.#waiting.take())
        }
        await this.#write(this.#waiting.take())
      }
      this.#settle(refused.length)
    } finally {
      done()
    }
  }

  /**
   * A record for a line too long to hold. If its input can be read again, only its beginning is kept. Otherwise all of it is written as it
   * comes. Other records wait until it has ended.
   */
  async appendLong(origin: Origin, operation: Operation, limit: number, id?: string): Promise<LongLine> {
    const named = { operation, ...(id === undefined ? {} : { id }), status: 0, type: 'DOCUMENT_TOO_LARGE', origin }
    const refused = { ...named, attempts: 0 }
    const excerpt = LongExcerpt.at(origin, this.#pathOf)
    const done = await this.#takeTurn()
    return excerpt === undefined ? this.#whole(refused, limit, done) : this.#excerpt(refused, excerpt, limit, done)
  }

  #add(refused: Refused): void {
    if (refused.isExcerpt === true && !this.#isTold && this.path !== undefined) {
      this.#isTold = true
      this.#warn(
        `${this.path} holds only the beginning of long documents. Keep their inputs until you have replayed them`,
      )
    }
    this.#waiting.add(refused)
  }

  #excerpt(refused: Head, excerpt: LongExcerpt, limit: number, done: () => void): LongLine {
    return {
      write: async bytes => {
        excerpt.add(bytes)
        await Promise.resolve()
      },
      end: async () => {
        const { message: reason } = failure('DOCUMENT_TOO_LARGE', { bytes: excerpt.bytes, limit })
        try {
          this.#add(excerpt.of({ ...refused, reason }))
          await this.#write(this.#waiting.take())
          this.#settle(1)
        } finally {
          done()
        }
      },
      abandon: async () => {
        done()
        await Promise.resolve()
      },
    }
  }

  #whole(refused: Head, limit: number, done: () => void): LongLine {
    let length = 0
    let carry = Buffer.alloc(0)
    let opening = `${headOf(this.#stamp, refused).toString()},"base64":"`
    const write = async (text: string) => {
      await this.#write(Buffer.from(opening + text))
      opening = ''
    }
    return {
      write: async bytes => {
        length += bytes.length
        const joined = Buffer.concat([carry, bytes])
        // Base64 encodes three bytes at a time. The next piece starts with the remaining bytes.
        const whole = joined.length - (joined.length % 3)
        carry = Buffer.from(joined.subarray(whole))
        await write(joined.toString('base64', 0, whole))
      },
      end: async () => {
        const { message } = failure('DOCUMENT_TOO_LARGE', { bytes: length, limit })
        await write(`${carry.toString('base64')}","reason":${JSON.stringify(message)}}\n`)
        await this.#endLong(done)
      },
      abandon: async () => {
        await this.#takeBack()
        done()
      },
    }
  }

  /**
   * Copies a record that is too long to hold from other dead letters. The caller then writes the part after the head
   * in pieces.
   */
  async appendCopy(refused: Head): Promise<LongLine> {
    const done = await this.#takeTurn()
    let opening = headOf(this.#stamp, refused)
    const write = async (bytes: Uint8Array) => {
      await this.#write(Buffer.concat([opening, bytes]))
      opening = Buffer.alloc(0)
    }
    return {
      write,
      end: async () => {
        await write(Buffer.from('\n'))
        await this.#endLong(done)
      },
      abandon: async () => {
        await this.#takeBack()
        done()
      },
    }
  }

  /** On the disk, whatever happens to the machine. Throws DEAD_LETTERS_UNWRITABLE. */
  async sync(): Promise<void> {
    if (this.path === undefined || this.#file === undefined || this.#synced === this.#end) return
    try {
      const end = this.#end
      await syncFile(this.#file)
      if (this.#synced === 0) await syncFolder(dirname(this.path))
      this.#synced = end
    } catch (error) {
      throw unwritable(this.path, error)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  async #takeTurn(): Promise<() => void> {
    const before = this.#turn
    let done: () => void = () => undefined
    this.#turn = new Promise(resolve => (done = resolve))
    await before
    return done
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.path === undefined) return
    try {
      this.#file ??= await this.#open(this.path)
      if (this.#torn === 0) this.#from = (await this.#file.stat()).size
      for (let at = 0; at < bytes.length;) {
        const { bytesWritten } = await this.#file.write(bytes, at)
        at += bytesWritten
        this.#torn += bytesWritten
      }
    } catch (error) {
      // A full disk leaves a torn record, which would make the next one unreadable too.
      await this.#takeBack()
      throw unwritable(this.path, error)
    }
  }

  /** Ends a record that an earlier process could not end, so that the next one stands on a line of its own. */
  async #open(path: string): Promise<FileHandle> {
    const file = await open(path, 'a', MODE)
    try {
      await this.#closeToOthers(path, file)
      if (await endsInsideLine(path)) await file.appendFile('\n')
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** Others may read a file that was there before. */
  async #closeToOthers(path: string, file: FileHandle): Promise<void> {
    const found = await file.stat()
    if (!found.isFile() || (found.mode & OTHERS) === 0) return
    const isClosed = await file.chmod(MODE).then(
      () => true,
      () => false,
    )
    const now = isClosed ? 'Sluice changed its mode, so that only you can read it' : 'Sluice could not change its mode'
    this.#warn(`other users could read the dead letters in ${path}. ${now}`)
  }

  #settle(records: number): void {
    if (this.#torn > 0) this.#end = this.#from + this.#torn
    this.#torn = 0
    this.#records += records
  }

  /** Ends a record that was written in pieces. Throws DEAD_LETTERS_UNWRITABLE if another run wrote between two of them. */
  async #endLong(done: () => void): Promise<void> {
    try {
      if (this.path === undefined || this.#file === undefined || (await this.#isLast(this.#file)))
        return this.#settle(1)
      await this.#takeBack()
      throw unwritable(this.path, new Error('another process wrote into a record that is too long for one write'))
    } finally {
      done()
    }
  }

  /** Removes a record that is not whole. If another run has written behind it, only its line ends. */
  async #takeBack(): Promise<void> {
    const file = this.#file
    if (file === undefined || this.#torn === 0) return
    try {
      await ((await this.#isLast(file)) ? file.truncate(this.#from) : file.appendFile('\n'))
    } catch {
      // The caller reports why the record could not be written.
    }
    this.#torn = 0
  }

  /** Returns whether no other process has written since the record under way began. */
  async #isLast(file: FileHandle): Promise<boolean> {
    const known = await file.stat()
    return !known.isFile() || known.size === this.#from + this.#torn
  }
}

async function syncFile(file: FileHandle): Promise<void> {
  try {
    await file.datasync()
  } catch (error) {
    // A pipe or a device has nothing to keep.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
  }
}

async function endsInsideLine(path: string): Promise<boolean> {
  const { size } = await stat(path)
  if (size === 0) return false
  const last = await open(path, 'r')
  try {
    const { bytesRead, buffer } = await last.read(Buffer.alloc(1), 0, 1, size - 1)
    return bytesRead === 1 && buffer[0] !== LINE_FEED
  } finally {
    await last.close()
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

function unwritable(path: string, error: unknown): SluiceError {
  return fail('DEAD_LETTERS_UNWRITABLE', { path, problem: diskProblem(error) }, { cause: error })
}

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
