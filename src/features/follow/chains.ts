/** Follows each name through the files that had it: finds the ones that came and went unseen, and names those that are gone. */
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { FIRST_BYTES, sumsOf } from '../../base/checksum/checksum.js'
import { isoTime } from '../../base/time/clock.js'
import type { InputGap } from '../../pipeline/ledger/receipt.js'
import type { Missing } from '../../options/run-events.js'
import type { FollowedFile } from './followed-file.js'
import { type Generation, generationsSince, isGeneration, sizeAndTime } from '../../pipeline/source/generations.js'

/** Where to look for earlier files of a name. */
export interface LookBack {
  /** When the last known one was written, in milliseconds since the epoch. */
  readonly sinceMs: number
  /** Whether to look each time: the file was emptied, which does not show the next time if nothing was seen of it since. */
  readonly always?: boolean
  /** The last known one, if some of its bytes may be missing. */
  readonly last?: LastKnown
}

interface LastKnown {
  readonly inode: number
  /** Bytes that were read of it, and their checksum. */
  readonly read: number
  readonly sum: string
  /** When that was written to the state. */
  readonly stateMs: number
}

/** What earlier processes knew of the followed names. */
export interface Remembered {
  /** The newest file of each name. */
  readonly last: ReadonlyMap<string, LookBack & Required<Pick<LookBack, 'last'>>>
  /** Size and time of each file that was read to its end, by inode. An inode may be used again. */
  readonly read: ReadonlyMap<number, string>
}

/** A compressed file that had a followed name, to be loaded. */
export interface Link {
  readonly path: string
  /** The followed name. */
  readonly name: string
  /** Its inode, size and time. */
  readonly version: string
  readonly sinceMs: number
}

/** An earlier file of a name that can be followed. */
interface Unseen {
  readonly name: string
  readonly file: Generation
  /** Whether an earlier process read a part of a file with its inode. */
  readonly isKnown: boolean
}

interface Standing {
  readonly key: string
  readonly name: string
  readonly file: FollowedFile
}

export class Chains {
  readonly #folder: string
  readonly #warn: (message: string, missing: Missing) => void
  /** When Sluice began to follow, in milliseconds since the epoch. */
  readonly #beganMs: number
  /** What stood at each followed path at the last look. */
  readonly #standing = new Map<string, Standing>()
  /** Paths whose earlier files are looked for. */
  readonly #rotated = new Map<string, LookBack & { readonly name: string }>()
  #read: Remembered['read'] = new Map()
  readonly #gaps: InputGap[] = []
  /** Compressed files that still change, as they were at the last look. */
  readonly #growing = new Map<string, string>()
  /** Compressed files that were passed on. */
  readonly #passedOn = new Set<string>()
  #links: Link[] = []

  constructor(folder: string, beganMs: number, warn: (message: string, missing: Missing) => void) {
    this.#folder = folder
    this.#beganMs = beganMs
    this.#warn = warn
  }

