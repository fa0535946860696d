/** Takes locks in one folder. Each lock is a file that names its holder. */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, type FileHandle, link, open, readFile, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { stateUnwritable } from './checkpoint-file.js'
import { type Holder, isGone, listenOnSocket, parseHolder, thisHolder } from './lock-holder.js'
import { makeFolder } from '../disk/folders.js'

/** Locks that are released at the same time. */
const AT_ONCE = 16

/** Holds the locks of this process in one folder. No process ever writes over the file of another. */
export class InputLocks implements AsyncDisposable {
  readonly folder: string
  readonly #holder: Holder
  readonly #file: FileHandle
  readonly #record: string
  readonly #socket: AsyncDisposable | undefined
  readonly #held: string[] = []

  private constructor(folder: string, holder: Holder, record: string, file: FileHandle, socket?: AsyncDisposable) {
    this.folder = folder
    this.#holder = holder
    this.#record = record
    this.#file = file
    this.#socket = socket
  }

  /** Shows this process to others, before it takes a lock. `isUndo` is for the message of a process that finds its lock. */
  static async open(folder: string, isUndo = false): Promise<InputLocks> {
    const id = randomBytes(8).toString('hex')
    const record = recordPath(folder, id)
    try {
      await makeFolder(folder)
      const holder = { ...(await thisHolder(folder, id)), ...(isUndo ? { isUndo } : {}) }
      const file = await open(record, 'wx', 0o600)
      const locks = new InputLocks(folder, holder, record, file, await listenOnSocket(socketPath(folder, id)))
      try {
        await file.write(textOf(holder), 0)
        return locks
      } catch (error) {
        // Happens, for example, on a full disk.
        await locks[Symbol.asyncDispose]()
        throw error
      }
    } catch (error) {
      throw stateUnwritable(record, error)
    }
  }

  /** Takes a lock. Resolves to its holder if another process has it. Throws SluiceError STATE_UNWRITABLE. */
  async take(path: string): Promise<Holder | undefined> {
    const other = await this.#take(path)
    if (other === undefined) this.#held.push(path)
    return other
  }

  /** Adds the name of the run, for the message of a process that finds a lock. All locks are names of one file, which grows by it. */
  async name(run: string): Promise<void> {
    await this.#file.write(textOf({ ...this.#holder, run }), 0).catch(() => undefined)
  }

  /** Releases all locks. If a lock cannot be removed, others see that its holder is gone as soon as this process ends. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (let at = 0; at < this.#held.length; at += AT_ONCE)
      await Promise.all(this.#held.slice(at, at + AT_ONCE).map(async path => await this.#release(path)))
    await rm(this.#record, { force: true }).catch(() => undefined)
    await this.#file.close()
    await this.#socket?.[Symbol.asyncDispose]()
  }

  async #take(path: string): Promise<Holder | undefined> {
    for (;;) {
      if (await this.#create(path)) return undefined
      const other = await readHolder(path)
      // Its holder released it in between.
      if (other === undefined) continue
      if (other.id === NOBODY || !(await isGone(other, socketPath(this.folder, other.id)))) return other
      const rival = await this.#clear(path, other)
      if (rival !== undefined) return rival
    }
  }

  /**
   * Removes the lock of a process that is gone. Two processes may both find a dead lock. Only the one that holds `<lock>.<dead id>`
   * may remove it. Otherwise the slower one would remove the lock of the next holder. Resolves to the rival that may remove it.
   */
  async #clear(path: string, gone: Holder): Promise<Holder | undefined> {
    const right = `${path}.${gone.id}`
    const rival = await this.#take(right)
    if (rival !== undefined) return rival
    try {
      const last = await stat(path).catch(() => undefined)
      if (last === undefined || (await readHolder(path))?.id !== gone.id) return undefined
      await rm(path, { force: true })
      // Other locks of the dead process are links to the same file, and need its socket.
      const isLast = last.nlink <= 2
      if (isLast) for (const left of [socketPath, recordPath]) await rm(left(this.folder, gone.id), { force: true })
      return undefined
    } catch (error) {
      throw stateUnwritable(path, error)
    } finally {
      await this.#release(right)
    }
  }

  /** Creates the lock with its whole content at once: a second name of the record that is already written. */
  async #create(path: string): Promise<boolean> {
    try {
      await link(this.#record, path).catch(async (error: unknown) => {
        // Some file systems have no second names, and all limit their number.
        if (codeOf(error) === 'EEXIST') throw error
        await copyFile(this.#record, path, constants.COPYFILE_EXCL)
      })
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw stateUnwritable(path, error)
    }
  }

  /**
   * Removes a lock if it is still ours. If somebody removed our lock by hand, the file may belong to another process.
   */
  async #release(path: string): Promise<void> {
    if ((await readHolder(path))?.id === this.#holder.id) await unlink(path).catch(() => undefined)
  }
}

/** The id of a holder whose file cannot be read. */
const NOBODY = ''

/** Reads who holds a lock. Returns undefined if there is no such file. */
async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const holder = parseHolder(await readFile(path, 'utf8'))
    if (holder !== undefined) return holder
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
  }
  return { id: NOBODY, pid: 0, host: 'an unknown host', since: 'an unknown time' }
}

/** The socket by which others see that a holder is alive. */
function socketPath(folder: string, id: string): string {
  return join(folder, `${id}.sock`)
}

function recordPath(folder: string, id: string): string {
  return join(folder, `${id}.holder`)
}

function textOf(holder: Holder): string {
  return `${JSON.stringify(holder)}\n`
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
