/** The files that processes keep in the folder of locks: a record, a socket and claims of each. */
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Holder, isDeserted, isGone, parseHolder } from './lock-holder.js'

/** A record that was never written belongs to a process that is not starting any more. */
const STARTING_MS = 3_600_000

/** A lock is a small file. Other programs have files whose names end like those of locks. */
const LOCK_BYTES = 4096

/** The socket by which others see that a holder is alive. */
export function socketPath(folder: string, id: string): string {
  return join(folder, `${id}.sock`)
}

export function recordPath(folder: string, id: string): string {
  return join(folder, `${id}.holder`)
}

export function claimsPath(folder: string, id: string): string {
  return join(folder, `${id}.claims`)
}

export function holderText(holder: Holder): string {
  return `${JSON.stringify(holder)}\n`
}

/** A holder whose file cannot be read. */
export const nobody: Holder = { id: '', pid: 0, host: 'an unknown host', since: 'an unknown time' }

/** Reads who holds a lock. Returns undefined if there is no such file. */
export async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return parseHolder(await readFile(path, 'utf8')) ?? nobody
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : nobody
  }
}

/** Returns the ids of processes that have files of these kinds, and which kinds. */
export function filesOfHolders(
  names: readonly string[],
  kinds: readonly string[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const name of names) {
    const [, id, kind] = /^([0-9a-f]{16})\.(\w+)$/.exec(name) ?? []
    if (id !== undefined && kind !== undefined && kinds.includes(kind))
      found.set(id, (found.get(id) ?? new Set()).add(kind))
  }
  return found
}

/** Removes the files of a dead process. Its claims need its record, and its record needs its socket. */
export async function removeFilesOf(folder: string, id: string): Promise<void> {
  for (const left of [claimsPath, recordPath, socketPath]) await rm(left(folder, id), { force: true })
}

/**
 * Removes what processes left that are certainly gone, except of this one. `clear` removes a lock. What cannot be removed now, the next
 * process removes.
 */
export async function sweep(
  folder: string,
  own: string,
  clear: (path: string, gone: Holder) => Promise<void>,
): Promise<void> {
  try {
    const names = await readdir(folder)
    for (const name of names.filter(one => /(^|\.)lock(\.[0-9a-f]{16})*$/.test(one))) {
      const path = join(folder, name)
      const gone = await goneHolder(path, folder)
      if (gone !== undefined) await clear(path, gone)
    }
    for (const [id, kinds] of filesOfHolders(names, ['holder', 'sock', 'claims']))
      if (id !== own && (await isLeft(folder, id, kinds))) await removeFilesOf(folder, id)
  } catch {
    // A folder that cannot be swept may be written all the same.
  }
}

/** Returns the holder of a lock if it is certainly gone. */
async function goneHolder(path: string, folder: string): Promise<Holder | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() !== true || found.size > LOCK_BYTES) return undefined
  const holder = await readHolder(path)
  if (holder === undefined || holder === nobody) return undefined
  return (await isGone(holder, socketPath(folder, holder.id))) ? holder : undefined
}

/** Returns whether the files of a process can be removed: it is gone, and no lock needs them. */
async function isLeft(folder: string, id: string, kinds: ReadonlySet<string>): Promise<boolean> {
  const record = recordPath(folder, id)
  const socket = socketPath(folder, id)
  const holder = await readHolder(record)
  // A record is made before its socket, and removed before it.
  if (holder === undefined) return !kinds.has('claims') && (await isDeserted(socket))
  const found = await stat(record).catch(() => undefined)
  if (found === undefined || found.nlink > 1) return false
  if (holder !== nobody) return await isGone(holder, socket)
  return !kinds.has('claims') && found.mtimeMs + STARTING_MS < Date.now()
}
