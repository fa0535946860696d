/** Finds the files behind the names that are followed, again and again, and follows each by its inode. */
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isSluiceError } from '../../base/failure/failure.js'
import type { Clock, FileStat } from '../../base/flow.js'
import { fileStat } from '../../base/checksum/checksum.js'
import { generationsSince } from '../../pipeline/source/generations.js'
import { findFiles, type FoundFile, listedFiles } from '../../pipeline/source/find-files.js'
import { cannotFollow, whyNotFollowed } from './can-follow.js'
import { FollowedFile, type FoundAs } from './followed-file.js'
import { type EarlierFile, findEarlier } from './left-behind.js'
import { Chains } from './chains.js'
import { FolderWatch } from './folder-watch.js'
import { OpenFiles } from './open-files.js'

/** A renamed file that does not grow for so long is no longer followed. */
const LEAVE_MS = 600_000
/** Files that are looked at at once. */
const AT_ONCE = 16
/** Links that lead nowhere of which it warns. */
const MOST_WARNED = 1000

export interface Following {
  readonly names: readonly string[]
  /** Whether the names are paths as they stand. */
  readonly areListed: boolean
  readonly folder: string
  readonly clock: Clock
  /** Now, in milliseconds since the epoch. */
  readonly beganMs: number
  readonly format: 'auto' | 'ndjson'
  /** Something happened to a file. */
  say(name: string, message: string): void
  /** A file cannot be followed. */
  warn(message: string): void
}

interface Listed {
  readonly found: ReadonlyMap<string, FoundFile>
  readonly missing: readonly string[]
  /** Why some may be missing here. */
  readonly problem?: string
}

export class FollowedFiles implements AsyncDisposable {
  readonly #following: Following
  readonly #open = new OpenFiles()
  readonly #watch = new FolderWatch()
  /** By device and inode. */
  readonly #files = new Map<string, FollowedFile>()
  readonly #warned = new Set<string>()
  readonly chains: Chains
  #isFirst = true

  constructor(following: Following) {
    this.#following = following
    const { folder, beganMs, warn } = following
    this.chains = new Chains(folder, beganMs, warn)
  }

