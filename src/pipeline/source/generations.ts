/** Finds files that once had a followed name, by how programs name them when they rotate: `app.log.1`, `app.log-20261127.gz`. */
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { fileStat } from '../../base/checksum/checksum.js'
import type { FileStat } from '../../base/flow.js'

/** An earlier file of a name, as it is now. */
export interface Generation {
  readonly path: string
  readonly device: number
  readonly stat: FileStat
  readonly isPacked: boolean
}

/** Returns size and time of a file as a text: they differ if the file has changed. */
export function sizeAndTime({ size, mtimeMs }: Pick<FileStat, 'size' | 'mtimeMs'>): string {
  return `${size} ${mtimeMs}`
}

/** Folders below that of the log that may hold rotated files. */
const MOST_FOLDERS = 20

/** Returns the earlier files of a followed name that were written after a time, the oldest first. `sinceMs`: since the epoch. */
export async function generationsSince(path: string, sinceMs: number): Promise<readonly Generation[]> {
  const base = basename(path)
  const found: Generation[] = []
  for (const folder of await foldersAt(dirname(path)))
    for (const name of await readdir(folder).catch(() => [])) {
      if (!isGeneration(base, name)) continue
      const there = join(folder, name)
      const now = await stat(there).catch(() => undefined)
      if (now?.isFile() !== true || now.mtimeMs < sinceMs) continue
      found.push({ path: there, device: now.dev, stat: fileStat(now), isPacked: packed.test(name) })
    }
  return found.toSorted((one, other) => one.stat.mtimeMs - other.stat.mtimeMs || byNumber(one, other))
}

async function foldersAt(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const below = entries.filter(entry => entry.isDirectory()).slice(0, MOST_FOLDERS)
  return [folder, ...below.map(({ name }) => join(folder, name))]
}

const packed = /\.(?:gz|zst|bz2|xz|br)$/
/** A number, or a date that may have a time and a number. */
const anyMark = /^[._-](?:\d[\d._:TZ-]*|old|bak|prev)$/
/** The same before the ending of a name, where a small number may also name another writer: `app-2.log`. */
const dateMark = /^(?:\.\d+|[._-]\d{4}[._-]?\d\d[\d._:TZ-]*)$/

/** Returns whether a file of this name may be an earlier one of `base`. */
export function isGeneration(base: string, name: string): boolean {
  const plain = name.replace(packed, '')
  if (plain === base) return plain !== name
  const ending = extname(base)
  const stem = base.slice(0, base.length - ending.length)
  if (plain.startsWith(base)) return anyMark.test(plain.slice(base.length))
  const isAround = ending !== '' && plain.startsWith(stem) && plain.endsWith(ending)
  return isAround && dateMark.test(plain.slice(stem.length, plain.length - ending.length))
}

/** At the same time, `app.log.2` is older than `app.log.1`. */
function byNumber(one: Generation, other: Generation): number {
  const numberOf = ({ path }: Generation) => Number(/\.(\d+)(?:\.\w+)?$/.exec(basename(path))?.[1] ?? 0)
  return numberOf(other) - numberOf(one)
}
