/** Stores checkpoints on disk: one file each, replaced as a whole, only for their owner. */
import { constants } from 'node:fs'
import { access, readFile, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fail } from '../failure/fail.js'
import { diskProblem } from '../disk/disk-problem.js'
import { SluiceError } from '../failure/sluice-error.js'
import { type Checkpoint, parseCheckpoint } from './checkpoint.js'
import { makeFolder } from '../disk/folders.js'
import { writeJson } from '../disk/json-file.js'

const SUFFIX = '.json'

/** Returns the folder of the checkpoints that resumes read. */
export function runsFolder(stateDir: string): string {
  return join(stateDir, 'runs')
}

export function checkpointPath(stateDir: string, key: string): string {
  return join(runsFolder(stateDir), key + SUFFIX)
}

/** Makes the folder if missing. Throws SluiceError STATE_UNWRITABLE. */
export async function prepareStateDir(stateDir: string): Promise<void> {
  const folder = runsFolder(stateDir)
  try {
    await makeFolder(folder)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw stateUnwritable(folder, error)
  }
}

/**
 * Replaces the checkpoint. After a crash the file is either the old one or the new one. Resolves when the checkpoint
 * is on the disk. Throws SluiceError STATE_UNWRITABLE.
 */
export async function writeCheckpoint(path: string, checkpoint: Checkpoint): Promise<void> {
  try {
    await writeJson(path, checkpoint)
  } catch (error) {
    throw stateUnwritable(path, error)
  }
}

/** Returns undefined if there is no checkpoint. Throws SluiceError STATE_UNREADABLE. */
export async function readCheckpoint(path: string): Promise<Checkpoint | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw fail('STATE_UNREADABLE', { path, problem: diskProblem(error) }, { cause: error })
  }
  const read = parseCheckpoint(text)
  if (typeof read === 'string') throw fail('STATE_UNREADABLE', { path, problem: read })
  return read
}

/**
 * Returns the paths of all checkpoints of a folder, none if the folder is missing. Throws SluiceError
 * STATE_UNREADABLE.
 */
export async function checkpointPaths(folder: string): Promise<string[]> {
  return (await namesIn(folder)).filter(name => name.endsWith(SUFFIX)).map(name => join(folder, name))
}

/** Throws SluiceError STATE_UNWRITABLE. */
export async function removeCheckpoint(path: string): Promise<void> {
  try {
    const left = (await namesIn(dirname(path))).filter(name => name.startsWith(`${basename(path)}.`))
    for (const name of [basename(path), ...left]) await rm(join(dirname(path), name), { force: true })
  } catch (error) {
    throw stateUnwritable(path, error)
  }
}

/** Returns no names if the folder is missing. Throws SluiceError STATE_UNREADABLE. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw fail('STATE_UNREADABLE', { path: folder, problem: diskProblem(error) }, { cause: error })
  }
}

/** Makes the failure for any file of the state folder. */
export function stateUnwritable(path: string, error: unknown): SluiceError {
  return fail('STATE_UNWRITABLE', { path, problem: diskProblem(error) }, { cause: error })
}
