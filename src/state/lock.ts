/**
 * Locks on the inputs of a run, so that two runs do not load the same file into the same index at once. That a resume doubles
 * nothing depends on ids, not on them: they keep apart what would make other ids.
 */
import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, copyFile, link, open, readFile, realpath, rm, stat, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'
import type { Source } from '../flow.js'
import { stateUnwritable } from './checkpoint-file.js'
import { type Holder, isGone, parseHolder, thisHolder } from './lock-holder.js'
import { showSign } from './lock-sign.js'
import { makeFolder } from '../disk/make-folder.js'

export interface Locking {
  readonly stateDir: string
  /** URL, without credentials. */
  readonly cluster: string
  readonly index: string
  /** Those that are neither a file nor a table are not locked: nobody else can read them. */
  readonly sources: readonly Source[]
  /** URL of where tables are read, without credentials. */
  readonly instance?: string | undefined
  /** A folder that only one process may use: it holds what came from stdin. */
  readonly folder?: string | undefined
}

/** Locks that are given back at the same time. */
const AT_ONCE = 16

/** Of all inputs, or of none. Throws SluiceError RUN_LOCKED, STATE_UNWRITABLE. */
export async function lockInputs(locking: Locking): Promise<InputLocks> {
  const { stateDir, cluster, index, sources, instance = '' } = locking
  const folder = locksFolder(stateDir)
  const wanted = new Map(
    await Promise.all(
      sources.flatMap(({ name, file, rows }) => {
        const lockOf = (input: string) => [join(folder, `${keyOf([cluster, index, input])}.lock`), name] as const
        if (rows !== undefined) return [Promise.resolve(lockOf(`${name} ${instance}`))]
        if (file === undefined) return []
        // Two names of one file are one input.
        const path = realpath(file.path).catch(() => file.path)
        return [path.then(lockOf)]
      }),
    ),
  )
  if (locking.folder !== undefined) wanted.set(join(folder, `${keyOf([resolve(locking.folder)])}.lock`), '-')
  const locks = await InputLocks.open(folder)
  try {
    // In the same order in all processes: of two that want the same ones, one gets them.
    for (const path of [...wanted.keys()].toSorted()) {
      const other = await locks.take(path)
      if (other !== undefined) throw lockedBy(other, wanted.get(path) ?? '', index, path)
    }
    return locks
  } catch (error) {
    await locks[Symbol.asyncDispose]()
    throw error
  }
}

/** The locks that this process holds, in one folder. Each file tells of the holder, and the file of a second one never takes its place. */
export class InputLocks implements AsyncDisposable {
  readonly folder: string
  readonly #holder: Holder
  readonly #file: FileHandle
  readonly #record: string
  readonly #sign: AsyncDisposable | undefined
  readonly #held: string[] = []

  private constructor(folder: string, holder: Holder, record: string, file: FileHandle, sign?: AsyncDisposable) {
    this.folder = folder
    this.#holder = holder
    this.#record = record
    this.#file = file
    this.#sign = sign
  }

  /** `isUndo`: what they are taken for, for those who meet them. */
  static async open(folder: string, isUndo = false): Promise<InputLocks> {
    const id = randomBytes(8).toString('hex')
    const record = recordPath(folder, id)
    try {
      await makeFolder(folder)
      const holder = { ...(await thisHolder(folder, id)), ...(isUndo ? { isUndo } : {}) }
      const file = await open(record, 'wx', 0o600)
      const locks = new InputLocks(folder, holder, record, file, await showSign(signPath(folder, id)))
      try {
        await file.write(textOf(holder), 0)
        return locks
      } catch (error) {
        // On a full disk.
        await locks[Symbol.asyncDispose]()
        throw error
      }
    } catch (error) {
      throw stateUnwritable(record, error)
    }
  }

  /** Resolves to who has it, if another one has. Throws SluiceError STATE_UNWRITABLE. */
  async take(path: string): Promise<Holder | undefined> {
    const other = await this.#take(path)
    if (other === undefined) this.#held.push(path)
    return other
  }

