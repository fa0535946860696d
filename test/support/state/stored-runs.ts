import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Checkpoint, CheckpointInput } from '../../../src/run/state/checkpoint/checkpoint.js'
import { Journal } from '../../../src/run/state/checkpoint/journal.js'
import { knownRuns, readRun, runsFolder } from '../../../src/run/state/runs/runs.js'

/** A run with all of its inputs. */
export interface StoredRun extends Checkpoint {
  readonly inputs: readonly CheckpointInput[]
}

/** Makes all inputs of a run. */
export function storedRun(run: Checkpoint): StoredRun {
  return { ...run, inputs: [...run.inputs] }
}

/** The run that was begun last, as it is on the disk. */
export async function lastRun(stateDir: string): Promise<{ readonly path: string; readonly checkpoint: StoredRun }> {
  const [last] = (await knownRuns(stateDir)).known
  if (last === undefined) throw new Error(`no run in ${stateDir}`)
  return { path: last.path, checkpoint: storedRun(last.checkpoint) }
}

/** The run of a file. */
export async function runIn(path: string): Promise<StoredRun> {
  const run = await readRun(path)
  if (run === undefined) throw new Error(`no run in ${path}`)
  return storedRun(run)
}

/** Puts a run in the place of what its file says. */
export async function rewriteRun(path: string, checkpoint: Checkpoint): Promise<void> {
  const journal = await Journal.begin(path, checkpoint)
  await journal.close()
}

/** Paths of the runs, by name. */
export async function runFiles(stateDir: string): Promise<string[]> {
  const folder = runsFolder(stateDir)
  return (await readdir(folder)).toSorted().map(name => join(folder, name))
}
