import {
  access as accessWithCallback,
  constants,
  type Dirent,
  lstat as lstatWithCallback,
  readdir as readdirWithCallback,
  type Stats,
} from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, isAbsolute, join, normalize, resolve } from 'node:path'
import { promisify } from 'node:util'
import { fail, SluiceError } from '../../base/failure/failure.js'
import type { FileStat, Source } from '../../base/flow.js'
import { fileStat } from '../../base/checksum/checksum.js'
import { cannotRead, codeOf } from './read-file.js'
import type { CuttableInput, SeenInput } from './stored-file.js'

export interface FoundFile {
  /** As the user knows it. */
  readonly name: string
  /** `device`: anything else that can be read, such as files in /dev and /proc. */
  readonly kind: 'file' | 'fifo' | 'stdin' | 'device' | 'elsewhere'
  /** The number of its file system. */
  readonly device: number
  /** The inode: the same number for all names of a file on its device. 0 on file systems without inodes. */
  readonly inode: number
  /** Whether the name is that of a symbolic link. */
  readonly isLink?: boolean
  /** Set for a `file`. */
  readonly stat?: FileStat
  /** Set if it is not in a file system: makes the input with this id. */
  readonly open?: (id: number) => Source
}

/** Finds inputs that are not in a file system. */
export interface Elsewhere {
  has(name: string): boolean
  /**
   * Finds what is behind a name, in order, or as its server lists it. Throws SluiceError INPUT_NOT_FOUND if there is nothing, or why it
   * cannot be read.
   */
  find(name: string, order?: Order): AsyncIterable<FoundFile>
  /** Forgets the inputs that were made so far. Their ids may be those of others then. */
  forget(): void
  /** Returns an object that somebody else has seen, without asking for it. Throws SluiceError if it cannot be asked for. */
  known(id: number, name: string, seen: SeenInput): Promise<CuttableInput>
  /** Returns whether the object of an earlier load is still behind its name. Returns true also if that cannot be known. */
  isThere(name: string, seen: SeenObject): Promise<boolean>
}

/** What an earlier load saw of an object. */
export interface SeenObject {
  /** Stands for its ETag. 0 without one. */
  readonly etagNumber: number
  /** First bytes, as stored, and their checksum. Absent: not known. */
  readonly begins?: { readonly bytes: number; readonly sum: string } | undefined
}

/** `listed`: the first one comes before the last one is found, so that very many need no memory. */
type Order = 'sorted' | 'listed'

interface Where {
  readonly elsewhere?: Elsewhere | undefined
  /** The folder of relative names. */
  readonly folder: string
  /** Hears which symbolic links a glob matches that lead nowhere. */
  readonly warn?: ((message: string) => void) | undefined
}

interface WithStdin {
  /** Whether there is a stdin to read. */
  readonly stdin: boolean
  /** Of what is elsewhere. */
  readonly order?: Order
}

// The functions of node:fs/promises take more CPU, and a glob may match very many files.
const access = promisify(accessWithCallback)
const lstat: (path: string) => Promise<Stats> = promisify(lstatWithCallback)
const readdir: (path: string, options: { withFileTypes: true }) => Promise<Dirent[]> = promisify(readdirWithCallback)

/** Files of a glob that are checked at once. */
const AT_ONCE = 32

/**
 * Finds the files behind paths, globs and `-`, and checks that they can be read. Keeps the given order, sorts the files of a glob.
 * A file with several names is found once, under its first name.
 */
export async function* findFiles(names: readonly string[], where: Where & WithStdin): AsyncGenerator<FoundFile> {
  // A list names each object once.
  const isOneList = where.order === 'listed' && names.length === 1 && where.elsewhere?.has(names[0] ?? '') === true
  const isNew = isOneList ? () => true : filesOnce(where.folder)
  const named = new Set(names.map(name => normalize(name)))
  for (const name of names) {
    for await (const file of find(name, { ...where, named })) if (isNew(file)) yield file
  }
}

/** Finds files by their paths as they stand. A file with several names is found once, under its first name. */
export async function* listedFiles(names: readonly string[], { folder, elsewhere }: Where): AsyncGenerator<FoundFile> {
  const isNew = filesOnce(folder)
  const listed = async (name: string) =>
    elsewhere?.has(name) === true ? await all(elsewhere.find(name)) : [await checkNamed(name, folder)]
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE).map(listed)
    for (const files of await Promise.all(some)) for (const file of files) if (isNew(file)) yield file
  }
}

