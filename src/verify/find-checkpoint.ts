import { stat } from 'node:fs/promises'
import { failure } from '../failure/failure.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import type { Checkpoint } from '../ledger/checkpoint.js'
import { checkpointPaths, readCheckpoint } from '../ledger/checkpoint-file.js'
import { nearest } from '../options/nearest.js'

export interface KnownCheckpoint {
  readonly path: string
  readonly checkpoint: Checkpoint
}

/** The checkpoint of a run, by its name or its own path. Throws SluiceError RUN_NOT_FOUND, OPTION_INVALID, STATE_UNREADABLE. */
export async function findCheckpoint(stateDir: string, run: string): Promise<KnownCheckpoint> {
  if (run.endsWith('.json') && (await isFile(run))) {
    const checkpoint = await readCheckpoint(run)
    if (checkpoint !== undefined) return { path: run, checkpoint }
  }
  const known: KnownCheckpoint[] = []
  for (const path of await checkpointPaths(stateDir)) {
    const checkpoint = await readCheckpoint(path).catch(ignoreUnreadable)
    if (checkpoint !== undefined) known.push({ path, checkpoint })
  }
  const [first, ...others] = known.filter(({ checkpoint }) => checkpoint.run === run)
  if (first === undefined) {
    const names = known.map(({ checkpoint }) => checkpoint.run)
    const near = nearest(run, names)
    const hint = near === undefined ? '' : ` (did you mean ${near}?)`
    throw new SluiceError(failure('RUN_NOT_FOUND', { run, folder: `${stateDir}${hint}` }))
  }
  if (others.length === 0) return first
  const paths = [first, ...others].map(({ path, checkpoint }) => `${path} (into ${checkpoint.target.index})`)
  const problem = `${run} names ${paths.length} runs: name one by its checkpoint, ${paths.join(', ')}`
  throw new SluiceError(failure('OPTION_INVALID', { option: 'run', problem }))
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    found => found.isFile(),
    () => false,
  )
}

function ignoreUnreadable(error: unknown): undefined {
  if (!isSluiceError(error)) throw error
}
