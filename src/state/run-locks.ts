/**
 * Locks the inputs and the checkpoint of a run, so that two runs do not load the same file into the same index at once. Ids keep a
 * resume from doubling documents. Locks keep two runs apart that would make different ids.
 */
import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fail } from '../failure/fail.js'
import type { SluiceError } from '../failure/sluice-error.js'
import type { Source } from '../flow.js'
import { InputLocks } from './lock.js'
import type { Holder } from './lock-holder.js'

export interface Locking {
  readonly stateDir: string
  /** URL, without credentials. */
  readonly cluster: string
  readonly index: string
  /** Only files and tables are locked. No other process can read anything else. */
  readonly sources: readonly Source[]
  /** URL of the instance whose tables are read, without credentials. */
  readonly instance?: string | undefined
  /** The folder that holds stdin. Only one process may use it. */
  readonly folder?: string | undefined
}

/** Locks all inputs, or none. Throws SluiceError RUN_LOCKED, STATE_UNWRITABLE. */
export async function lockInputs(locking: Locking): Promise<InputLocks> {
  const { stateDir, cluster, index, sources, instance = '' } = locking
  const folder = locksFolder(stateDir)
  const wanted = new Map(
    await Promise.all(
      sources.flatMap(({ name, file, cursor }) => {
        const lockOf = (input: string) => [join(folder, `${keyOf([cluster, index, input])}.lock`), name] as const
        if (cursor !== undefined) return [Promise.resolve(lockOf(`${name} ${instance}`))]
        if (file === undefined) return []
        // Two names of one file are one input.
        const path = realpath(file.path).catch(() => file.path)
        return [path.then(lockOf)]
      }),
    ),
  )
  if (locking.folder !== undefined) wanted.set(join(folder, `${keyOf([resolve(locking.folder)])}.lock`), '-')
  const locks = await InputLocks.open(folder)
  try {
    // All processes lock in the same order. If two want the same inputs, one of them gets all.
    for (const path of [...wanted.keys()].toSorted()) {
      const other = await locks.take(path)
      if (other !== undefined) throw lockedBy(other, wanted.get(path) ?? '', index, path)
    }
    return locks
  } catch (error) {
    await locks[Symbol.asyncDispose]()
    throw error
  }
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
  const lock = join(locks.folder, `${basename(path, '.json')}.lock`)
  const other = await locks.take(lock)
  if (other !== undefined) throw lockedBy(other, input, index, lock)
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

/** Returns the state folder of a checkpoint, if its path shows one. */
export function stateDirAround(path: string): string | undefined {
  const folder = dirname(resolve(path))
  return ['runs', 'earlier'].includes(basename(folder)) ? dirname(folder) : undefined
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

function keyOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
