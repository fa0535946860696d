/** The inputs that a process loads, in a file of its own. Other processes read it before they claim theirs. */
import { open, realpath, rm } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import type { Source, StoredFile } from '../../../base/flow.js'
import { isObject, parseJson } from '../../../base/json/parse-json.js'

/** Files of one line. */
const FILES_OF_LINE = 100
/** Lines that are made at once. */
const LINES_AT_ONCE = 32

export interface Claiming {
  /** URL, without credentials. */
  readonly cluster: string
  readonly index: string
  /** Only files and tables are claimed. No other process can read anything else. */
  readonly sources: readonly Source[]
  /** URL of the instance whose tables are read, without credentials. */
  readonly instance?: string | undefined
  /** The folder that holds stdin. Only one process may use it, for whatever index. */
  readonly folder?: string | undefined
}

/** The first line of the file. */
interface Head {
  readonly cluster: string
  readonly index: string
  readonly folder?: string | undefined
  /** Each with its instance. */
  readonly tables: readonly string[]
}

/** A line of files in one folder. */
interface Files {
  /** Its real path: other processes may reach it through a link. */
  readonly folder: string
  readonly device: number
  readonly inodes: number[]
  readonly names: string[]
}

/** Inputs by what shows that they are the same. The values are their names. */
interface Known {
  readonly byInode: ReadonlyMap<number, ReadonlyMap<number, string>>
  readonly byPath: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** A file that this process wants to load. */
interface OwnFile {
  /** Its name, for messages. */
  readonly name: string
  readonly file: StoredFile
}

/** The inputs that this process wants to load. Two files are one input if they have the same inode or the same path. */
export class Claims {
  readonly #head: Head
  readonly #tables: ReadonlyMap<string, string>
  readonly #files: readonly OwnFile[]
  /** The real path of each folder. */
  readonly #folders: ReadonlyMap<string, string>
  readonly #text: readonly Buffer[]
  #known: Known | undefined

  private constructor(
    head: Head,
    tables: ReadonlyMap<string, string>,
    files: readonly OwnFile[],
    folders: ReadonlyMap<string, string>,
    text: readonly Buffer[],
  ) {
    this.#head = head
    this.#tables = tables
    this.#files = files
    this.#folders = folders
    this.#text = text
  }

  static async of({ cluster, index, sources, instance = '', folder }: Claiming): Promise<Claims> {
    const tables = new Map(
      sources.flatMap(({ name, cursor }) => (cursor === undefined ? [] : [[`${name} ${instance}`, name] as const])),
    )
    const files = sources.filter((one): one is Source & OwnFile => one.file !== undefined && one.cursor === undefined)
    const stdin = folder === undefined ? undefined : resolve(folder)
    const head = { cluster, index, folder: stdin, tables: [...tables.keys()] }
    const folders = new Map<string, string>()
    const text = [Buffer.from(`${JSON.stringify(head)}\n`)]
    for (const lines of inParts(linesAbout(files))) {
      await addRealPaths(folders, lines)
      text.push(
        Buffer.from(lines.map(one => `${JSON.stringify({ ...one, folder: folders.get(one.folder) })}\n`).join('')),
      )
    }
    return new Claims(head, tables, files, folders, text)
  }

  get isEmpty(): boolean {
    return this.#head.folder === undefined && this.#tables.size === 0 && this.#files.length === 0
  }

