import type { FileReading, FileStat } from '../../base/flow.js'
import { ReadAhead } from './read-ahead.js'
import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'

const COLUMNS = 7
/** Files of one piece of memory. A table that grew in one piece would be copied, and half empty. */
const FILES_AT_ONCE = 1024
const NAMES_BYTES = 64 << 10

/** Holds the name, size, inode and times of many files in little memory. */
export class FileTable {
  /** The folder that their names are relative to. */
  readonly folder: string
  /** The readings of the files that are open, or will soon be. */
  readonly readings = new Map<number, FileReading>()
  /** Those among them that are compressed. */
  readonly packed = new Set<number>()
  /** By id: throw if a file is not the one that somebody else has seen. */
  readonly checks = new Map<number, (stat: FileStat) => void>()
  readonly ahead = new ReadAhead()
  readonly real = new RealPaths()
  readonly #numbers: Float64Array[] = []
  /** Files that follow each other are mostly of one folder. */
  readonly #folders: { readonly prefix: string; readonly device: number; readonly path: string }[] = []
  readonly #names: Buffer[] = []
  /** Bytes of the last names that are in use. */
  #filled = NAMES_BYTES

  constructor(folder: string) {
    this.folder = folder
  }

  /** Forgets all files. */
  clear(): void {
    for (const part of [this.#numbers, this.#folders, this.#names]) part.length = 0
    this.#filled = NAMES_BYTES
  }

  set(id: number, name: string, device: number, { size, inode, mtimeMs, ctimeMs }: FileStat): void {
    const piece = Math.floor(id / FILES_AT_ONCE)
    const numbers = (this.#numbers[piece] ??= new Float64Array(COLUMNS * FILES_AT_ONCE))
    const at = (id % FILES_AT_ONCE) * COLUMNS
    const prefix = name.slice(0, name.lastIndexOf('/') + 1)
    const base = name.slice(prefix.length)
    const bytes = Buffer.byteLength(base)
    numbers.set([this.#folderOf(prefix, device), size, inode, mtimeMs, ctimeMs, this.#keep(base, bytes), bytes], at)
  }

  nameOf(id: number): string {
    const start = this.#number(id, 5)
    const names = this.#names[Math.floor(start / NAMES_BYTES)]
    const from = start % NAMES_BYTES
    const base = names?.toString('utf8', from, from + this.#number(id, 6)) ?? ''
    // In one piece: V8 would keep both parts, too.
    return [this.#folders[this.#number(id, 0)]?.prefix, base].join('')
  }

  /** Returns the absolute path. */
  pathOf(id: number): string {
    const name = this.nameOf(id)
    const { path, prefix } = this.#folders[this.#number(id, 0)] ?? {}
    // Windows has other separators, too.
    if (path === undefined || prefix === undefined || sep !== '/') return resolve(this.folder, name)
    return path + name.slice(prefix.length)
  }

  deviceOf(id: number): number {
    return this.#folders[this.#number(id, 0)]?.device ?? 0
  }

  statOf(id: number): FileStat {
    const column = (number: number) => this.#number(id, number)
    return { size: column(1), inode: column(2), mtimeMs: column(3), ctimeMs: column(4) }
  }

  #number(id: number, column: number): number {
    return this.#numbers[Math.floor(id / FILES_AT_ONCE)]?.[(id % FILES_AT_ONCE) * COLUMNS + column] ?? 0
  }

  #folderOf(prefix: string, device: number): number {
    const last = this.#folders.at(-1)
    if (last?.prefix !== prefix || last.device !== device)
      this.#folders.push({ prefix, device, path: join(resolve(this.folder, prefix), sep) })
    return this.#folders.length - 1
  }

  /** Returns where the name begins. */
  #keep(name: string, bytes: number): number {
    if (this.#filled + bytes > NAMES_BYTES) {
      this.#names.push(Buffer.allocUnsafeSlow(Math.max(NAMES_BYTES, bytes)))
      this.#filled = 0
    }
    const at = this.#names.length - 1
    const start = this.#filled
    this.#names[at]?.write(name, start)
    this.#filled += bytes
    return at * NAMES_BYTES + start
  }
}

/** Keeps where files really are, if symbolic links lead there. There may be very many files, and few folders. */
class RealPaths {
  /** By path. */
  readonly #folders = new Map<string, string>()
  /** Links to files, by the id of the file. */
  readonly #links = new Map<number, string>()

  async find(id: number, path: string, isLink: boolean): Promise<void> {
    if (isLink) this.#links.set(id, await realpath(path).catch(() => path))
    const folder = dirname(path)
    if (!this.#folders.has(folder)) this.#folders.set(folder, await realpath(folder).catch(() => folder))
  }

  of(id: number, path: string): string {
    const folder = dirname(path)
    const real = this.#folders.get(folder) ?? folder
    return this.#links.get(id) ?? (real === folder ? path : join(real, basename(path)))
  }
}
