/** What commands have spooled and not deleted, looked at from outside. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fail } from '../failure/fail.js'
import { diskProblem } from '../disk/disk-problem.js'
import { readSegments, writing } from './spool-segments.js'

export interface KeptSpool {
  /** The name of its folder. */
  readonly spool: string
  readonly path: string
  readonly bytes: number
  /** ISO 8601: when something was written to it last. */
  readonly written: string
  /** Of the copies of stdin in it: a checkpoint names the one that it is of. */
  readonly ids: readonly string[]
}

/** Where the spools of a state folder lie, one folder for each command. */
export function spoolsFolder(stateDir: string): string {
  return join(stateDir, 'spool')
}

/** Those that hold anything. Throws SluiceError STATE_UNREADABLE. */
export async function keptSpools(stateDir: string): Promise<KeptSpool[]> {
  const folder = spoolsFolder(stateDir)
  try {
    const names = await readdir(folder)
    const found = await Promise.all(names.map(async name => await look(join(folder, name), name)))
    return found.filter(one => one !== undefined)
  } catch (error) {
    if (isMissing(error)) return []
    throw fail('STATE_UNREADABLE', { path: folder, problem: diskProblem(error) }, { cause: error })
  }
}

/** Nobody may be at it. Throws SluiceError STATE_UNWRITABLE. */
export async function removeSpool({ path }: KeptSpool): Promise<void> {
  await writing(path, async () => await rm(path, { recursive: true, force: true }))
}

/** A process may be deleting it meanwhile. */
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
