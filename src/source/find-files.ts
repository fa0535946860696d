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
  /** `device`: whatever else can be read, as /dev and /proc have it. */
  readonly kind: 'file' | 'fifo' | 'stdin' | 'device'
}

type Found = Omit<FoundFile, 'id'>

interface Where {
  readonly cwd: string | undefined
  /** Whether there is a stdin to read. */
  readonly stdin: boolean
}

/** Paths, globs and `-` to files that exist and may be read, in the order named, each once; a glob's own files are sorted. */
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
  // A pipe from a parent process may be a socket, which cannot be opened a second time by this path.
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

/** Throws the file system's own error where the path leads nowhere. */
async function check(name: string, cwd: string): Promise<Found> {
  const path = resolve(cwd, name)
  const status = await stat(path)
  if (status.isDirectory())
    throw unreadable(name, `it is a directory; name its files with a glob, such as '${join(name, '*.ndjson')}'`)
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
 * The files that a glob matches, named as the glob is: absolute or relative; none where the name is no glob. The search starts in
 * the glob's own plain leading folders, because one that starts below them (`../**`, an absolute glob) overlooks the files under `cwd`.
 */
async function expand(pattern: string, cwd: string): Promise<string[]> {
  // Of no use to a load of files that are named.
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
 * How the dead letters of a run are named by default. They lie where the run was started, often beside its inputs: the next
 * run's glob must not take them for documents, unless it asks for them by name.
 */
const deadLetters = 'sluice-dead-letters-'

/** The same order on every machine, whatever its locale. */
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
