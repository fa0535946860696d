/**
 * Keeps others out of the state folder: other users by its mode, and other processes by locks. Ids keep a resume from doubling documents.
 * Locks keep two runs apart that would make different ids of the same input.
 */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, chmod, open, readdir, rm, stat } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import { geteuid } from 'node:process'
import { makeFolder, stateUnwritable } from '../../../base/disk/safe-files.js'
import { fail, isSluiceError, type SluiceError } from '../../../base/failure/failure.js'
import { type Claiming, Claims } from './claims.js'
import { InputLocks } from '../../../base/lock/lock.js'
import type { Holder } from '../../../base/lock/lock-holder.js'
import { systemClock } from '../../../base/time/clock.js'
import { runsFolder } from './runs.js'

/** The folders in it that hold files of Sluice. */
const FOLDERS = ['', 'runs', 'earlier', 'history', 'locks', 'limits', 'deletions', 'plan', 'spool', 'serve']

/** The end of a file that has not been moved into its place. */
const TEMPORARY = /\.[0-9a-f]{8}\.tmp$/
/** No process takes that long to write one. */
const WRITING_MS = 3_600_000

const STICKY = 0o1000
const OTHERS_WRITE = 0o022

/** Makes the folder if missing. Returns warnings. Throws SluiceError STATE_UNWRITABLE. */
export async function prepareStateDir(stateDir: string): Promise<readonly string[]> {
  const folder = runsFolder(stateDir)
  try {
    await makeFolder(stateDir)
    const warnings = await tidyFolder(stateDir)
    await makeFolder(folder)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return warnings
  } catch (error) {
    throw isSluiceError(error) ? error : stateUnwritable(folder, error)
  }
}

/** Closes a folder of the state to other users, and removes what killed processes left. Returns and throws as above. */
export async function tidyFolder(folder: string): Promise<readonly string[]> {
  const warnings: string[] = []
  for (const path of FOLDERS.map(name => join(folder, name))) {
    try {
      warnings.push(...(await keepOthersOut(path)))
      await removeTemporary(path)
    } catch (error) {
      throw isSluiceError(error) ? error : stateUnwritable(path, error)
    }
  }
  return warnings
}

/** Closes a folder to other users. Returns a warning if it was open to them. Throws SluiceError STATE_UNWRITABLE. */
async function keepOthersOut(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch(() => undefined)
  // Windows has permissions of another kind.
  const user = geteuid?.()
  if (found === undefined || user === undefined) return []
  const { uid, mode } = found
  const isOther = uid !== user && uid !== 0 && (await newOwnerIn(path)) !== uid
  if (isOther) throw refused(path, `it belongs to another user (id ${uid})`, user, uid)
  if ((mode & OTHERS_WRITE) === 0) return []
  const had = (mode & 0o7777).toString(8).padStart(4, '0')
  // Everybody shares such a folder on purpose, for example /tmp.
  if ((mode & STICKY) !== 0) {
    const problem = `anyone can write to this folder (mode ${had}). Pass a folder inside it: --state-dir '${join(path, 'sluice')}'`
    throw fail('STATE_UNWRITABLE', { path, problem })
  }
  if (!(await close(path))) throw refused(path, `other users can write to it (mode ${had})`, user, uid)
  return [`other users could write to the state folder ${path} (mode ${had}). Now only you can`]
}

function refused(path: string, why: string, user: number, owner: number): SluiceError {
  const command = `${user === owner ? '' : `chown ${user} '${path}' && `}chmod 700 '${path}'`
  const problem = `${why}, and the state in it must be only yours. Run \`${command}\``
  return fail('STATE_UNWRITABLE', { path, problem })
}

/** Closes the folder to other users. Returns whether that worked: some file systems have the same mode for every folder. */
async function close(path: string): Promise<boolean> {
  await chmod(path, 0o700).catch(() => undefined)
  return ((await stat(path)).mode & OTHERS_WRITE) === 0
}

/** Returns the owner of new files in a folder. Some file systems have one owner for all files. */
async function newOwnerIn(path: string): Promise<number> {
  const probe = join(path, `owner.${randomBytes(4).toString('hex')}.tmp`)
  const file = await open(probe, 'wx', 0o600)
  try {
    return (await file.stat()).uid
  } finally {
    await file.close()
    await rm(probe, { force: true })
  }
}

/** Removes files that processes did not finish before they were killed. */
async function removeTemporary(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const path of names.filter(name => TEMPORARY.test(name)).map(name => join(folder, name))) {
    const written = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Infinity,
    )
    if (written + WRITING_MS < Date.now()) await rm(path, { force: true }).catch(() => undefined)
  }
}

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
