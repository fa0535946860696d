/** The runs of a state folder: a file for each, only for its owner. */
import { readFileSync, statSync } from 'node:fs'
import { readFile, readdir, rm } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { diskProblem, syncFolder } from '../../../base/disk/safe-files.js'
import { stateUnwritable } from '../../../base/disk/safe-files.js'
import { isRunId } from '../../../base/checksum/tokens.js'
import { fail, isSluiceError } from '../../../base/failure/failure.js'
import type { Checkpoint } from '../checkpoint/checkpoint.js'
import { isObject, parseJson } from '../../../base/json/parse-json.js'
import { nearest } from '../../../base/text/shown.js'
import { readJournal, readJournals } from '../checkpoint/journal.js'
import { parseOldCheckpoint } from '../checkpoint/old-checkpoint.js'

const SUFFIX = '.jsonl'
/** The suffix of the files that Sluice wrote before it kept journals. */
const OLD_SUFFIX = '.json'
const OLD_FOLDER = 'earlier'
/** Inputs of runs whose own files are removed. */
const FORGOTTEN = 'known.jsonl'

export interface KnownRun {
  readonly path: string
  readonly checkpoint: Checkpoint
  /** See `stampOf`: from before the file was read. Undefined for one that is only known for its inputs. */
  readonly stamp: string | undefined
  /** A later run of the same command has taken its place. */
  readonly isEarlier: boolean
  /** Only known for its inputs: its own file was removed because it is old. See `prune`. */
  readonly isForgotten: boolean
}

interface BrokenRun {
  readonly path: string
  readonly problem: string
  /** Name of the run, and where its documents went, if readable. */
  readonly run?: string
  readonly scope?: string
}

/** Returns the ids of the copies of inputs that are still on the disk. */
export type ListCopies = (stateDir: string) => Promise<readonly string[]>

/** Returns the folder of the runs. */
export function runsFolder(stateDir: string): string {
  return join(stateDir, 'runs')
}

/** Returns the state folder of a run's file, if its path shows one. */
export function stateDirAround(path: string): string | undefined {
  const folder = dirname(resolve(path))
  return ['runs', OLD_FOLDER].includes(basename(folder)) ? dirname(folder) : undefined
}

/** Returns a path that no file has, for a run of this name. Throws SluiceError STATE_UNREADABLE. */
export async function freePath(stateDir: string, run: string): Promise<string> {
  return await freeName(runsFolder(stateDir), run)
}

/** Returns a path in the folder that no run has yet. Throws SluiceError STATE_UNREADABLE. */
export async function freeName(folder: string, run: string): Promise<string> {
  const taken = new Set(await namesIn(folder))
  const name = (number: number) => `${run}${number === 1 ? '' : `~${number}`}${SUFFIX}`
  let number = 1
  while (taken.has(name(number))) number += 1
  return join(folder, name(number))
}

/**
 * Returns all runs, newest first. Throws SluiceError STATE_UNREADABLE if the folder itself cannot be read.
 */
export async function knownRuns(
  stateDir: string,
): Promise<{ readonly known: readonly KnownRun[]; readonly broken: readonly BrokenRun[] }> {
  const found: Pick<KnownRun, 'path' | 'checkpoint' | 'stamp'>[] = []
  const broken: BrokenRun[] = []
  for (const folder of [runsFolder(stateDir), join(stateDir, OLD_FOLDER)]) {
    for (const name of await namesIn(folder)) {
      const path = join(folder, name)
      if (!isRun(path)) continue
      try {
        const stamp = stampOf(path)
        const checkpoint = await readRun(path)
        if (checkpoint !== undefined) found.push({ path, checkpoint, stamp })
      } catch (error) {
        if (!isSluiceError(error)) throw error
        broken.push({ path, problem: String(error.failure.evidence['problem']), ...(await headOf(path)) })
      }
    }
  }
  const forgotten = new Set<Checkpoint>()
  const path = forgottenPath(stateDir)
  const parsed = readForgotten(stateDir)
  if (typeof parsed === 'string') broken.push({ path, problem: parsed })
  else
    for (const checkpoint of parsed) {
      forgotten.add(checkpoint)
      found.push({ path, checkpoint, stamp: undefined })
    }
  const keys = new Set<string>()
  const known = found
    .toSorted((a, b) => byAge(a.checkpoint, b.checkpoint))
    .map(one => {
      const { key } = one.checkpoint
      const isEarlier = keys.has(key)
      if (hasLoaded(one.checkpoint)) keys.add(key)
      return { ...one, isEarlier, isForgotten: forgotten.has(one.checkpoint) }
    })
  return { known, broken }
}

