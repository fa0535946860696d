import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Checkpoint } from '../state/checkpoint.js'
import { readCheckpoint } from '../state/checkpoint-file.js'
import { type KnownCheckpoint, knownCheckpoints, lastOf } from '../state/earlier-checkpoints.js'
import { nearest } from '../options/nearest.js'
import { fail } from '../failure/fail.js'

export interface FoundCheckpoint extends KnownCheckpoint {
  /** All others that the state folder holds. */
  readonly others: readonly Checkpoint[]
  /** Paths of the checkpoints of earlier runs with the same name, which are not meant. */
  readonly namesakes: readonly string[]
}

/** The checkpoint of a run, by its name or its own path. Throws SluiceError RUN_NOT_FOUND, OPTION_INVALID, STATE_UNREADABLE. */
export async function findCheckpoint(stateDir: string, run: string): Promise<FoundCheckpoint> {
  const { known } = await knownCheckpoints(stateDir)
  const foundAs = (one: KnownCheckpoint, namesakes: readonly KnownCheckpoint[] = []): FoundCheckpoint => ({
    ...one,
    others: known.filter(({ path }) => resolve(path) !== resolve(one.path)).map(({ checkpoint }) => checkpoint),
    namesakes: namesakes.map(({ path }) => path),
  })
  if (run.endsWith('.json') && (await isFile(run))) {
    const checkpoint = await readCheckpoint(run)
    if (checkpoint !== undefined)
      return foundAs({ path: run, checkpoint, isEarlier: lastOf(resolve(run)) !== undefined })
  }
  const named = known.filter(({ checkpoint }) => checkpoint.run === run)
  const last = named.filter(({ isEarlier }) => !isEarlier)
  const [first, ...others] = last.length > 0 ? last : named
  if (first === undefined) {
    const names = known.map(({ checkpoint }) => checkpoint.run)
    const near = nearest(run, names)
    const hint = near === undefined ? '' : ` (did you mean ${near}?)`
    throw fail('RUN_NOT_FOUND', { run, folder: `${stateDir}${hint}` })
  }
  if (others.length === 0)
    return foundAs(
      first,
      named.filter(one => one !== first),
    )
  const paths = [first, ...others].map(({ path, checkpoint }) => `${path} (into ${checkpoint.target.index})`)
  const problem = `${run} is the name of ${paths.length} runs: pass the path of a checkpoint, ${paths.join(', ')}`
  throw fail('OPTION_INVALID', { option: 'run', problem })
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    found => found.isFile(),
    () => false,
  )
}
