/** Finds the checkpoint of a run that somebody names. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fail } from '../../base/failure/failure.js'
import type { InputLocks } from '../../base/lock/lock.js'
import { plural } from '../../base/text/shown.js'
import { localTime } from '../../base/time/clock.js'
import type { Checkpoint, RunUndone } from '../../run/state/checkpoint/checkpoint.js'
import { ownRuns } from '../../run/state/runs/state-folder.js'
import { undoneRun } from '../../run/state/runs/history.js'
import { replaysOf } from './replays-of.js'
import {
  isRun,
  type KnownRun,
  knownRuns,
  nearestRun,
  readRun,
  runNamed,
  stateDirAround,
} from '../../run/state/runs/runs.js'

export interface FoundCheckpoint {
  readonly path: string
  readonly checkpoint: Checkpoint
  /** All others in the state folder, newest first. */
  readonly others: readonly KnownRun[]
  /** Paths of the checkpoints of earlier runs with the same name, which are not meant. */
  readonly namesakes: readonly string[]
}

/** Finds the checkpoint of a run by its name or its own path. Throws SluiceError RUN_NOT_FOUND, RUN_UNDONE, OPTION_INVALID, STATE_UNREADABLE. */
export async function findCheckpoint(stateDir: string, run: string): Promise<FoundCheckpoint> {
  const { known } = await knownRuns(stateDir)
  const foundAs = (path: string, checkpoint: Checkpoint, namesakes: readonly string[]): FoundCheckpoint => {
    const others = known.filter(one => resolve(one.path) !== resolve(path))
    return { path, checkpoint, others, namesakes }
  }
  if (isRun(run) && (await isFile(run))) {
    const checkpoint = await readRun(run)
    if (checkpoint !== undefined) return foundAs(run, checkpoint, [])
  }
  const named = known.filter(({ checkpoint, isForgotten }) => checkpoint.run === run && !isForgotten)
  const last = named.filter(({ isEarlier }) => !isEarlier)
  const [first, ...others] = last.length > 0 ? last : named
  if (first === undefined) {
    const name = runNamed(run)
    const undone = await undoneRun(stateDir, name)
    if (undone !== undefined) throw fail('RUN_UNDONE', { run: name, at: localTime(undone.at), how: howUndone(undone) })
    const names = known.filter(one => !one.isForgotten).map(({ checkpoint }) => checkpoint.run)
    const near = nearestRun(name, names)
    const hint = near === undefined ? '' : ` (did you mean ${near}?)`
    throw fail('RUN_NOT_FOUND', { run, folder: `${stateDir}${hint}` })
  }
  if (others.length === 0) {
    const namesakes = named.filter(one => one !== first).map(({ path }) => path)
    return foundAs(first.path, first.checkpoint, namesakes)
  }
  const paths = [first, ...others].map(({ path, checkpoint }) => `${path} (into ${checkpoint.target.index})`)
  const problem = `${run} is the name of ${paths.length} runs. Pass the path of one checkpoint: ${paths.join(', ')}`
  throw fail('OPTION_INVALID', { option: 'run', problem })
}

function howUndone({ deleted, with: run, isPart = false }: RunUndone): string {
  if (run !== undefined) return `undo of run ${run} deleted ${isPart ? 'some of ' : ''}its documents`
  return `${plural(deleted, 'document')} deleted`
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    found => found.isFile(),
    () => false,
  )
}

/**
 * Finds the checkpoint of a run to undo, and keeps every load away from it, and from its replays, until the locks are given back.
 * Throws SluiceError RUN_LOCKED, STATE_UNWRITABLE, and what `findCheckpoint` throws.
 */
export async function ownRun(
  stateDir: string,
  run: string,
): Promise<{ readonly known: FoundCheckpoint; readonly locks: InputLocks }> {
  for (;;) {
    const found = await findCheckpoint(stateDir, run)
    const owned = undoneWith(found)
    const locks = await ownRuns(stateDirAround(found.path) ?? stateDir, owned, { isUndo: true })
    try {
      // A load that ended meanwhile may have rewritten the checkpoint, or made it an earlier one.
      const known = await findCheckpoint(stateDir, run)
      const paths = new Set(owned.map(({ path }) => path))
      if (known.path === found.path && undoneWith(known).every(({ path }) => paths.has(path))) return { known, locks }
    } catch (error) {
      await locks[Symbol.asyncDispose]()
      throw error
    }
    await locks[Symbol.asyncDispose]()
  }
}

/** Returns a run and the replays that are undone with it. */
function undoneWith({ path, checkpoint, others }: FoundCheckpoint) {
  const runs = [{ path, checkpoint }, ...replaysOf(checkpoint, others).map(({ known }) => known)]
  return runs.map(one => ({
    path: one.path,
    run: one.checkpoint.run,
    input: one.checkpoint.inputs.at(0)?.name ?? '',
    index: one.checkpoint.target.index,
  }))
}
