import type { InputLocks } from '../state/lock.js'
import { ownRuns, stateDirAround } from '../state/run-locks.js'
import { type FoundCheckpoint, findCheckpoint } from './find-checkpoint.js'

/**
 * Finds the checkpoint of a run that is to be undone, and keeps every load away from it until the locks are given back.
 * Throws SluiceError RUN_LOCKED, STATE_UNWRITABLE, and what `findCheckpoint` throws.
 */
export async function ownRun(
  stateDir: string,
  run: string,
): Promise<{ readonly known: FoundCheckpoint; readonly locks: InputLocks }> {
  for (;;) {
    const { path, checkpoint } = await findCheckpoint(stateDir, run)
    const [input] = checkpoint.inputs
    const owned = { path, run: checkpoint.run, input: input?.name ?? '', index: checkpoint.target.index }
    const locks = await ownRuns(stateDirAround(path) ?? stateDir, [owned], { isUndo: true })
    try {
      // A load that ended meanwhile has written it anew, or put it aside for another run's.
      const known = await findCheckpoint(stateDir, run)
      if (known.path === path) return { known, locks }
    } catch (error) {
      await locks[Symbol.asyncDispose]()
      throw error
    }
    await locks[Symbol.asyncDispose]()
  }
}
