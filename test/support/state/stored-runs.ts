import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Checkpoint } from '../../../src/run/state/checkpoint/checkpoint.js'
import { Journal } from '../../../src/run/state/inputs/journal.js'
import { knownRuns, readRun, runsFolder } from '../../../src/run/state/runs/runs.js'

/** The run that was begun last, as it is on the disk. */
export async function lastRun(stateDir: string): Promise<{ readonly path: string; readonly checkpoint: Checkpoint }> {
  const [last] = (await knownRuns(stateDir)).known
  if (last === undefined) throw new Error(`no run in ${stateDir}`)
  return last
}

/** The run of a file. */
export async function runIn(path: string): Promise<Checkpoint> {
  const run = await readRun(path)
  if (run === undefined) throw new Error(`no run in ${path}`)
  return run
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
