/** Checkpoints whose place another run of the same command has taken: kept, so that their runs can be verified and undone. */
import { readFile, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Checkpoint } from './checkpoint.js'
import {
  checkpointPaths,
  namesIn,
  readCheckpoint,
  removeCheckpoint,
  runsFolder,
  stateUnwritable,
  writeCheckpoint,
} from './checkpoint-file.js'
import { makeFolder, syncFolder } from '../disk/folders.js'
import { isSluiceError } from '../failure/sluice-error.js'

/** Earlier checkpoints that Sluice keeps for each command. */
const KEPT = 20
const SUFFIX = '.json'

function earlierFolder(stateDir: string): string {
  return join(stateDir, 'earlier')
}

/**
 * Keeps the checkpoint before another run takes its path. May be repeated. Throws SluiceError STATE_UNWRITABLE,
 * STATE_UNREADABLE.
 */
export async function keepEarlier(path: string, checkpoint: Checkpoint): Promise<void> {
  const folder = folderBeside(path)
  try {
    await makeFolder(folder)
  } catch (error) {
    throw stateUnwritable(folder, error)
  }
  await writeCheckpoint(join(folder, `${keyOf(path)}.${checkpoint.written.replaceAll(/\D/g, '')}${SUFFIX}`), checkpoint)
  for (const one of (await earlierThan(path)).slice(0, -KEPT)) await removeCheckpoint(one)
}

/**
 * Replaces the checkpoint at `path` by the previous one, if that run had read all of its inputs, with or without a
 * failure. Resolves to the name of that run. Throws SluiceError STATE_UNWRITABLE.
 */
export async function bringBack(path: string): Promise<string | undefined> {
  const last = (await earlierThan(path)).at(-1)
  const checkpoint = last === undefined ? undefined : await readCheckpoint(last).catch(() => undefined)
  if (last === undefined || checkpoint?.inputs.every(({ status }) => status === 'finished') !== true) return undefined
  try {
    await rename(last, path)
    await syncFolder(dirname(path))
    return checkpoint.run
  } catch (error) {
    throw stateUnwritable(path, error)
  }
}

/**
 * Returns the path of the checkpoint that replaced this one. Undefined: this is the last checkpoint of its command.
 */
export function lastOf(path: string): string | undefined {
  const folder = dirname(path)
  if (basename(folder) !== 'earlier') return undefined
  return join(dirname(folder), 'runs', `${basename(path).split('.')[0]}${SUFFIX}`)
}

/** Oldest first. */
async function earlierThan(path: string): Promise<string[]> {
  const folder = folderBeside(path)
  const names = await namesIn(folder)
  const own = names.filter(name => name.startsWith(`${keyOf(path)}.`) && name.endsWith(SUFFIX))
  return own.toSorted().map(name => join(folder, name))
}

function folderBeside(path: string): string {
  return earlierFolder(dirname(dirname(path)))
}

function keyOf(path: string): string {
  return basename(path, SUFFIX)
}

export interface KnownCheckpoint {
  readonly path: string
  readonly checkpoint: Checkpoint
  /** Another run of the same command has taken its place: no resume goes by it. */
  readonly isEarlier: boolean
}

export interface BrokenCheckpoint {
  readonly path: string
  readonly problem: string
  /** Name of the run, if readable. */
  readonly run?: string
}

/**
 * Returns all checkpoints of a state folder. Throws SluiceError STATE_UNREADABLE if the folder itself cannot be read.
 */
export async function knownCheckpoints(
  stateDir: string,
): Promise<{ readonly known: readonly KnownCheckpoint[]; readonly broken: readonly BrokenCheckpoint[] }> {
  const known: KnownCheckpoint[] = []
  const broken: BrokenCheckpoint[] = []
  const last = await checkpointPaths(runsFolder(stateDir))
  for (const path of [...last, ...(await checkpointPaths(earlierFolder(stateDir)))]) {
    try {
      const checkpoint = await readCheckpoint(path)
      if (checkpoint === undefined) continue
      const isEarlier = lastOf(path) !== undefined
      const isKept = known.some(one => one.path === lastOf(path) && one.checkpoint.written === checkpoint.written)
      // A process that was killed while it put it aside has left it in both places.
      if (!isKept) known.push({ path, checkpoint, isEarlier })
    } catch (error) {
      if (!isSluiceError(error)) throw error
      const run = await runIn(path)
      broken.push({ path, problem: error.message, ...(run === undefined ? {} : { run }) })
    }
  }
  return { known, broken }
}

async function runIn(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return /"run"\s*:\s*"([\w.-]+)"/.exec(text)?.[1]
}
