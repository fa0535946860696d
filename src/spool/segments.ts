/**
 * Keeps spooled stdin on disk: one numbered file for each stdin, readable by its owner only. Empty files beside it are marks:
 * `.end` says that the end of that stdin was seen, `.dropped-N` that its loaded bytes before N are deleted.
 */
import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { diskProblem } from '../disk/disk-problem.js'
import { fail } from '../failure/fail.js'

export interface SegmentFolder {
  readonly path: string
  /** Makes the names of new files in a folder survive a power cut. */
  syncFolder(path: string): Promise<void>
}

export interface SpoolSegment {
  /** From 1. */
  readonly number: number
  /** The name of its file. No other segment ever had it. */
  readonly id: string
  readonly path: string
  /** Whether all of its stdin is there. */
  readonly isEnded: boolean
  /** The bytes before this offset are loaded and deleted, except the first 64 KiB. 0: all are there. */
  readonly dropped: number
}

const END = '.end'
const DROPPED = '.dropped-'

/** Lists the segments, oldest first. Makes the folder if missing. Throws SluiceError STATE_UNWRITABLE. */
export async function listSegments({ path }: SegmentFolder): Promise<SpoolSegment[]> {
  return await writing(path, async () => {
    await mkdir(path, { recursive: true, mode: 0o700 })
    return await readSegments(path)
  })
}

/** Reads the segments of a folder that exists. Throws errors of the file system. */
export async function readSegments(folder: string): Promise<SpoolSegment[]> {
  const names = await readdir(folder)
  const segments = names
    .filter(name => /^\d+-[0-9a-f]{8}$/.test(name))
    .map(id => ({
      number: Number.parseInt(id),
      id,
      path: join(folder, id),
      isEnded: names.includes(id + END),
      dropped: Math.max(0, ...namesBehind(names, id + DROPPED).map(Number)),
    }))
  return segments.toSorted((one, other) => one.number - other.number)
}

/** Makes an empty segment and opens its file. Throws SluiceError STATE_UNWRITABLE. */
export async function beginSegment(
  folder: SegmentFolder,
  number: number,
): Promise<{ readonly segment: SpoolSegment; readonly file: FileHandle }> {
  const id = `${number}-${randomBytes(4).toString('hex')}`
  const path = join(folder.path, id)
  return await writing(path, async () => {
    const file = await open(path, 'wx+', 0o600)
    await folder.syncFolder(folder.path)
    return { segment: { number, id, path, isEnded: false, dropped: 0 }, file }
  })
}

/** Marks a segment as complete. Its bytes must be on the disk before. Throws SluiceError STATE_UNWRITABLE. */
export async function markEnded(folder: SegmentFolder, { path }: SpoolSegment): Promise<void> {
  await mark(folder, path + END)
}

/** Marks the bytes before `to` as deleted. Must come before the deletion. Throws SluiceError STATE_UNWRITABLE. */
export async function markDropped(folder: SegmentFolder, { path, id }: SpoolSegment, to: number): Promise<void> {
  await mark(folder, `${path}${DROPPED}${to}`)
  await writing(path, async () => {
    for (const at of namesBehind(await readdir(folder.path), id + DROPPED))
      if (Number(at) < to) await rm(`${path}${DROPPED}${at}`, { force: true })
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

/**
 * Removes segments and their marks, oldest first: if a kill leaves some, a new segment still gets a number that none of them had.
 * Throws SluiceError STATE_UNWRITABLE.
 */
export async function removeSegments(folder: SegmentFolder, segments: readonly SpoolSegment[]): Promise<void> {
  await writing(folder.path, async () => {
    for (const { path } of segments) await rm(path, { force: true })
    const left = await readdir(folder.path)
    const orphans = left.filter(name => name.includes('.') && !left.includes(name.slice(0, name.indexOf('.'))))
    for (const name of orphans) await rm(join(folder.path, name), { force: true })
    // Another process may have begun one.
    await rmdir(folder.path).catch(() => undefined)
  })
}

/** Runs what writes to `path` and turns its errors into STATE_UNWRITABLE. */
export async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw fail('STATE_UNWRITABLE', { path, problem: diskProblem(error) }, { cause: error })
  }
}
