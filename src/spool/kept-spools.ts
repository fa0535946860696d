/** Lists and removes the spools in a state folder. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { diskProblem } from '../disk/disk-problem.js'
import { fail } from '../failure/fail.js'
import { readSegments, writing } from './segments.js'

/** In the state folder: one folder for each command. */
const SPOOLS = 'spool'

export interface KeptSpool {
  /** The name of its folder. */
  readonly spool: string
  readonly path: string
  readonly bytes: number
  /** ISO 8601: when something was written to it last. */
  readonly written: string
  /** Names of its segments. A checkpoint names the segments that belong to it. */
  readonly ids: readonly string[]
}

/** Returns the folder for the spool of one command. */
export function spoolFolderOf(stateDir: string, key: string): string {
  return join(stateDir, SPOOLS, key)
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

/** Removes a spool. The caller holds its lock. Throws SluiceError STATE_UNWRITABLE. */
export async function removeSpool({ path }: KeptSpool): Promise<void> {
  await writing(path, async () => await rm(path, { recursive: true, force: true }))
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