  /** The name of one of them, for messages. */
  get first(): string {
    const [table = this.#files[0]?.name ?? '-'] = this.#tables.values()
    return table
  }

  /** Writes the file. Leaves none if it cannot be written. Throws errors of the file system. */
  async write(path: string): Promise<void> {
    const file = await open(path, 'wx', 0o600)
    try {
      for (const part of this.#text) await file.appendFile(part)
    } catch (error) {
      await rm(path, { force: true }).catch(() => undefined)
      throw error
    } finally {
      await file.close()
    }
  }

  /**
   * Returns the name of an input that is also in the file of another process. If that file cannot be understood, it may name any.
   * `isSameMachine`: files of that process have the same numbers. `isSameCluster`: also if its URL is another one.
   */
  sharedWith(text: Buffer, isSameMachine: boolean, isSameCluster = false): string | undefined {
    const lines = linesOf(text)
    const { value: head } = lines.next()
    if (!isHead(head)) return this.first
    if (head.folder !== undefined && head.folder === this.#head.folder) return '-'
    if (head.index !== this.#head.index || (head.cluster !== this.#head.cluster && !isSameCluster)) return undefined
    for (const table of head.tables) {
      const name = this.#tables.get(table)
      if (name !== undefined) return name
    }
    this.#known ??= knownBy(this.#files, this.#folders)
    for (const files of lines) {
      const shared = isFiles(files) ? sharedFile(files, this.#known, isSameMachine) : this.first
      if (shared !== undefined) return shared
    }
    return undefined
  }
}

function sharedFile(
  { folder, device, inodes, names }: Files,
  { byInode, byPath }: Known,
  isSameMachine: boolean,
): string | undefined {
  const inFolder = byPath.get(folder)
  const onDevice = isSameMachine ? byInode.get(device) : undefined
  if (inFolder === undefined && onDevice === undefined) return undefined
  for (const [at, name] of names.entries()) {
    const shared = inFolder?.get(name) ?? onDevice?.get(inodes[at] ?? 0)
    if (shared !== undefined) return shared
  }
  return undefined
}

function knownBy(files: readonly OwnFile[], folders: ReadonlyMap<string, string>): Known {
  const byInode = new Map<number, Map<number, string>>()
  const byPath = new Map<string, Map<string, string>>()
  for (const { name, file, folder, base } of inFolders(files)) {
    const { device, stat } = file
    // Some file systems number no files.
    if (stat.inode !== 0) innerMap(byInode, device).set(stat.inode, name)
    innerMap(byPath, folders.get(folder) ?? folder).set(base, name)
  }
  return { byInode, byPath }
}

function innerMap<K, L>(outer: Map<K, Map<L, string>>, key: K): Map<L, string> {
  const inner = outer.get(key) ?? new Map<L, string>()
  outer.set(key, inner)
  return inner
}

/** Describes files in lines. */
function* linesAbout(files: readonly OwnFile[]): Generator<Files> {
  let line: Files | undefined
  for (const { file, folder, base } of inFolders(files)) {
    const isNext = line?.folder === folder && line.device === file.device && line.names.length < FILES_OF_LINE
    if (!isNext || line === undefined) {
      if (line !== undefined) yield line
      line = { folder, device: file.device, inodes: [], names: [] }
    }
    line.inodes.push(file.stat.inode)
    line.names.push(base)
  }
  if (line !== undefined) yield line
}

function* inParts(lines: Iterable<Files>): Generator<readonly Files[]> {
  let part: Files[] = []
  for (const line of lines) {
    part.push(line)
    if (part.length < LINES_AT_ONCE) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}

/** Splits paths. Files that follow each other are mostly of one folder, whose path is made once. */
function* inFolders(
  files: readonly OwnFile[],
): Generator<OwnFile & { readonly folder: string; readonly base: string }> {
  let from: string | undefined
  let start = ''
  let folder = ''
  for (const { name, file } of files) {
    // Windows takes both.
    const end = Math.max(name.lastIndexOf('/'), name.lastIndexOf(sep)) + 1
    if (file.folder !== from || start.length !== end || !name.startsWith(start)) {
      from = file.folder
      start = name.slice(0, end)
      folder = resolve(from, start)
    }
    yield { name, file, folder, base: name.slice(end) }
  }
}

/** Finds the real path of each folder, once. */
async function addRealPaths(folders: Map<string, string>, lines: readonly Files[]): Promise<void> {
  const unknown = new Set(lines.map(({ folder }) => folder).filter(folder => !folders.has(folder)))
  await Promise.all([...unknown].map(async one => folders.set(one, await realpath(one).catch(() => one))))
}

function* linesOf(text: Buffer): Generator<unknown, undefined> {
  for (let from = 0, to = 0; from < text.length; from = to + 1) {
    to = text.indexOf(0x0a, from)
    if (to === -1) to = text.length
    yield parseJson(text.toString('utf8', from, to))
  }
}

function isHead(value: unknown): value is Head {
  return isObject(value) && typeof value['cluster'] === 'string' && Array.isArray(value['tables'])
}

function isFiles(value: unknown): value is Files {
  return (
    isObject(value) &&
    typeof value['folder'] === 'string' &&
    Array.isArray(value['inodes']) &&
    Array.isArray(value['names'])
  )
}
