/** Prepares the state folder: makes it, keeps other users out, and removes what killed processes left half-written. */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, chmod, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { geteuid } from 'node:process'
import { makeFolder } from '../../../base/disk/safe-files.js'
import { fail, isSluiceError, type SluiceError } from '../../../base/failure/failure.js'
import { runsFolder } from './runs.js'
import { stateUnwritable } from '../../../base/disk/safe-files.js'

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
