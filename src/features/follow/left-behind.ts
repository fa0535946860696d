/** Finds files that were renamed while Sluice did not run, and whose last lines it has not read. */
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileStat } from '../../base/checksum/checksum.js'
import type { Checkpoint, CheckpointInput } from '../../run/state/checkpoint/checkpoint.js'
import type { FollowedFile, FoundAs } from './followed-file.js'
import type { LookBack, Remembered } from './chains.js'
import { sizeAndTime } from '../../pipeline/source/generations.js'

/** Earlier files of one name that are looked for. */
const MOST_EARLIER = 4

/** A file that was read in part, or that may have grown since. */
export interface EarlierFile {
  readonly name: string
  /** Where it was when it was read last. */
  readonly path: string
  readonly inode: number
  /** The bytes that were read, and their checksum. */
  readonly bytes: number
  readonly sum: string
  /** Whether all of them have an outcome. A process that was killed may have read more. */
  readonly isSettled: boolean
}

/** Returns the files that had the names of the followed ones before. `runs`: newest first. */
export function earlierFiles(
  runs: readonly Checkpoint[],
  followed: readonly FollowedFile[],
  folder: string,
): readonly EarlierFile[] {
  const nameOf = namesIn(followed, folder)
  const found = new Map<string, number>()
  const seen = new Set(followed.map(({ inode }) => inode))
  const earlier: EarlierFile[] = []
  for (const run of runs)
    for (const input of [...run.inputs].toReversed()) {
      const { file } = input
      const name = nameOf(input)
      if (name === undefined || !isPlain(file) || seen.has(file.stat.inode)) continue
      const count = found.get(name) ?? 0
      if (count >= MOST_EARLIER) continue
      found.set(name, count + 1)
      seen.add(file.stat.inode)
      earlier.push({
        name,
        path: file.path,
        inode: file.stat.inode,
        bytes: file.bytes,
        sum: file.sum,
        isSettled: isSettled(input),
      })
    }
  return earlier
}

/** Returns what earlier runs know of the followed names. `runs`: newest first. */
export function remembered(runs: readonly Checkpoint[], followed: readonly FollowedFile[], folder: string): Remembered {
  const nameOf = namesIn(followed, folder)
  const last = new Map<string, LookBack & Required<Pick<LookBack, 'last'>>>()
  const read = new Map<number, string>()
  for (const run of runs)
    for (const input of [...run.inputs].toReversed()) {
      const { file } = input
      const stateMs = Date.parse(run.written)
      const followedAs = nameOf(input)
      if (file?.stat === undefined) continue
      const { inode, mtimeMs: sinceMs } = file.stat
      if (!read.has(inode)) read.set(inode, isSettled(input) ? sizeAndTime({ size: file.bytes, mtimeMs: sinceMs }) : '')
      if (followedAs === undefined) continue
      const known = last.get(followedAs)
      // A process that was killed may have left out files between two that it knew: so all since the oldest one are looked for.
      if (known === undefined)
        last.set(followedAs, { sinceMs, last: { inode, read: file.bytes, sum: file.sum, stateMs } })
      else if (sinceMs < known.sinceMs) last.set(followedAs, { ...known, sinceMs })
    }
  return { last, read }
}

/**
 * Returns how to find the name of the followed file that an input of an earlier run was. If that run had another working folder, Sluice
 * resolves a relative name in the folder where it last read the file.
 */
function namesIn(
  followed: readonly FollowedFile[],
  folder: string,
): (input: Pick<CheckpointInput, 'name' | 'file'>) => string | undefined {
  const names = new Map(followed.map(({ name }) => [resolve(folder, name), name]))
  const places = new Map(followed.map(({ name, realPath }) => [join(dirname(realPath), basename(name)), name]))
  return ({ name, file }) =>
    names.get(resolve(folder, name)) ??
    (file?.path === undefined ? undefined : places.get(join(dirname(file.path), basename(name))))
}

/** Finds them where they are now, if they have grown. Whether they still hold what was read, the caller checks. */
export async function findEarlier(
  earlier: readonly EarlierFile[],
): Promise<readonly { readonly found: FoundAs; readonly was: EarlierFile }[]> {
  const grown: { readonly found: FoundAs; readonly was: EarlierFile }[] = []
  for (const folder of new Set(earlier.map(({ path }) => dirname(path)))) {
    const wanted = new Map(earlier.filter(({ path }) => dirname(path) === folder).map(one => [one.inode, one]))
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name)
      const now = await stat(path).catch(() => undefined)
      const was = now?.isFile() === true ? wanted.get(now.ino) : undefined
      if (now === undefined || was === undefined || (was.isSettled && now.size <= was.bytes)) continue
      wanted.delete(now.ino)
      const found = { name: was.name, path, realPath: path, device: now.dev, stat: fileStat(now) }
      grown.push({ found, was })
    }
  }
  return grown
}

/** Returns whether all that was read of an input has an outcome. */
function isSettled({ mark, file, content }: CheckpointInput): boolean {
  return mark.offset + mark.tail >= (content?.bytes ?? file?.bytes ?? 0)
}

type Plain = Required<Pick<NonNullable<CheckpointInput['file']>, 'path' | 'stat' | 'bytes' | 'sum'>>

function isPlain(file: CheckpointInput['file']): file is NonNullable<CheckpointInput['file']> & {
  readonly [K in keyof Plain]: NonNullable<Plain[K]>
} {
  return file?.path !== undefined && file.stat !== undefined && file.bytes > 0 && file.sum !== ''
}