  /** Which run it is, for those who meet the locks. All of them are names of one file, which only grows by it. */
  async name(run: string): Promise<void> {
    await this.#file.write(textOf({ ...this.#holder, run }), 0).catch(() => undefined)
  }

  /** A lock that cannot be removed is one of a process that is gone, once this one is. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (let at = 0; at < this.#held.length; at += AT_ONCE)
      await Promise.all(this.#held.slice(at, at + AT_ONCE).map(async path => await this.#release(path)))
    await rm(this.#record, { force: true }).catch(() => undefined)
    await this.#file.close()
    await this.#sign?.[Symbol.asyncDispose]()
  }

  async #take(path: string): Promise<Holder | undefined> {
    for (;;) {
      if (await this.#create(path)) return undefined
      const other = await readHolder(path)
      // Released in between.
      if (other === undefined) continue
      if (other.id === NOBODY || !(await isGone(other, signPath(this.folder, other.id)))) return other
      const rival = await this.#clear(path, other)
      if (rival !== undefined) return rival
    }
  }

  /**
   * Removes what a process that is gone has left. Who has read its name and then waits must not remove the lock of the next holder:
   * so the right to remove is a lock as well, named after the one that is gone. Resolves to who has that right, if another one has.
   */
  async #clear(path: string, gone: Holder): Promise<Holder | undefined> {
    const right = `${path}.${gone.id}`
    const rival = await this.#take(right)
    if (rival !== undefined) return rival
    try {
      const last = await stat(path).catch(() => undefined)
      if (last === undefined || (await readHolder(path))?.id !== gone.id) return undefined
      await rm(path, { force: true })
      // Other locks of the one that is gone need its sign: they are names of the same file.
      const isLast = last.nlink <= 2
      if (isLast) for (const left of [signPath, recordPath]) await rm(left(this.folder, gone.id), { force: true })
      return undefined
    } catch (error) {
      throw stateUnwritable(path, error)
    } finally {
      await this.#release(right)
    }
  }

  /** The file is there with all that it says, or it is not: a second name for what was written before. */
  async #create(path: string): Promise<boolean> {
    try {
      await link(this.#record, path).catch(async (error: unknown) => {
        // Not all file systems have second names, and none has any number of them.
        if (codeOf(error) === 'EEXIST') throw error
        await copyFile(this.#record, path, constants.COPYFILE_EXCL)
      })
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw stateUnwritable(path, error)
    }
  }

  /** One that was removed by hand may be another's by now. */
  async #release(path: string): Promise<void> {
    if ((await readHolder(path))?.id === this.#holder.id) await unlink(path).catch(() => undefined)
  }
}

/** For a file that does not tell who made it. */
const NOBODY = ''

/** Undefined where there is no such file. */
async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const holder = parseHolder(await readFile(path, 'utf8'))
    if (holder !== undefined) return holder
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
  }
  return { id: NOBODY, pid: 0, host: 'an unknown host', since: 'an unknown time' }
}

export function locksFolder(stateDir: string): string {
  return resolve(stateDir, 'locks')
}

/** Why a lock cannot be had. */
export function lockedBy(holder: Holder, input: string, index: string, lock: string): SluiceError {
  const { run = 'not named yet', pid, host, since, isUndo = false } = holder
  const doing = isUndo ? `taken out of ${index} by the undo of run ${run}` : `loaded into ${index} by run ${run}`
  return fail('RUN_LOCKED', { input, doing, index, run, pid, host, since, lock })
}

/** By which others see that a holder is there. */
function signPath(folder: string, id: string): string {
  return join(folder, `${id}.sock`)
}

function recordPath(folder: string, id: string): string {
  return join(folder, `${id}.holder`)
}

function textOf(holder: Holder): string {
  return `${JSON.stringify(holder)}\n`
}

function keyOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