async function all(files: AsyncIterable<FoundFile>): Promise<FoundFile[]> {
  const found: FoundFile[] = []
  for await (const file of files) found.push(file)
  return found
}

interface Search extends Where, WithStdin {
  /** All names that were given. */
  readonly named: ReadonlySet<string>
}

async function* find(
  name: string,
  { folder, elsewhere, stdin, named, order, warn }: Search,
): AsyncGenerator<FoundFile> {
  if (elsewhere?.has(name) === true) return yield* elsewhere.find(name, order)
  // Stdin may be a socket, which cannot be opened again by this path.
  if (stdin && (name === '-' || name === '/dev/stdin')) {
    yield { name, kind: 'stdin', device: -1, inode: -1 }
    return
  }
  if (name === '-') throw unreadable(name, 'there is no standard input')
  const matches = await expand(name, folder)
  if (!meansItself(name, matches, named) || (await isGone(resolve(folder, name)))) {
    let isFound = false
    const lost = (link: string) => warn?.(`${name} matches the symbolic link ${link}, which leads nowhere`)
    for await (const file of checkMatches(matches, folder, lost)) {
      isFound = true
      yield file
    }
    if (isFound) return
  }
  yield await checkNamed(name, folder)
}

/** Returns a function that returns true if a file was not found before. */
function filesOnce(folder: string): (file: FoundFile) => boolean {
  const seen = new Map<number, Set<number | string>>()
  return ({ device, inode, name }) => {
    const files = seen.get(device) ?? new Set()
    seen.set(device, files)
    const before = files.size
    return files.add(inode === 0 ? resolve(folder, name) : inode).size > before
  }
}

/**
 * A name with wildcard characters means itself only if it matches nothing else. What is named as well does not count: a shell that
 * expands a glob passes on all its files, also one with such characters.
 */
function meansItself(name: string, matches: readonly string[], named: ReadonlySet<string>): boolean {
  return matches.every(match => match === name || named.has(match))
}

async function checkNamed(name: string, folder: string): Promise<FoundFile> {
  try {
    return await check(name, folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && name.includes(UNKNOWN)) throw notUtf8(name)
    const [, archive, inside] = codeOf(error) === 'ENOTDIR' ? (IN_ARCHIVE.exec(name) ?? []) : []
    if (archive !== undefined)
      throw unreadable(
        name,
        `${archive} is an archive, and ${inside} is a file in it. Pass ${archive} with --members '${inside}'`,
      )
    throw cannotRead(name, error)
  }
}

const IN_ARCHIVE = /^(.+?\.(?:zip|tar|tgz|tar\.\w+))\/(.+)$/i

/** Checks one path. Throws the file system's own error if nothing is there. */
async function check(name: string, folder: string): Promise<FoundFile> {
  const path = resolve(folder, name)
  const named = await lstat(path)
  const isLink = named.isSymbolicLink()
  const status = isLink ? await stat(path) : named
  if (status.isDirectory())
    throw unreadable(name, `it is a directory. Pass its files with a glob, such as '${join(name, '*.ndjson')}'`)
  if (status.isSocket() || status.isBlockDevice()) throw unreadable(name, 'it is not a file')
  await access(path, constants.R_OK)
  const { dev: device, ino: inode } = status
  if (!status.isFile()) return { name, kind: status.isFIFO() ? 'fifo' : 'device', device, inode }
  return { name, kind: 'file', stat: fileStat(status), device, inode, isLink }
}

/** Leaves out files that were deleted after they were listed, and links that lead nowhere. `lost`: hears of these links. */
async function* checkMatches(
  matches: readonly string[],
  folder: string,
  lost: (link: string) => void,
): AsyncGenerator<FoundFile> {
  for (let at = 0; at < matches.length; at += AT_ONCE) {
    const some = matches.slice(at, at + AT_ONCE).map(async match => await checkMatch(match, folder, lost))
    for (const file of await Promise.all(some)) if (file !== undefined) yield file
  }
}

async function checkMatch(name: string, folder: string, lost: (link: string) => void): Promise<FoundFile | undefined> {
  try {
    return await check(name, folder)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw cannotRead(name, error)
    if (!(await isGone(resolve(folder, name)))) lost(name)
    else if (name.includes(UNKNOWN)) throw notUtf8(name)
    return undefined
  }
}

/** A symbolic link that leads nowhere is not gone, but what it leads to is (`look`: stat). */
async function isGone(path: string, look: (path: string) => Promise<unknown> = lstat): Promise<boolean> {
  return await look(path).then(
    () => false,
    error => codeOf(error) === 'ENOENT',
  )
}

