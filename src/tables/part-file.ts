/**
 * Writes a file of rows that appears only when it is complete. Until then its rows are in the folder FILE.part, and
 * the same pull can continue there.
 */
import { createReadStream } from 'node:fs'
import { type FileHandle, open, readFile, realpath, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fail } from '../failure/fail.js'
import { diskProblem } from '../disk/disk-problem.js'
import { SluiceError } from '../failure/sluice-error.js'
import type { Place } from '../flow.js'
import { InputLocks } from '../state/lock.js'
import { makeFolder, syncFolder } from '../disk/folders.js'
import { placeBehind, type RowsSoFar, rowsSoFar } from '../servicenow/table/rows-so-far.js'
import { writeJson } from '../disk/json-file.js'
import { parseObject } from '../text/parse-json.js'

const VERSION = 1
const ROWS = 'rows.ndjson'
/** The selection and the start of the reading. Written before the first row. */
const READING = 'reading.json'

/** Options that must be equal to continue a pull. Shown if they differ. */
export type Selection = Readonly<Record<string, string>>

interface Reading {
  readonly version: number
  readonly selection: Selection
  /** The place where the reading began. */
  readonly start: Place
}

/** Belongs to one process at a time. Disposal leaves the folder for the next one. */
export class PartFile implements AsyncDisposable {
  /** Rows that an earlier process wrote. */
  readonly before: RowsSoFar
  /** The place where reading continues. Undefined: reading begins. */
  readonly place: Place | undefined
  readonly #path: string
  readonly #folder: string
  readonly #selection: Selection
  readonly #locks: InputLocks
  readonly #file: FileHandle
  #isTold: boolean
  #bytes: number

  private constructor(
    path: string,
    selection: Selection,
    locks: InputLocks,
    file: FileHandle,
    before: RowsSoFar,
    start: Place | undefined,
  ) {
    this.#path = path
    this.#folder = partOf(path)
    this.#selection = selection
    this.#locks = locks
    this.#file = file
    this.before = before
    this.place = start === undefined ? undefined : placeBehind(start, before)
    this.#isTold = start !== undefined
    this.#bytes = before.bytes
  }

  /** Throws SluiceError OUTPUT_UNWRITABLE, OPTION_INVALID, RUN_LOCKED, STATE_UNREADABLE. */
  static async open(output: string, selection: Selection): Promise<PartFile> {
    const path = await realpath(output).catch(() => resolve(output))
    const folder = partOf(path)
    await checkPath(path, folder)
    const locks = await lockFolder(folder, output)
    let file: FileHandle | undefined
    try {
      const start = await readStart(folder, selection)
      file = await open(join(folder, ROWS), 'a', 0o600)
      const before = await rowsSoFar(createReadStream(join(folder, ROWS)))
      await file.truncate(before.bytes)
      return new PartFile(path, selection, locks, file, before, start)
    } catch (error) {
      await file?.close()
      await locks[Symbol.asyncDispose]()
      throw unwritable(path, error)
    }
  }

  /** Bytes so far, with those that an earlier process wrote. */
  get bytes(): number {
    return this.#bytes
  }

  /** Call this before the first row. Throws SluiceError OUTPUT_UNWRITABLE. */
  async begin(start: Place): Promise<void> {
    if (this.#isTold) return
    const reading: Reading = { version: VERSION, selection: this.#selection, start }
    await writeJson(join(this.#folder, READING), reading).catch((error: unknown) => {
      throw unwritable(this.#path, error)
    })
    this.#isTold = true
  }

  /** Appends whole lines. Throws SluiceError OUTPUT_UNWRITABLE: the next pull cuts off a torn line. */
  async append(lines: Uint8Array): Promise<void> {
    try {
      await this.#file.appendFile(lines)
      this.#bytes += lines.length
    } catch (error) {
      throw unwritable(this.#path, error)
    }
  }

  /** All rows are there: FILE is replaced as a whole. Throws SluiceError OUTPUT_UNWRITABLE. */
  async finish(): Promise<void> {
    try {
      await this.#file.sync()
      await rename(join(this.#folder, ROWS), this.#path)
      await syncFolder(dirname(this.#path))
      // Also removes files that killed processes left in the folder.
      await rm(this.#folder, { recursive: true, force: true })
    } catch (error) {
      throw unwritable(this.#path, error)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close()
    // Without a reading there is nothing to continue.
    if (!this.#isTold) await rm(join(this.#folder, ROWS), { force: true }).catch(() => undefined)
    await this.#locks[Symbol.asyncDispose]()
    await rmdir(this.#folder).catch(() => undefined)
  }
}

function partOf(path: string): string {
  return `${path}.part`
}

async function checkPath(path: string, folder: string): Promise<void> {
  const wrong = (problem: string) => fail('OUTPUT_UNWRITABLE', { path, problem })
  const known = await stat(path).catch(() => undefined)
  if (known?.isDirectory() === true) throw wrong('it is a directory')
  if (known?.isFile() === false) throw wrong('it is a device or a pipe, not a file')
  const part = await stat(folder).catch(() => undefined)
  if (part?.isDirectory() === false) throw wrong(`${folder} is in the way, and no pull created it`)
  // The folder above is the user's to make.
  await stat(dirname(path)).catch((error: unknown) => {
    throw unwritable(path, error)
  })
  await makeFolder(folder).catch((error: unknown) => {
    throw unwritable(path, error)
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
    throw unreadable(path, `it is missing, and ${ROWS} has rows of an unknown pull: remove ${folder}`)
  const { selection: begun, start } = parse(text, path)
  const names = [...new Set([...Object.keys(begun), ...Object.keys(selection)])]
  const differences = names
    .filter(name => begun[name] !== selection[name])
    .map(name => `${name} was ${shown(begun[name])} and is ${shown(selection[name])}`)
  if (differences.length === 0) return start
  const problem = `${folder} holds an unfinished pull with other options (${differences.join(', ')}): run that command again, or remove the folder`
  throw fail('OPTION_INVALID', { option: 'output', problem })
}

function parse(text: string, path: string): Reading {
  const reading = parseObject(text) as Partial<Reading> | undefined
  if (reading?.version === VERSION && typeof reading.selection === 'object' && typeof reading.start === 'object')
    return reading as Reading
  throw unreadable(path, 'this version does not understand it: remove its folder')
}

function shown(value: string | undefined): string {
  return value === undefined || value === '' ? 'not set' : value
}

function unreadable(path: string, problem: string): SluiceError {
  return fail('STATE_UNREADABLE', { path, problem })
}

function unwritable(path: string, error: unknown): SluiceError {
  if (error instanceof SluiceError) return error
  return fail('OUTPUT_UNWRITABLE', { path, problem: diskProblem(error) }, { cause: error })
}