/** Returns the path of the file that holds the inputs of runs whose own files are removed. */
export function forgottenPath(stateDir: string): string {
  return join(stateDir, FORGOTTEN)
}

/** Returns the runs of that file, or why it cannot be understood. Throws SluiceError STATE_UNREADABLE. */
export function readForgotten(stateDir: string): readonly Checkpoint[] | string {
  return readIfThere(forgottenPath(stateDir), readJournals) ?? []
}

/** Returns whether a file is of this version. */
export function isJournal(path: string): boolean {
  return path.endsWith(SUFFIX)
}

/** Returns whether a path is that of a run's file. */
export function isRun(path: string): boolean {
  return isJournal(path) || path.endsWith(OLD_SUFFIX)
}

/** Returns undefined if there is no such run. Throws SluiceError STATE_UNREADABLE. */
export async function readRun(path: string): Promise<Checkpoint | undefined> {
  const read = readIfThere(path, isJournal(path) ? readJournal : readOld)
  if (typeof read === 'string') throw fail('STATE_UNREADABLE', { path, problem: read })
  return read
}

/** Returns undefined if there is no such file. Throws SluiceError STATE_UNREADABLE. */
export function runTextOf(path: string): Buffer | undefined {
  return readIfThere(path, () => readFileSync(path))
}

function readOld(path: string): Checkpoint | string {
  return parseOldCheckpoint(readFileSync(path), keyOfOld(path))
}

function readIfThere<T>(path: string, read: (path: string) => T): T | undefined {
  try {
    return read(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fail('STATE_UNREADABLE', { path, problem: diskProblem(error) }, { cause: error })
  }
}

/** Returns the name that a person most likely meant. A whole run id names another run, and is not mistyped: its command may delete documents. */
export function nearestRun(named: string, names: readonly string[]): string | undefined {
  return isRunId(named) ? undefined : nearest(named, names)
}

/** Returns the name of the run whose file a path may be. */
export function runNamed(named: string): string {
  return isRun(named) ? basename(named, extname(named)).replace(/~\d+$/, '') : named
}

/** Returns what is another one once somebody has written the file. Undefined if there is no such file. */
export function stampOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && `${found.ino} ${found.size} ${found.mtimeMs}`
}

/** Forgets a run. Throws SluiceError STATE_UNWRITABLE. */
export async function removeRun(path: string): Promise<void> {
  try {
    await rm(path, { force: true })
    await syncFolder(dirname(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw stateUnwritable(path, error)
  }
}

/** Returns the last run of the same command that has nothing left, if there is one. */
export async function lastFinished(stateDir: string, key: string): Promise<Checkpoint | undefined> {
  const { known } = await knownRuns(stateDir)
  const last = known.find(({ checkpoint }) => checkpoint.key === key && hasLoaded(checkpoint))?.checkpoint
  return last?.left === 0 ? last : undefined
}

/** Returns false for a run that found nothing new. */
export function hasLoaded(run: Checkpoint): boolean {
  if (run.left > 0) return true
  for (const { read } of run.inputs) if (read > 0) return true
  return false
}

/** Newest first. A run that took the place of another began after it. */
export function byAge(a: Checkpoint, b: Checkpoint): number {
  return Date.parse(b.began) - Date.parse(a.began)
}

/** Earlier checkpoints had a time behind the key. */
function keyOfOld(path: string): string {
  return basename(path).split('.')[0] ?? ''
}

/** Returns no names if the folder is missing. Throws SluiceError STATE_UNREADABLE. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw fail('STATE_UNREADABLE', { path: folder, problem: diskProblem(error) }, { cause: error })
  }
}

/** Reads what a broken file still says of itself. */
async function headOf(path: string): Promise<Pick<BrokenRun, 'run' | 'scope'>> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const head = parseJson(text.slice(0, text.indexOf('\n')))
  const scope = isObject(head) ? head['scope'] : undefined
  const run = /"run"\s*:\s*"([\w.-]+)"/.exec(text)?.[1]
  return { ...(run === undefined ? {} : { run }), ...(typeof scope === 'string' ? { scope } : {}) }
}