  get all(): readonly FollowedFile[] {
    return [...this.#files.values()].filter(({ isLeftOut }) => !isLeftOut)
  }

  /** How many files are open. */
  get open(): number {
    return this.#open.size
  }

  /** Looks at all files. The first time, throws SluiceError if one cannot be followed. Later it only warns. */
  async scan(): Promise<void> {
    const { say, warn } = this.#following
    const { found, missing, problem } = await this.#list()
    if (problem !== undefined) warn(problem)
    if (this.#isFirst) for (const name of missing) say(name, `nothing is at ${name} so far. Sluice waits for it`)
    const seen = new Map<FollowedFile, FileStat>()
    for (const [key, one] of found) {
      const known = this.#files.get(key)
      const file = known ?? (await this.#add(key, one))
      if (known !== undefined && known.path !== resolve(this.#following.folder, one.name))
        await this.#moved(known, one.name)
      file.isLoose = false
      this.chains.stand({ key, name: one.name, file })
      if (one.stat !== undefined) seen.set(file, one.stat)
    }
    for (const file of this.#files.values()) {
      if (seen.has(file)) continue
      const now = await this.#outside(file)
      if (now !== undefined) seen.set(file, now)
    }
    const all = [...seen]
    for (let at = 0; at < all.length; at += AT_ONCE)
      await Promise.all(all.slice(at, at + AT_ONCE).map(async ([file, now]) => await this.#look(file, now)))
    this.#isFirst = false
    this.#watch.add(new Set(this.chains.paths.map(path => dirname(path))))
    for (const { name, file, isKnown } of await this.chains.find(this.#files)) {
      const how = isKnown ? 'earlier' : 'unseen'
      const loose = await this.#addLoose({ ...file, name, realPath: file.path }, how)
      await this.#look(loose, file.stat)
    }
  }

  /** Resolves when a name appears or goes beside a followed file, as far as the system reports it, or when the signal aborts. */
  async renamed(signal: AbortSignal): Promise<void> {
    await this.#watch.change(signal)
  }

  /** Follows files, too, that were renamed while Sluice did not run. */
  async addEarlier(earlier: readonly EarlierFile[]): Promise<void> {
    for (const { found, was } of await findEarlier(earlier)) {
      if (this.#files.has(`${found.device}:${found.stat.inode}`)) continue
      const file = new FollowedFile(found, this.#open, this.#following.clock.now())
      const isSame = (await file.sums([was.bytes]))[0] === was.sum
      await file.close()
      if (isSame) (await this.#addLoose(found, 'earlier')).isChecked = true
    }
  }

  /** Follows a file that had a followed name, and has none now. */
  async #addLoose(found: FoundAs, how: 'earlier' | 'unseen'): Promise<FollowedFile> {
    const { clock, say } = this.#following
    const { name, path } = found
    const realPath = await realpath(path).catch(() => path)
    const file = new FollowedFile({ ...found, realPath }, this.#open, clock.now())
    file.isLoose = true
    this.#files.set(`${found.device}:${found.stat.inode}`, file)
    const now = basename(path)
    if (how === 'earlier') say(name, `${name} was renamed to ${now} before. Sluice reads it to its end`)
    else say(name, `${now} was ${basename(name)} for a time. Sluice reads it too`)
    return file
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch[Symbol.dispose]()
    for (const file of this.#files.values()) await file.close()
  }

  async #list(): Promise<Listed> {
    const { names, areListed, folder } = this.#following
    const found = new Map<string, FoundFile>()
    const missing: string[] = []
    let problem: string | undefined
    for (const name of names) {
      try {
        const warn = (message: string) => this.#warnOnce(message)
        const files = areListed ? listedFiles([name], { folder }) : findFiles([name], { folder, stdin: false, warn })
        for await (const file of files) if (!found.has(keyOf(file))) found.set(keyOf(file), file)
      } catch (error) {
        if (!isSluiceError(error)) throw error
        if (error.code === 'INPUT_NOT_FOUND') missing.push(name)
        else if (this.#isFirst) throw error
        else problem = error.message
      }
    }
    return { found, missing, ...(problem === undefined ? {} : { problem }) }
  }

  /** Warns of a link that leads nowhere once, and not at each look. */
  #warnOnce(message: string): void {
    if (this.#warned.has(message) || this.#warned.size === MOST_WARNED) return
    this.#warned.add(message)
    this.#following.warn(message)
  }

  async #add(key: string, { name, device, stat: now, kind }: FoundFile): Promise<FollowedFile> {
    const { folder, clock, say } = this.#following
    const path = resolve(folder, name)
    const realPath = await realpath(path).catch(() => path)
    const seen = now ?? { size: 0, inode: 0, mtimeMs: 0, ctimeMs: 0 }
    const file = new FollowedFile({ name, path, realPath, device, stat: seen }, this.#open, clock.now())
    this.#files.set(key, file)
    if (kind !== 'file') this.#leaveOut(file, `${name} is not a file`)
    else if (!this.#isFirst) say(name, `${name} is new`)
    return file
  }

  async #moved(file: FollowedFile, name: string): Promise<void> {
    const path = resolve(this.#following.folder, name)
    file.path = path
    file.realPath = await realpath(path).catch(() => path)
    this.#following.say(file.name, `${file.name} is ${name} now`)
  }

  /** Returns what a file is that has none of the followed names. Undefined if it is gone. */
  async #outside(file: FollowedFile): Promise<FileStat | undefined> {
    if (file.isLeftOut) return this.#leave(file)
    const { say, clock } = this.#following
    const isQuiet = clock.now() - file.changedAt > LEAVE_MS && !file.isReady
    const there = await statOf(file, file.path)
    if (there !== undefined) return file.isLoose && isQuiet ? await this.#left(file, undefined) : there
    file.isLoose = true
    const place = await placeOf(file)
    if (place !== undefined) {
      const what = place === file.realPath ? 'leads to another file now' : `was renamed to ${basename(place)}`
      say(file.name, `${file.name} ${what}. Sluice reads the former file to its end`)
      file.path = place
      file.realPath = place
      return await statOf(file, place)
    }
    const open = await file.lookBehind()
    if (open === undefined) return await this.#left(file, 'was deleted, or moved to another folder')
    const isElsewhere = open.names > 0
    if (isElsewhere && !file.isElsewhere)
      say(file.name, `${file.name} was moved to another folder. Sluice reads it to its end`)
    file.isElsewhere ||= isElsewhere
    // Its last lines may have come since the last look.
    const isUnread = file.isReady || open.stat.size !== file.stat.size
    if (isUnread || (isElsewhere && !isQuiet)) return open.stat
    return await this.#left(file, isElsewhere ? undefined : 'was deleted')
  }

  async #left(file: FollowedFile, what: string | undefined): Promise<undefined> {
    const { name, unfinished, read } = file
    if (what !== undefined) this.chains.lookBack(name, { sinceMs: file.stat.mtimeMs })
    const rest =
      unfinished === 0 ? '' : `. Its last ${bytesText(unfinished)} had no line feed: Sluice has not loaded them`
    if (what !== undefined) {
      const copy = await compressedCopy(file)
      const became = copy === undefined ? what : `was compressed to ${basename(copy)}`
      this.#following.say(name, `${nowCalled(file)} ${became}. Sluice had read ${bytesText(read)} of it${rest}`)
    } else if (rest !== '') this.#following.say(name, `${name} was renamed, and is quiet${rest}`)
    this.#leave(file)
    await file.close()
  }

  #leave(file: FollowedFile): undefined {
    for (const [key, one] of this.#files) if (one === file) this.#files.delete(key)
  }

  async #look(file: FollowedFile, now: FileStat): Promise<void> {
    if (file.isLeftOut) return
    const { say, warn, clock } = this.#following
    const { mtimeMs } = file.stat
    try {
      const found = await file.look(now, clock.now())
      if (found === 'other') this.chains.lookBack(file.name, { sinceMs: mtimeMs, always: true })
      if (found === 'other')
        say(file.name, `${file.name} was truncated or overwritten. Sluice reads it from its start, as a new input`)
      if (found === 'same' || file.isChecked || file.stat.size === 0) return
      const problem = await whyNotFollowed(file, this.#following)
      if (problem !== undefined) this.#leaveOut(file, problem)
    } catch (error) {
      if (!isSluiceError(error) || this.#isFirst) throw error
      warn(error.message)
    }
  }

  /** The first time, throws SluiceError OPTION_INVALID instead. */
  #leaveOut(file: FollowedFile, problem: string): void {
    file.isLeftOut = true
    if (this.#isFirst) throw cannotFollow(problem)
    this.#following.warn(`${problem}. Sluice leaves it out: it follows only plain NDJSON files`)
  }
}

function keyOf({ device, inode, name }: Pick<FoundFile, 'device' | 'inode' | 'name'>): string {
  return inode === 0 ? name : `${device}:${inode}`
}

/** Returns what stands at the path, if it is the file. */
async function statOf({ device, inode }: FollowedFile, path: string): Promise<FileStat | undefined> {
  const now = await stat(path).catch(() => undefined)
  return now?.dev === device && now.ino === inode ? fileStat(now) : undefined
}

/** Finds the file under another name in its folder. */
async function placeOf(file: FollowedFile): Promise<string | undefined> {
  const folder = dirname(file.realPath)
  const names = await readdir(folder).catch(() => [])
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const paths = names.slice(at, at + AT_ONCE).map(name => join(folder, name))
    const found = await Promise.all(paths.map(async path => await statOf(file, path)))
    const place = paths.find((_, number) => found[number] !== undefined)
    if (place !== undefined) return place
  }
  return undefined
}

/** A compressor gives its copy the time of the original. Not every one keeps all digits of it. */
const SAME_TIME_MS = 1000

/** Returns the compressed file that took the place of a file which is gone: `a.1.gz` of `a.1`, or one of the same time. */
async function compressedCopy({ path, stat: { mtimeMs } }: FollowedFile): Promise<string | undefined> {
  const all = await generationsSince(path, mtimeMs - SAME_TIME_MS)
  const packed = all.filter(
    one =>
      one.isPacked && (one.path.replace(/\.\w+$/, '') === path || Math.abs(one.stat.mtimeMs - mtimeMs) < SAME_TIME_MS),
  )
  return packed[0]?.path
}

/** Names a file for people. The name that is followed may be that of its successor now. */
function nowCalled({ name, path }: FollowedFile): string {
  const now = basename(path)
  return now === basename(name) ? name : `${now} (formerly ${name})`
}

function bytesText(count: number): string {
  return count === 1 ? '1 byte' : `${count.toLocaleString('en-US')} bytes`
}
