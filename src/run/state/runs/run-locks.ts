/**
 * Claims the inputs of a run and locks its file, so that two runs do not load the same file into the same index at once. Ids keep a
 * resume from doubling documents. Locks keep two runs apart that would make different ids.
 */
import { basename, extname, join, resolve } from 'node:path'
import { type SluiceError, fail } from '../../../base/failure/failure.js'
import { systemClock } from '../../../base/time/system-clock.js'
import { type Claiming, Claims } from '../../../base/lock/claims.js'
import { InputLocks } from '../../../base/lock/lock.js'
import type { Holder } from '../../../base/lock/lock-holder.js'

/** Claims all inputs, or none. Throws SluiceError RUN_LOCKED, STATE_UNWRITABLE. */
export async function lockInputs({
  stateDir,
  ...claiming
}: Claiming & { readonly stateDir: string }): Promise<InputLocks> {
  const claims = await Claims.of(claiming)
  const locks = await InputLocks.open(locksFolder(stateDir))
  try {
    const conflict = claims.isEmpty ? undefined : await locks.claim(claims, systemClock, Math.random)
    if (conflict !== undefined) throw lockedBy(conflict.holder, conflict.input, claiming.index, conflict.lock)
    return locks
  } catch (error) {
    await locks[Symbol.asyncDispose]()
    throw error
  }
}

/** Claims the same inputs in the cluster, once it is known. Throws SluiceError RUN_LOCKED, STATE_UNWRITABLE. */
export async function lockInCluster(locks: InputLocks, clusterUuid: string, index: string): Promise<void> {
  const conflict = await locks.claimIn(clusterUuid, systemClock, Math.random)
  if (conflict !== undefined) throw lockedBy(conflict.holder, conflict.input, index, conflict.lock)
}

interface OwnedRun {
  /** The path of its checkpoint. */
  readonly path: string
  readonly run: string
  /** An input and the index, for messages. */
  readonly input: string
  readonly index: string
}

/**
 * Also locks the checkpoint. It has one owner at a time: the run that writes it, or the command that undoes or
 * forgets that run. Throws SluiceError RUN_LOCKED, STATE_UNWRITABLE.
 */
export async function lockCheckpoint(locks: InputLocks, { path, input, index }: Omit<OwnedRun, 'run'>): Promise<void> {
  const lock = lockOfRun(locks.folder, path)
  const other = await locks.take(lock)
  if (other !== undefined) throw lockedBy(other, input, index, lock)
}

/** Throws SluiceError RUN_LOCKED if another process undoes one of these runs. */
export async function refuseUndone(
  locks: InputLocks,
  paths: readonly string[],
  { input, index }: Pick<OwnedRun, 'input' | 'index'>,
): Promise<void> {
  for (const path of paths) {
    const lock = lockOfRun(locks.folder, path)
    const other = await locks.holderOf(lock)
    if (other?.isUndo === true) throw lockedBy(other, input, index, lock)
  }
}

function lockOfRun(folder: string, path: string): string {
  return join(folder, `${basename(path, extname(path))}.lock`)
}

/** Locks the checkpoints of runs, all of them or none. Throws SluiceError RUN_LOCKED, STATE_UNWRITABLE. */
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

export function locksFolder(stateDir: string): string {
  return resolve(stateDir, 'locks')
}

/** Makes the error for a lock that another process holds. */
export function lockedBy(holder: Holder, input: string, index: string, lock: string): SluiceError {
  const { run = 'not named yet', pid, host, since, isUndo = false } = holder
  const doing = isUndo ? `removed from ${index} by the undo of run ${run}` : `loaded into ${index} by run ${run}`
  return fail('RUN_LOCKED', { input, doing, index, run, pid, host, since, lock })
}