  /** The followed paths. */
  get paths(): readonly string[] {
    return [...this.#standing.keys()]
  }

  get gaps(): readonly InputGap[] {
    return this.#gaps
  }

  /** Notes what stands at a followed path now. */
  stand(now: Standing): void {
    const path = resolve(this.#folder, now.name)
    const before = this.#standing.get(path)
    if (before !== undefined && before.key !== now.key) this.lookBack(now.name, { sinceMs: before.file.stat.mtimeMs })
    this.#standing.set(path, now)
  }

  /** Notes which files earlier processes have read to their end. */
  remember({ read }: Remembered): void {
    this.#read = read
  }

  /** Looks for files that had the followed names while Sluice did not run. Files that are found by their inode must be followed before. */
  lookBackTo({ last }: Remembered): void {
    for (const [name, known] of last) this.lookBack(name, known)
  }

  /** Looks for earlier files of a name at the next call of `find`. */
  lookBack(name: string, look: LookBack): void {
    const path = resolve(this.#folder, name)
    const before = this.#rotated.get(path)
    this.#rotated.set(path, { ...before, ...look, name, sinceMs: Math.min(before?.sinceMs ?? Infinity, look.sinceMs) })
  }

  /** Returns compressed files that had a followed name, the oldest first. Each is returned once. */
  takeLinks(): readonly Link[] {
    return this.#links.splice(0)
  }

  /** Looks for a compressed file again: it was renamed before it could be read. */
  giveBack({ name, version, sinceMs }: Link): void {
    this.#passedOn.delete(version)
    this.lookBack(name, { sinceMs })
  }

  /** Notes that a compressed file could not be read to its end. */
  broken({ path, sinceMs }: Link, why: string): void {
    this.#miss(path, sinceMs, why)
  }

  /** Returns earlier files that can be followed, the oldest first. `followed`: all files that are, by device and inode. */
  async find(followed: ReadonlyMap<string, FollowedFile>): Promise<readonly Unseen[]> {
    const unseen: Unseen[] = []
    for (const [path, { name, sinceMs, last, always = false }] of this.#rotated) {
      const all = await generationsSince(path, sinceMs)
      if (
        last !== undefined &&
        !(await isThere({ sinceMs, last }, path, followed)) &&
        (await this.#mayMiss(path, last.stateMs))
      ) {
        const read = last.read.toLocaleString('en-US')
        const why = `${name} is gone. Sluice had read ${read} bytes of it. Lines that were written to it later are not loaded`
        this.#miss(name, sinceMs, why)
      }
      let isOver = true
      for (const file of all) {
        const key = `${file.device}:${file.stat.inode}`
        const version = `${key} ${sizeAndTime(file.stat)}`
        if (this.#isSeen(file, followed.get(key)) || this.#passedOn.has(version)) continue
        if (!file.isPacked) {
          // A program that copies and empties a log is between the two. What the copy holds is known once that is over.
          if (await isCopy(file, path)) isOver = false
          else unseen.push({ name, file, isKnown: this.#read.has(file.stat.inode) })
        } else if (!isUnderWay(name, file, followed) && (await this.#isStill(key, file, followed))) {
          this.#passedOn.add(version)
          this.#links.push({ path: file.path, name, version, sinceMs })
        } else isOver = false
      }
      const newestMs = Math.max(sinceMs, ...all.map(file => file.stat.mtimeMs))
      if (isOver && !always) this.#rotated.delete(path)
      else this.#rotated.set(path, { name, sinceMs: isOver ? newestMs : sinceMs, always })
    }
    return unseen
  }

  /** Returns whether a file is followed, or was read to its end. A glob may match compressed files, too, which are left out. */
  #isSeen({ stat: now, isPacked }: Generation, file: FollowedFile | undefined): boolean {
    const isFollowed = file !== undefined && !(isPacked && file.isLeftOut)
    return isFollowed || this.#read.get(now.inode) === sizeAndTime(now)
  }

  /** Returns whether the file at a path came while Sluice did not run, and is not one of those that are rotated all the time. */
  async #mayMiss(path: string, stateMs: number): Promise<boolean> {
    const isRotated = this.paths.some(one => isGeneration(basename(one), basename(path)))
    const now = await stat(path).catch(() => undefined)
    return !isRotated && now !== undefined && now.birthtimeMs > stateMs && now.birthtimeMs < this.#beganMs
  }

  #miss(name: string, sinceMs: number, message: string): void {
    this.#gaps.push({ name, since: isoTime(new Date(sinceMs)), message })
    this.#warn(message, { gaps: this.#gaps.length })
  }

  /** Returns whether a compressed file is whole: it did not change between two looks, and its original is gone. */
  async #isStill(
    key: string,
    { path, stat: seen }: Generation,
    followed: ReadonlyMap<string, FollowedFile>,
  ): Promise<boolean> {
    const now = sizeAndTime(seen)
    const wasSame = this.#growing.get(key) === now
    this.#growing.set(key, now)
    const original = await stat(path.replace(/\.\w+$/, '')).catch(() => undefined)
    if (!wasSame || (original !== undefined && followed.has(`${original.dev}:${original.ino}`))) return false
    this.#growing.delete(key)
    return true
  }
}

/** Returns whether a file begins as another one does, as far as both go. */
async function isCopy({ path, stat: { size } }: Generation, original: string): Promise<boolean> {
  const now = await stat(original).catch(() => undefined)
  const length = Math.min(FIRST_BYTES, size, now?.size ?? 0)
  if (length === 0) return false
  const [[one], [other]] = await Promise.all([sumsOf(path, [length]), sumsOf(original, [length])])
  return one !== undefined && one === other
}

/** Returns whether the last known file of a path still stands somewhere. A newer compressed one may be it. */
async function isThere(
  { sinceMs, last: { inode, read, sum, stateMs } }: Required<Pick<LookBack, 'sinceMs' | 'last'>>,
  path: string,
  followed: ReadonlyMap<string, FollowedFile>,
): Promise<boolean> {
  // A program may have set its time back.
  const generations = await generationsSince(path, 0)
  if (generations.some(({ isPacked, stat: now }) => isPacked && now.mtimeMs >= sinceMs)) return true
  const plain = [...generations, ...followed.values()].filter(file => file.stat.inode === inode)
  for (const { path } of plain) {
    const now = await stat(path).catch(() => undefined)
    if (now?.ino !== inode) continue
    // The system may give the inode of a deleted file to a new one. The clock may have been behind when the state was written.
    if (now.birthtimeMs <= stateMs || (await sumsOf(path, [read]))[0] === sum) return true
  }
  return false
}

/** Returns whether a file of the name, not newer than the compressed one, still has lines to load: it may be the same file. */
function isUnderWay(name: string, { stat: now }: Generation, followed: ReadonlyMap<string, FollowedFile>): boolean {
  return [...followed.values()].some(file => file.name === name && file.isReady && file.stat.mtimeMs <= now.mtimeMs)
}
