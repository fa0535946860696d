import { readFile } from 'node:fs/promises'
import { isSluiceError } from '../failure/sluice-error.js'
import type { Checkpoint } from './checkpoint.js'
import { checkpointPaths, readCheckpoint, runsFolder } from './checkpoint-file.js'
import { earlierFolder, lastOf } from './earlier-checkpoints.js'

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
