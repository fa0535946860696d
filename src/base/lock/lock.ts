/**
 * Takes locks in one folder, and claims inputs. Each process has a record and a socket there, which show that it lives. A lock is a
 * second name of the record of its holder. The claims of a process are one file.
 */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, type FileHandle, link, open, readdir, readFile, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, stateUnwritable } from '../disk/safe-files.js'
import {
  claimsPath,
  filesOfHolders,
  holderText,
  nobody,
  readHolder,
  recordPath,
  removeFilesOf,
  socketPath,
  sweep,
} from './holder-files.js'
import { type Holder, isGone, isSameMachine, listenOnSocket, thisHolder } from './lock-holder.js'
import type { Clock } from '../flow.js'
import { doublingMs, Retries } from '../time/retry.js'

/** The inputs that a process claims, in a file that other processes read. */
interface Claims {
  /** Stands for all of them in messages. */
  readonly first: string
  /** Writes the file. Throws errors of the file system. */
  write(path: string): Promise<void>
  /** Returns the input that another process has claimed too, by the text of its file. */
  sharedWith(text: Buffer, isSameMachine: boolean, isSameCluster?: boolean): string | undefined
}

/** Held while a process compares its claims with those of others and writes them. */
const CLAIMING = 'claims.lock'
const CLAIMING_MS = 30_000
const LOOK_MS = 5
const LONGEST_LOOK_MS = 100

/** The process that has an input already. */
interface Conflict {
  readonly holder: Holder
  readonly input: string
  /** The file to remove if the holder is gone. */
  readonly lock: string
}

/** Holds the locks of this process in one folder. No process ever writes over the file of another. */
export class InputLocks implements AsyncDisposable {
  readonly folder: string
  #holder: Holder
  readonly #file: FileHandle
  readonly #record: string
  readonly #socket: AsyncDisposable | undefined
  readonly #held: string[] = []
  #hasClaims = false
  /** Until the cluster is known. */
  #claims: Claims | undefined

  private constructor(folder: string, holder: Holder, record: string, file: FileHandle, socket?: AsyncDisposable) {
    this.folder = folder
    this.#holder = holder
    this.#record = record
    this.#file = file
    this.#socket = socket
  }

  /**
   * Shows this process to others, before it takes a lock, and removes what dead processes left. `isUndo` is for the message of a
   * process that finds its lock.
   */
  static async open(folder: string, isUndo = false): Promise<InputLocks> {
    const id = randomBytes(8).toString('hex')
    const record = recordPath(folder, id)
    try {
      await makeFolder(folder)
      const holder = { ...(await thisHolder(folder, id)), ...(isUndo ? { isUndo } : {}) }
      const file = await open(record, 'wx', 0o600)
      const locks = new InputLocks(folder, holder, record, file, await listenOnSocket(socketPath(folder, id)))
      try {
        await file.write(holderText(holder), 0)
        // After a loss of power, an empty record would not show that its process is gone.
        await file.datasync()
        await sweep(folder, id, async (path, gone) => void (await locks.#clear(path, gone)))
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
    if (this.#held.includes(path)) return undefined
    const other = await this.#take(path)
    if (other === undefined) this.#held.push(path)
    return other
  }

  /**
   * Claims inputs, all or none. Resolves to what keeps this process from one of them. Waits for other processes that claim theirs.
   * Throws SluiceError STATE_UNWRITABLE.
   */
  async claim(claims: Claims, clock: Clock, random: () => number): Promise<Conflict | undefined> {
    const path = claimsPath(this.folder, this.#holder.id)
    return await this.#whileClaiming(claims, path, clock, random, async () => {
      await claims.write(path)
      this.#hasClaims = true
      this.#claims = claims
    })
  }

  /** Claims the same inputs in a cluster, which other processes may reach by another URL. Does the same as `claim`. */
  async claimIn(clusterUuid: string, clock: Clock, random: () => number): Promise<Conflict | undefined> {
    const claims = this.#claims
    if (claims === undefined) return undefined
    this.#claims = undefined
    this.#holder = { ...this.#holder, clusterUuid }
    return await this.#whileClaiming(claims, this.#record, clock, random, async () => {
      await this.#file.write(holderText(this.#holder), 0)
    })
  }

  async #whileClaiming(
    claims: Claims,
    path: string,
    clock: Clock,
    random: () => number,
    write: () => Promise<void>,
  ): Promise<Conflict | undefined> {
    const lock = join(this.folder, CLAIMING)
    const waitMs = (refusals: number) => doublingMs(refusals, LOOK_MS, LONGEST_LOOK_MS) * (0.5 + 0.5 * random())
    const retries = new Retries({ clock, maxElapsedMs: CLAIMING_MS, waitMs })
    for (let holder = await this.#take(lock); holder !== undefined; holder = await this.#take(lock)) {
      const wait = retries.next()
      if (wait === undefined) return { holder, input: claims.first, lock }
      await clock.sleep(wait)
    }
    try {
      const conflict = await this.#conflict(claims)
      if (conflict !== undefined) return conflict
      await write()
      return undefined
    } catch (error) {
      throw stateUnwritable(path, error)
    } finally {
      await this.#release(lock)
    }
  }

  /** Returns the other process that holds a lock, if it may live. */
  async holderOf(path: string): Promise<Holder | undefined> {
    const other = await readHolder(path)
    if (other === undefined || other.id === this.#holder.id) return undefined
    return (await isGone(other, socketPath(this.folder, other.id))) ? undefined : other
  }

  /** Adds the name of the run, for the message of a process that finds a lock. All locks are names of one file, which grows by it. */
  async name(run: string): Promise<void> {
    await this.#file.write(holderText({ ...this.#holder, run }), 0).catch(() => undefined)
  }

  /** Releases all locks and claims. What cannot be removed counts for nothing as soon as this process ends. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const path of this.#held) await this.#release(path)
    const { id } = this.#holder
    if (this.#hasClaims) await rm(claimsPath(this.folder, id), { force: true }).catch(() => undefined)
    await rm(this.#record, { force: true }).catch(() => undefined)
    await this.#file.close()
    await this.#socket?.[Symbol.asyncDispose]()
  }

  /** Finds the first claim of another process that is also one of ours. */
  async #conflict(claims: Claims): Promise<Conflict | undefined> {
    const { clusterUuid } = this.#holder
    for (const [id] of filesOfHolders(await readdir(this.folder), ['claims'])) {
      if (id === this.#holder.id) continue
      const lock = claimsPath(this.folder, id)
      const text = await readFile(lock).catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return undefined
        throw error
      })
      if (text === undefined) continue
      const holder = (await readHolder(recordPath(this.folder, id))) ?? ((await isThere(lock)) ? nobody : undefined)
      // It released its claims in between.
      if (holder === undefined) continue
      if (holder !== nobody && (await isGone(holder, socketPath(this.folder, id)))) continue
      const isSameCluster = clusterUuid !== undefined && clusterUuid === holder.clusterUuid
      const input = claims.sharedWith(text, isSameMachine(holder, this.#holder), isSameCluster)
      if (input !== undefined) return { holder, input, lock }
    }
    return undefined
  }

  async #take(path: string): Promise<Holder | undefined> {
    for (;;) {
      if (await this.#create(path)) return undefined
      const other = await readHolder(path)
      // Its holder released it in between.
      if (other === undefined) continue
      if (other === nobody || !(await isGone(other, socketPath(this.folder, other.id)))) return other
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
      if (isLast) await removeFilesOf(this.folder, gone.id)
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

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
