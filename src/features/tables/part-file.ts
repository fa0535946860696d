/** Writes a file of rows. Until it is complete, its rows are in the folder FILE.part, and the same pull continues there. */
import { createReadStream } from 'node:fs'
import { open, readFile, realpath, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fail, SluiceError } from '../../base/failure/failure.js'
import { diskProblem, makeFolder, syncFolder, writeJson } from '../../base/disk/safe-files.js'
import type { Place } from '../../base/flow.js'
import { InputLocks } from '../../base/lock/lock.js'
import { placeBehind, type RowsSoFar, rowsSoFar } from './reading/rows-so-far.js'
import { parseObject } from '../../base/json/parse-json.js'

const VERSION = 1
const ROWS = 'rows.ndjson'
/** Written before the first row. */
const READING = 'reading.json'

/** Options that must be equal to continue a pull. */
export type Selection = Readonly<Record<string, string>>

interface Reading {
  readonly version: number
  readonly selection: Selection
  /** The place where the reading began. */
  readonly start: Place
}

/** Belongs to one process at a time. Disposal leaves the folder for the next one. Methods throw OUTPUT_UNWRITABLE. */
interface PartFile extends AsyncDisposable {
  /** Rows that an earlier process wrote. */
  readonly before: RowsSoFar
  /** Where reading continues. Undefined: reading begins. */
  readonly place: Place | undefined
  /** Includes the bytes of an earlier process. */
  readonly bytes: number
  /** Call this before the first row. */
  begin(start: Place): Promise<void>
  /** Appends whole lines. The next pull cuts off a torn line. */
  append(lines: Uint8Array): Promise<void>
  /** Replaces FILE as a whole, once all rows are there. */
  finish(): Promise<void>
}

/** Throws SluiceError OUTPUT_UNWRITABLE, OPTION_INVALID, RUN_LOCKED, STATE_UNREADABLE. */
export async function openPartFile(output: string, selection: Selection): Promise<PartFile> {
  const path = await realpath(output).catch(() => resolve(output))
  const folder = `${path}.part`
  await checkPath(path, folder)
  const locks = await lockFolder(folder, output)
  const { file, before, begun } = await openRows(folder, selection).catch(async (error: unknown) => {
    await locks[Symbol.asyncDispose]()
    throw unwritable(path, error)
  })
  let hasReading = begun !== undefined
  let { bytes } = before
  return {
    before,
    place: begun === undefined ? undefined : placeBehind(begun, before),
    get bytes() {
      return bytes
    },
    begin: async start => {
      if (hasReading) return
      const reading: Reading = { version: VERSION, selection, start }
      await writing(path, async () => await writeJson(join(folder, READING), reading))
      hasReading = true
    },
    append: async lines => {
      await writing(path, async () => await file.appendFile(lines))
      bytes += lines.length
    },
    finish: async () =>
      await writing(path, async () => {
        await file.sync()
        await rename(join(folder, ROWS), path)
        await syncFolder(dirname(path))
        // Also removes files that killed processes left in the folder.
        await rm(folder, { recursive: true, force: true })
      }),
    [Symbol.asyncDispose]: async () => {
      await file.close()
      // Without a reading there is nothing to continue.
      if (!hasReading) await rm(join(folder, ROWS), { force: true }).catch(() => undefined)
      await locks[Symbol.asyncDispose]()
      await rmdir(folder).catch(() => undefined)
    },
  }
}

async function openRows(folder: string, selection: Selection) {
  const begun = await readStart(folder, selection)
  const file = await open(join(folder, ROWS), 'a', 0o600)
  try {
    const before = await rowsSoFar(createReadStream(join(folder, ROWS)))
    await file.truncate(before.bytes)
    return { file, before, begun }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function checkPath(path: string, folder: string): Promise<void> {
  const wrong = (problem: string) => fail('OUTPUT_UNWRITABLE', { path, problem })
  const known = await stat(path).catch(() => undefined)
  if (known?.isDirectory() === true) throw wrong('it is a directory')
  if (known?.isFile() === false) throw wrong('it is a device or a pipe, not a file')
  const part = await stat(folder).catch(() => undefined)
  if (part?.isDirectory() === false) throw wrong(`${folder} already exists, and no pull created it`)
  await writing(path, async () => {
    // The user makes the folder above.
    await stat(dirname(path))
    await makeFolder(folder)
  })
}

async function lockFolder(folder: string, output: string): Promise<InputLocks> {
  const locks = await InputLocks.open(folder)
  try {
    const lock = join(folder, 'lock')
    const other = await locks.take(lock)
    if (other === undefined) return locks
    const { pid, host, since } = other
    const doing = 'written by another pull'
    throw fail('RUN_LOCKED', { input: output, doing, index: '', run: 'pull', pid, host, since, lock })
  } catch (error) {
    await locks[Symbol.asyncDispose]()
    throw error
  }
}

/** Returns undefined if nothing was written. Throws SluiceError OPTION_INVALID, STATE_UNREADABLE. */
async function readStart(folder: string, selection: Selection): Promise<Place | undefined> {
  const path = join(folder, READING)
  // The rows are also gone if a process was killed just after it moved the file into place.
  const rows = await stat(join(folder, ROWS)).catch(() => undefined)
  if (rows === undefined || rows.size === 0) return undefined
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (text === undefined)
    throw unreadable(path, `it is missing, and ${ROWS} holds rows of an unknown pull. Remove ${folder}`)
  const { selection: begun, start } = parse(text, path)
  const names = [...new Set([...Object.keys(begun), ...Object.keys(selection)])]
  const differences = names
    .filter(name => begun[name] !== selection[name])
    .map(name => `${name} was ${shown(begun[name])} but is now ${shown(selection[name])}`)
  if (differences.length === 0) return start
  const problem = `${folder} holds an unfinished pull with other options (${differences.join(', ')}). Run that command again, or remove the folder`
  throw fail('OPTION_INVALID', { option: 'output', problem })
}

function parse(text: string, path: string): Reading {
  const reading = parseObject(text) as Partial<Reading> | undefined
  if (reading?.version === VERSION && typeof reading.selection === 'object' && typeof reading.start === 'object')
    return reading as Reading
  throw unreadable(path, 'this version does not understand it. Remove its folder')
}

function shown(value: string | undefined): string {
  return value === undefined || value === '' ? 'not set' : value
}

function unreadable(path: string, problem: string): SluiceError {
  return fail('STATE_UNREADABLE', { path, problem })
}

async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw unwritable(path, error)
  }
}

function unwritable(path: string, error: unknown): SluiceError {
  if (error instanceof SluiceError) return error
  return fail('OUTPUT_UNWRITABLE', { path, problem: diskProblem(error) }, { cause: error })
}
