/** Removes the files of old runs. What their inputs are known by goes to one file for all of them. */
import { rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile, syncFolder } from '../../../base/disk/safe-files.js'
import { isSluiceError } from '../../../base/failure/failure.js'
import type { StateSection } from '../../../options/load.js'
import { type Checkpoint, runNameOf } from '../checkpoint/checkpoint.js'
import { historyFolder } from './history.js'
import { endLine, linesOf } from '../checkpoint/journal.js'
import { newestStates } from '../inputs/known-input.js'
import { InputLocks } from '../../../base/lock/lock.js'
import { lockCheckpoint, locksFolder } from './state-folder.js'
import { Letters } from './open-letters.js'
import {
  byAge,
  forgottenPath,
  isRun,
  type KnownRun,
  type ListCopies,
  knownRuns,
  namesIn,
  readForgotten,
  readRun,
  runsFolder,
} from './runs.js'

const DAY_MS = 86_400_000
/** The next runs find room. So not each run writes the inputs of all again. */
const ROOM = 0.1

interface RunFile {
  readonly path: string
  /** Whether loads read it. */
  readonly isState: boolean
  readonly mtimeMs: number
}

/**
 * Removes the oldest runs beyond `keepRuns` and `keepDays`, except those that have something left to load, whose copy of an input is still
 * there, whose rejected documents wait, that have replayed those of a run that stays, or that another process works on. Throws SluiceError
 * STATE_UNREADABLE, STATE_UNWRITABLE, and errors of the file system.
 */
export async function prune(
  stateDir: string,
  { keepRuns, keepDays }: Pick<StateSection, 'keepRuns' | 'keepDays'>,
  listCopies: ListCopies,
): Promise<void> {
  const files = await runFiles(stateDir)
  const since = Date.now() - keepDays * DAY_MS
  const old = files.filter(({ mtimeMs }) => mtimeMs < since).length
  const most = files.length > keepRuns ? Math.max(1, Math.ceil(keepRuns * (1 - ROOM))) : keepRuns
  const beyond = files.toSorted((a, b) => a.mtimeMs - b.mtimeMs).slice(0, Math.max(old, files.length - most))
  if (beyond.length === 0) return
  await using locks = await InputLocks.open(locksFolder(stateDir))
  // Another process does the same.
  if ((await locks.take(join(locks.folder, '~known.lock'))) !== undefined) return
  const copies = new Set(await listCopies(stateDir))
  let known: readonly KnownRun[] | undefined
  const allRuns = async () => (known ??= (await knownRuns(stateDir)).known)
  let letters: Letters | undefined
  const forgotten: { readonly path: string; readonly checkpoint: Checkpoint }[] = []
  for (const { path, isState } of beyond) {
    if (!isState) await rm(path, { force: true })
    else if (await isFree(locks, path)) {
      const checkpoint = await readRun(path)
      if (checkpoint === undefined || !isOver(checkpoint)) continue
      const isNeeded = [...checkpoint.inputs].some(({ copy }) => copy !== undefined && copies.has(copy))
      if (isNeeded) continue
      const { counts, replays = [] } = checkpoint
      if (replays.length > 0 && isOneThere(replays, await allRuns(), forgotten)) continue
      if (counts.rejected > 0) {
        letters ??= new Letters(await allRuns())
        if ((await letters.openOf([checkpoint])).length > 0) {
          await shorten(path, checkpoint)
          continue
        }
      }
      forgotten.push({ path, checkpoint })
    }
  }
  if (forgotten.length === 0) return
  const before = readForgotten(stateDir)
  // No run adds to a file that cannot be read.
  if (typeof before === 'string') return
  const all = [...forgotten.map(one => one.checkpoint), ...before].toSorted(byAge)
  await replaceFile(forgottenPath(stateDir), linesToKeep(all))
  for (const { path } of forgotten) await rm(path, { force: true })
  await syncFolder(runsFolder(stateDir))
}

/**
 * Returns whether nothing is left of a run. It also goes if it only failed because of rejected documents: else it would stay longer than
 * the replay of its dead letters, and its documents would wait again.
 */
function isOver({ status, left, ended }: Checkpoint): boolean {
  return left === 0 && (status === 'finished' || (status === 'failed' && OF_REJECTED.has(ended?.failure?.code ?? '')))
}

const OF_REJECTED: ReadonlySet<string> = new Set(['TOO_MANY_REJECTED', 'REJECTED_NOT_REPLAYED'])

/** Returns whether a run with one of these names stays. Without its replays, its dead letters would wait again. */
function isOneThere(
  names: readonly string[],
  known: readonly KnownRun[],
  forgotten: readonly { readonly checkpoint: Checkpoint }[],
): boolean {
  const gone = new Set(forgotten.map(({ checkpoint }) => runNameOf(checkpoint)))
  return known.some(({ checkpoint, isForgotten }) => {
    const isThere = !isForgotten && checkpoint.counts.rejected > 0 && !gone.has(runNameOf(checkpoint))
    return isThere && names.includes(checkpoint.run)
  })
}

/** Leaves only the last checkpoint in the file of a run that stays, and its age as it was. */
async function shorten(path: string, checkpoint: Checkpoint): Promise<void> {
  const { ended } = checkpoint
  const text = [...linesOf(checkpoint), ...(ended === undefined ? [] : [endLine(ended)])].join('')
  const { size, atime, mtime } = await stat(path)
  if (Buffer.byteLength(text) >= size) return
  await replaceFile(path, text)
  await utimes(path, atime, mtime)
}

async function runFiles(stateDir: string): Promise<RunFile[]> {
  const files: RunFile[] = []
  for (const [folder, isState] of [
    [runsFolder(stateDir), true],
    [historyFolder(stateDir), false],
  ] as const) {
    const paths = (await namesIn(folder)).filter(isRun).map(name => join(folder, name))
    const found = await Promise.all(paths.map(async path => await stat(path).catch(() => undefined)))
    for (const [at, path] of paths.entries()) {
      const { mtimeMs } = found[at] ?? {}
      if (mtimeMs !== undefined) files.push({ path, isState, mtimeMs })
    }
  }
  return files
}

async function isFree(locks: InputLocks, path: string): Promise<boolean> {
  try {
    await lockCheckpoint(locks, { path, input: '', index: '' })
    return true
  } catch (error) {
    if (isSluiceError(error) && error.code === 'RUN_LOCKED') return false
    throw error
  }
}

/** Returns the lines that keep each input: of the run that took it up last, and of one that found it again later. */
function* linesToKeep(runs: readonly Checkpoint[]): Generator<string> {
  const isNewest = newestStates(runs)
  for (const run of runs) {
    const inputs = [...run.inputs].filter(input => isNewest(run, input))
    const { deadLetters: _, ...rest } = run
    if (inputs.length > 0) yield* linesOf({ ...rest, inputs, rejections: [] })
  }
}
