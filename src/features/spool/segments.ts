/**
 * Keeps spooled stdin on disk: a folder for each command, and in it one numbered file for each stdin. Empty files beside it are marks:
 * `.end` says that the end of that stdin was seen, `.dropped-N` that its loaded bytes before N are deleted.
 */
import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { diskProblem, syncFolder } from '../../base/disk/safe-files.js'
import { fail } from '../../base/failure/failure.js'

/** In the state folder. */
const SPOOLS = 'spool'

/** Returns the folder for the spool of one command. */
export function spoolFolderOf(stateDir: string, key: string): string {
  return join(stateDir, SPOOLS, key)
}

export interface SpoolSegment {
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
export async function listSegments(folder: string): Promise<SpoolSegment[]> {
  return await writing(folder, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return await readSegments(folder)
  })
}

/** Reads the segments of a folder that exists. Throws errors of the file system. */
async function readSegments(folder: string): Promise<SpoolSegment[]> {
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
  folder: string,
  number: number,
): Promise<{ readonly segment: SpoolSegment; readonly file: FileHandle }> {
  const id = `${number}-${randomBytes(4).toString('hex')}`
  const path = join(folder, id)
  return await writing(path, async () => {
    const file = await open(path, 'wx+', 0o600)
    await syncFolder(folder)
    return { segment: { number, id, path, isEnded: false, dropped: 0 }, file }
  })
}

/** Marks a segment as complete. Its bytes must be on the disk before. Throws SluiceError STATE_UNWRITABLE. */
export async function markEnded(folder: string, { path }: SpoolSegment): Promise<void> {
  await mark(folder, path + END)
}

/** Marks the bytes before `to` as deleted. Must come before the deletion. Throws SluiceError STATE_UNWRITABLE. */
export async function markDropped(folder: string, { path, id }: SpoolSegment, to: number): Promise<void> {
  await mark(folder, `${path}${DROPPED}${to}`)
  await writing(path, async () => {
    for (const at of namesBehind(await readdir(folder), id + DROPPED))
      if (Number(at) < to) await rm(`${path}${DROPPED}${at}`, { force: true })
  })
}

function namesBehind(names: readonly string[], start: string): string[] {
  return names.filter(name => name.startsWith(start)).map(name => name.slice(start.length))
}

async function mark(folder: string, path: string): Promise<void> {
  await writing(path, async () => {
    await (await open(path, 'w', 0o600)).close()
    await syncFolder(folder)
  })
}

/**
 * Removes segments and their marks, oldest first: if a kill leaves some, a new segment still gets a number that none of them had.
 * Throws SluiceError STATE_UNWRITABLE.
 */
export async function removeSegments(folder: string, segments: readonly SpoolSegment[]): Promise<void> {
  await writing(folder, async () => {
    for (const { path } of segments) await rm(path, { force: true })
    const left = await readdir(folder)
    const orphans = left.filter(name => name.includes('.') && !left.includes(name.slice(0, name.indexOf('.'))))
    for (const name of orphans) await rm(join(folder, name), { force: true })
    // Another process may have begun one.
    await rmdir(folder).catch(() => undefined)
  })
}

export interface KeptSpool {
  readonly spool: string
  readonly path: string
  readonly bytes: number
  /** ISO 8601: when something was written to it last. */
  readonly written: string
  /** Names of its segments. A checkpoint names the segments that belong to it. */
  readonly ids: readonly string[]
}

/** Lists the spools that hold something. Throws SluiceError STATE_UNREADABLE. */
export async function keptSpools(stateDir: string): Promise<KeptSpool[]> {
  const folder = join(stateDir, SPOOLS)
  try {
    const names = await readdir(folder)
    const found = await Promise.all(names.map(async name => await look(join(folder, name), name)))
    return found.filter(one => one !== undefined)
  } catch (error) {
    if (isMissing(error)) return []
    throw fail('STATE_UNREADABLE', { path: folder, problem: diskProblem(error) }, { cause: error })
  }
}

/** Returns the names of all segments. Throws SluiceError STATE_UNREADABLE. */
export async function keptSegments(stateDir: string): Promise<readonly string[]> {
  return (await keptSpools(stateDir)).flatMap(({ ids }) => ids)
}

/** Another process may delete it meanwhile. */
async function look(path: string, spool: string): Promise<KeptSpool | undefined> {
  const segments = await readSegments(path).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const files = await Promise.all(segments.map(async segment => await stat(segment.path).catch(() => undefined)))
  const there = files.filter(file => file !== undefined)
  if (there.length === 0) return undefined
  const bytes = there.reduce((sum, { size }) => sum + size, 0)
  const written = new Date(Math.max(...there.map(({ mtimeMs }) => mtimeMs))).toISOString()
  return { spool, path, bytes, written, ids: segments.map(({ id }) => id) }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** Removes a spool. The caller holds its lock. Throws SluiceError STATE_UNWRITABLE. */
export async function removeSpool({ path }: KeptSpool): Promise<void> {
  await writing(path, async () => await rm(path, { recursive: true, force: true }))
}

/** Runs what writes to `path` and turns its errors into STATE_UNWRITABLE. */
export async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw fail('STATE_UNWRITABLE', { path, problem: diskProblem(error) }, { cause: error })
  }
}

/** The part of the receipt that spooling adds. */
export interface SpoolReceipt {
  /** Folder of the spooled stdin. Absent after all of it is loaded. */
  readonly spool?: string
}

declare module '../../pipeline/ledger/receipt.js' {
  interface Receipt extends SpoolReceipt {}
}
