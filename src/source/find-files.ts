import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, resolve } from 'node:path'
import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'
import type { Input } from '../flow.js'
import { cannotRead, codeOf } from './cannot-read.js'

export interface FoundFile extends Input {
  /** Absolute. */
  readonly path: string
  /** `device`: anything else that can be read, such as files in /dev and /proc. */
  readonly kind: 'file' | 'fifo' | 'stdin' | 'device'
}

type Found = Omit<FoundFile, 'id'>

interface Where {
  readonly cwd: string | undefined
  /** Whether there is a stdin to read. */
  readonly stdin: boolean
}

/** Finds the files behind paths, globs and `-`, and checks that they can be read. Keeps the given order, sorts the files of a glob, drops repetitions. */
export async function findFiles(names: readonly string[], { cwd = '.', stdin }: Where): Promise<FoundFile[]> {
  const found = new Map<string, Found>()
  for (const name of names) {
    for (const file of await find(name, resolve(cwd), stdin)) {
      if (!found.has(file.path)) found.set(file.path, file)
    }
  }
  return [...found.values()].map((file, id) => ({ id, ...file }))
}

async function find(name: string, cwd: string, stdin: boolean): Promise<Found[]> {
  // Stdin may be a socket, which cannot be opened again by this path.
  if (stdin && (name === '-' || name === '/dev/stdin')) return [{ name, path: '/dev/stdin', kind: 'stdin' }]
  if (name === '-') throw unreadable(name, 'there is no standard input')
  try {
    return [await check(name, cwd)]
  } catch (error) {
    const matches = isMissing(error) ? await expand(name, cwd) : []
    if (matches.length === 0) throw cannotRead(name, error)
    return Promise.all(matches.map(match => checkMatch(match, cwd)))
  }
}

/** Checks one path. Throws the file system's own error if nothing is there. */
async function check(name: string, cwd: string): Promise<Found> {
  const path = resolve(cwd, name)
  const status = await stat(path)
  if (status.isDirectory())
    throw unreadable(name, `it is a directory: pass its files with a glob, such as '${join(name, '*.ndjson')}'`)
  if (status.isSocket() || status.isBlockDevice()) throw unreadable(name, 'it is not a file')
  await access(path, constants.R_OK)
  return { name, path, kind: status.isFIFO() ? 'fifo' : status.isFile() ? 'file' : 'device' }
}

async function checkMatch(name: string, cwd: string): Promise<Found> {
  try {
    return await check(name, cwd)
  } catch (error) {
    throw cannotRead(name, error)
  }
}

/**
 * Lists the files that a glob matches, absolute if the glob is. Returns none if the name is no glob. The search starts in the
 * glob's own leading folders: with `../**` or an absolute glob, a search in `cwd` would miss files.
 */
async function expand(pattern: string, cwd: string): Promise<string[]> {
  // A load of files by name does not need it.
  const { glob, isDynamicPattern } = await import('tinyglobby')
  if (!isDynamicPattern(pattern)) return []
  const parts = pattern.split('/')
  const plain = parts.findIndex(part => /[*?[{(!\\]/.test(part))
  const folder = parts.slice(0, plain).join('/') || (isAbsolute(pattern) ? '/' : '')
  const rest = parts.slice(plain).join('/')
  const matches = await glob(rest, { cwd: resolve(cwd, folder), expandDirectories: false })
  const asked = parts.at(-1)?.startsWith(deadLetters) === true
  const inputs = matches.filter(match => asked || !basename(match).startsWith(deadLetters))
  return inputs.toSorted(byCodeUnit).map(match => join(folder, match))
}

/**
 * Begins the default name of a file of dead letters. It often lies beside the inputs. A glob of the next run must not load it as
 * documents, unless the glob asks for it.
 */
const deadLetters = 'sluice-dead-letters-'

/** Sorts the same way on every machine, whatever its locale. */
function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function isMissing(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG'
}

function unreadable(input: string, problem: string): SluiceError {
  return fail('INPUT_UNREADABLE', { input, problem })
}
