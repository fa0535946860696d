/** Writes files that survive a crash: a file is the old one or the new one as a whole. Names what the disk refuses. */
import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fail, type SluiceError } from '../failure/failure.js'
import { type JsonObject, parseObject } from '../json/parse-json.js'

/** Resolves when the value is on the disk. Throws errors of the file system. */
export async function writeJson(path: string, value: object, lasting = true): Promise<void> {
  await replaceFile(path, `${JSON.stringify(value)}\n`, { lasting })
}

/**
 * Keeps a value for the next run, if it can: without the file the next run finds out for itself. `lasting`: also after a loss of
 * power.
 */
export async function rememberJson(path: string, version: number, value: object, lasting = true): Promise<void> {
  try {
    await makeFolder(dirname(path))
    await writeJson(path, { version, ...value }, lasting)
  } catch {
    // A file that cannot be written must not end a load.
  }
}

/** Returns what an earlier run kept. Returns nothing if the file is missing, unreadable or of another version. */
export async function recallJson(path: string, version: number): Promise<JsonObject> {
  try {
    const kept = parseObject(await readFile(path))
    return kept?.['version'] === version ? kept : {}
  } catch {
    return {}
  }
}

/**
 * Replaces a file as a whole, by default only for its owner. Resolves when the new file is on the disk, or if it need not last, when it
 * has its name. Rejects with the error of the file system.
 */
export async function replaceFile(
  path: string,
  text: string | Iterable<string>,
  { mode = 0o600, lasting = true }: { readonly mode?: number; readonly lasting?: boolean } = {},
): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`
  try {
    const file = await open(temporary, 'wx', mode)
    try {
      for (const part of typeof text === 'string' ? [text] : text) await file.writeFile(part)
      if (lasting) await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
    if (lasting) await syncFolder(dirname(path))
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}

/**
 * Makes a folder and the folders above it, only for their owner. Makes them one by one: Node's recursive way never
 * returns if a file system allows no new folders (/proc). Rejects with the error of the file system.
 */
export async function makeFolder(path: string): Promise<void> {
  const above = dirname(path)
  try {
    await make(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error
    await makeFolder(above)
    await make(path).catch((again: unknown) => {
      const { code } = again as NodeJS.ErrnoException
      throw code === 'ENOENT' ? new Error(`no folder can be made in ${above}`, { cause: again }) : again
    })
  }
}

async function make(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    // Systems report an existing folder with different errors.
    const isThere = await stat(path).then(
      found => found.isDirectory(),
      () => false,
    )
    if (!isThere) throw error
  }
}

/** Makes the names of new and renamed files in a folder last. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } catch (error) {
    // Some file systems know no such thing.
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw error
  } finally {
    await folder.close()
  }
}

/** Returns an error of the file system in words, or its code if there are none. */
export function diskProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return (code === undefined ? undefined : problems[code]) ?? code ?? message
}

const problems: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOENT: 'the folder does not exist',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EEXIST: 'a part of its path is a file, not a folder',
  EISDIR: 'it is a directory',
  EFBIG: 'the file would be larger than this process may write',
}

/** Makes the failure for any file of the state folder. */
export function stateUnwritable(path: string, error: unknown): SluiceError {
  return fail('STATE_UNWRITABLE', { path, problem: diskProblem(error) }, { cause: error })
}
