/** Finds out whether what was loaded still stands where it was: then an input with the same content is another one. */
import { stat } from 'node:fs/promises'
import { fileStat, FIRST_BYTES, sumsOf } from '../../../base/checksum/checksum.js'
import type { FileStat } from '../../../base/flow.js'
import { isPath } from '../../../base/text/source-url.js'
import type { Elsewhere, SeenObject } from '../../../pipeline/source/find-files.js'
import type { CheckpointInput, FileIdentity } from '../checkpoint/checkpoint.js'
import type { KnownInput } from './known-input.js'

export class StillThere {
  readonly #isThere: Elsewhere['isThere'] | undefined
  /** Many files may begin with the one line of another file: it is looked for once. Absent: nobody knows. */
  readonly #known = new Map<KnownInput, boolean>()

  /** `isThere`: absent if no server can be asked. */
  constructor(isThere: Elsewhere['isThere'] | undefined) {
    this.#isThere = isThere
  }

  /** Notes that an input of this load stands there, and holds something else. */
  replaced(known: KnownInput): void {
    this.#known.set(known, false)
  }

  /** Returns whether the input at a place may be that one: no other input of this load is, and it is not still somewhere else. */
  async isFree(known: KnownInput, place: string): Promise<boolean> {
    return !known.isClaimed && !(isElsewhere(known.input, place) && (await this.#has(known)))
  }

  async #has(known: KnownInput): Promise<boolean> {
    const isThere = this.#known.get(known) ?? (await this.#look(known))
    if (isThere) this.#known.set(known, true)
    return isThere
  }

  async #look({ input }: KnownInput): Promise<boolean> {
    const { file } = input
    const place = pathOrUrlOf(input)
    if (place === undefined) return false
    if (!isPath(place)) return (await this.#isThere?.(place, seenOf(input))) ?? true
    return file !== undefined && (await isFileThere(file, place))
  }
}

/** Returns the path or URL of an input, as far as it is known. */
export function pathOrUrlOf({ file, address }: CheckpointInput): string | undefined {
  return file?.path ?? address
}

/** Returns whether an input that can be read again was somewhere else. */
function isElsewhere(input: CheckpointInput, place: string): boolean {
  return (input.file !== undefined || input.address !== undefined) && pathOrUrlOf(input) !== place
}

/** Returns whether the file is still at this path, with the content that was loaded. */
async function isFileThere(file: FileIdentity, path: string): Promise<boolean> {
  const now = await stat(path).catch(() => undefined)
  if (now?.isFile() !== true) return false
  if (isSameStat(file.stat, fileStat(now))) return true
  return file.old === undefined && now.size >= file.bytes && (await sumsOf(path, [file.bytes]))[0] === file.sum
}

/** Returns what is known of an object without reading it. */
function seenOf({ file, content }: CheckpointInput): SeenObject {
  const { bytes = 0, sum = '' } = file ?? {}
  const head = content?.head === undefined ? undefined : { bytes: FIRST_BYTES, sum: content.head }
  const short = bytes > 0 && bytes <= FIRST_BYTES ? { bytes, sum } : undefined
  return { etagNumber: file?.stat?.ctimeMs ?? 0, begins: short ?? (content?.bytes === undefined ? head : undefined) }
}

/** Returns whether the system describes the same unchanged file. */
export function isSameStat(a: FileStat | undefined, b: FileStat): boolean {
  return (
    a !== undefined &&
    a.ctimeMs !== 0 &&
    a.inode === b.inode &&
    a.size === b.size &&
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs
  )
}