/**
 * Lists the files that a glob matches, absolute if the glob is. Returns none if the name is no glob. The search starts in the
 * glob's own leading folders: with `../**` or an absolute glob, a search in `cwd` would miss files.
 */
async function expand(pattern: string, cwd: string): Promise<string[]> {
  // A load of files by name does not need the package.
  if (!/[*?[\]{}()!+@|\\]/.test(pattern)) return []
  const { glob, isDynamicPattern } = await import('tinyglobby')
  if (!isDynamicPattern(pattern)) return []
  const parts = pattern.split('/')
  const plain = parts.findIndex(part => /[*?[{(!\\]/.test(part))
  const folder = parts.slice(0, plain).join('/') || (isAbsolute(pattern) ? '/' : '')
  const rest = parts.slice(plain).join('/')
  let unread: SluiceError | undefined
  const list = (path: string, options: { withFileTypes: true }, done: Listed) => {
    listFolder(path, options).then(
      found => done(null, found),
      (error: NodeJS.ErrnoException) => {
        unread ??= folderProblem(path, error)
        done(error, [])
      },
    )
  }
  const fs = { readdir: list as unknown as typeof readdirWithCallback }
  const matches = await glob(rest, { cwd: resolve(cwd, folder), expandDirectories: false, fs })
  if (unread !== undefined) throw unread
  const asked = parts.at(-1)?.startsWith(deadLetters) === true
  const inputs = matches.filter(match => asked || !basename(match).startsWith(deadLetters))
  return inputs.toSorted(byName).map(match => flat(join(folder, match)))
}

/**
 * Lists a folder. The package leaves out links that lead nowhere. It takes these here for files, so that it says which of them the glob
 * matches.
 */
async function listFolder(folder: string, options: { withFileTypes: true }): Promise<Dirent[]> {
  const found = await readdir(folder, options)
  if (!found.some(one => one.isSymbolicLink())) return found
  const seen = found.map(async one => {
    const isLost = one.isSymbolicLink() && (await isGone(join(folder, one.name), stat))
    return isLost ? Object.assign(Object.create(one) as Dirent, asFile) : one
  })
  return await Promise.all(seen)
}

const asFile = { isFile: () => true, isSymbolicLink: () => false }

type Listed = (error: NodeJS.ErrnoException | null, found: Dirent[]) => void

/** Returns the problem of a folder whose files a glob would miss. Undefined: it is no folder, or it was deleted. */
function folderProblem(path: string, error: unknown): SluiceError | undefined {
  const code = codeOf(error)
  if (code === 'ENOENT' && path.includes(UNKNOWN)) return unreadable(path, 'its name is not UTF-8. Rename the folder')
  return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : cannotRead(path, error)
}

/** Stands for what is not UTF-8 in the name of a file or folder. No call of the system finds a file by such a name. */
const UNKNOWN = '\ufffd'

/**
 * Begins the default name of a file of dead letters. It often lies beside the inputs. A glob of the next run must not load it as
 * documents, unless the glob asks for it.
 */
const deadLetters = 'sluice-dead-letters-'

/** Returns the same text in one piece: V8 would keep the parts that it is joined of, too. */
function flat(text: string): string {
  return Buffer.from(text).toString()
}

function notUtf8(name: string): SluiceError {
  return unreadable(name, 'its name is not UTF-8. Rename the file')
}

function unreadable(input: string, problem: string): SluiceError {
  return fail('INPUT_UNREADABLE', { input, problem })
}

/**
 * Compares names as people number files: `part-2` comes before `part-10`. The order is the same on every machine, whatever its locale.
 * `part-02` and `part-2` stand side by side, and other characters go by their code units.
 */
export function byName(a: string, b: string): number {
  let at = 0
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1
  let start = at
  while (start > 0 && isDigit(a, start - 1)) start -= 1
  const inA = digitsFrom(a, start)
  const inB = digitsFrom(b, start)
  // Leading zeros do not count, so the longer number is the larger one.
  const difference = inA === '' || inB === '' ? 0 : inA.length - inB.length || byCodeUnit(inA, inB)
  return difference || byCodeUnit(a.slice(at), b.slice(at))
}

/** Returns the number that begins there, without leading zeros except for the last digit. */
function digitsFrom(text: string, start: number): string {
  let end = start
  while (isDigit(text, end)) end += 1
  while (start < end - 1 && text[start] === '0') start += 1
  return text.slice(start, end)
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 48 && code <= 57
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
