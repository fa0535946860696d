/** A checkpoint has one owner at a time: the run that writes it, or whoever takes that run back or forgets it. */
import { basename, dirname, join, resolve } from 'node:path'
import { InputLocks, lockedBy, locksFolder } from './lock.js'

interface OwnedRun {
  /** Of its checkpoint. */
  readonly path: string
  readonly run: string
  /** One of its inputs, and where it was loaded: for messages. */
  readonly input: string
  readonly index: string
}

/** Adds the checkpoint to what a run has locked; given back with the rest. Throws SluiceError RUN_LOCKED, STATE_UNWRITABLE. */
export async function lockCheckpoint(locks: InputLocks, { path, input, index }: Omit<OwnedRun, 'run'>): Promise<void> {
  const lock = join(locks.folder, `${basename(path, '.json')}.lock`)
  const other = await locks.take(lock)
  if (other !== undefined) throw lockedBy(other, input, index, lock)
}

/** Takes the checkpoints of runs, all of them or none. Throws SluiceError RUN_LOCKED, STATE_UNWRITABLE. */
export async function ownRuns(
  stateDir: string,
  runs: readonly OwnedRun[],
  { isUndo }: { readonly isUndo: boolean },
): Promise<InputLocks> {
  const locks = await InputLocks.open(locksFolder(stateDir), isUndo)
  try {
    for (const one of runs.toSorted((a, b) => (a.path < b.path ? -1 : 1))) await lockCheckpoint(locks, one)
    const [first] = runs
    if (first !== undefined) await locks.name(first.run)
    return locks
  } catch (error) {
    await locks[Symbol.asyncDispose]()
    throw error
  }
}

/** The state folder that a checkpoint lies in, as far as its path tells. */
export function stateDirAround(path: string): string | undefined {
  const folder = dirname(resolve(path))
  return ['runs', 'earlier'].includes(basename(folder)) ? dirname(folder) : undefined
}
