/**
 * What was spooled, on disk: a numbered file with the bytes of one stdin as they came, and beside it, once the end of that
 * stdin was seen, an empty one that says so; and another once all of it is loaded, and kept to know it again. For their owner alone.
 */
import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fail } from '../failure/fail.js'
import { diskProblem } from '../disk/disk-problem.js'

export interface SegmentFolder {
  readonly path: string
  /** Makes the names of new files in a folder last. */
  syncFolder(path: string): Promise<void>
}

export interface Segment {
  /** From 1. */
  readonly number: number
  /** Told from every other that there ever was, also of that number: the name of its file. */
  readonly id: string
  readonly path: string
  /** Whether all of its stdin is there. */
  readonly isEnded: boolean
  /** Whether all that is there was loaded, by a run that never saw the end of some stdin. */
  readonly isLoaded: boolean
  /** What stands before that offset was loaded, and is not there any more, but for its first bytes; 0: all is there. */
  readonly dropped: number
}

const END = '.end'
const LOADED = '.loaded'
const DROPPED = '.dropped-'

/** In the order in which they were begun; makes the folder where it is missing. Throws SluiceError STATE_UNWRITABLE. */
export async function listSegments({ path }: SegmentFolder): Promise<Segment[]> {
  return await writing(path, async () => {
    await mkdir(path, { recursive: true, mode: 0o700 })
    return await readSegments(path)
  })
}

/** As they are. Throws errors of the file system. */
export async function readSegments(folder: string): Promise<Segment[]> {
  const names = await readdir(folder)
  const segments = names
    .filter(name => /^\d+-[0-9a-f]{8}$/.test(name))
    .map(id => ({
      number: Number.parseInt(id),
      id,
      path: join(folder, id),
      isEnded: names.includes(id + END),
      isLoaded: names.includes(id + LOADED),
      dropped: Math.max(0, ...namesBehind(names, id + DROPPED).map(Number)),
    }))
  return segments.toSorted((one, other) => one.number - other.number)
}

/** Throws SluiceError STATE_UNWRITABLE. */
export async function beginSegment(
  folder: SegmentFolder,
  number: number,
): Promise<{ readonly segment: Segment; readonly file: FileHandle }> {
  const id = `${number}-${randomBytes(4).toString('hex')}`
  const path = join(folder.path, id)
  return await writing(path, async () => {
    const file = await open(path, 'wx+', 0o600)
    await folder.syncFolder(folder.path)
    return { segment: { number, id, path, isEnded: false, isLoaded: false, dropped: 0 }, file }
  })
}

/** What is there must be on the disk before. Throws SluiceError STATE_UNWRITABLE. */
export async function markEnded(folder: SegmentFolder, { path }: Segment): Promise<void> {
  await mark(folder, path + END)
}

/** Once a checkpoint says so. Throws SluiceError STATE_UNWRITABLE. */
export async function markLoaded(folder: SegmentFolder, { path }: Segment): Promise<void> {
  await mark(folder, path + LOADED)
}

/** Before what stands before `to` is dropped. Throws SluiceError STATE_UNWRITABLE. */
export async function markDropped(folder: SegmentFolder, { path, id }: Segment, to: number): Promise<void> {
  await mark(folder, `${path}${DROPPED}${to}`)
  await writing(path, async () => {
    for (const at of namesBehind(await readdir(folder.path), id + DROPPED))
      if (Number(at) < to) await rm(`${path}${DROPPED}${at}`, { force: true })
  })
}

/** Before more is added: it is neither ended nor loaded. Throws SluiceError STATE_UNWRITABLE. */
export async function unmark(folder: SegmentFolder, { path }: Segment): Promise<void> {
  await writing(path + END, async () => {
    await rm(path + END, { force: true })
    await rm(path + LOADED, { force: true })
    await folder.syncFolder(folder.path)
  })
}

function namesBehind(names: readonly string[], start: string): string[] {
  return names.filter(name => name.startsWith(start)).map(name => name.slice(start.length))
}

async function mark(folder: SegmentFolder, path: string): Promise<void> {
  await writing(path, async () => {
    await (await open(path, 'w', 0o600)).close()
    await folder.syncFolder(folder.path)
  })
}

/** In that order: as long as one is left, the next gets a number that none of them had. Throws SluiceError STATE_UNWRITABLE. */
export async function removeSegments(folder: SegmentFolder, segments: readonly Segment[]): Promise<void> {
  await writing(folder.path, async () => {
    for (const { path } of segments) await rm(path, { force: true })
    const left = await readdir(folder.path)
    const orphans = left.filter(name => name.includes('.') && !left.includes(name.slice(0, name.indexOf('.'))))
    for (const name of orphans) await rm(join(folder.path, name), { force: true })
    // Another process may have begun one.
    await rmdir(folder.path).catch(() => undefined)
  })
}

/** Runs what writes to `path`; its errors become STATE_UNWRITABLE. */
export async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw fail('STATE_UNWRITABLE', { path, problem: diskProblem(error) }, { cause: error })
  }
}
