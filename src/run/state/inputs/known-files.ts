/** Finds files among the inputs of earlier runs: by what the system says of them, by their name, and by their bytes. */
import type { StoredFile } from '../../../base/flow.js'
import { CARRIAGE_RETURN, LINE_FEED } from '../../../base/text/bytes.js'
import type { CheckpointInput, FileIdentity } from '../checkpoint/checkpoint.js'
import { holdsStill } from '../checkpoint/old-checkpoint.js'
import type { KnownInput } from './known-input.js'
import { append, getOrMake, listOf, type OneOrMore } from './one-or-more.js'
import { isSameStat } from './still-there.js'

export class KnownFiles {
  readonly #all: readonly KnownInput[]
  /** Of inputs that are no files, by the id of the copy that Sluice has made. */
  readonly #copies = new Map<string, KnownInput>()
  readonly #byInode = new Map<number, OneOrMore<KnownInput>>()
  #isIndexed = false
  readonly #byPath = new Map<string, KnownInput>()
  /** By size, then by the bytes that were read, then by their checksum. */
  readonly #bySize = new Map<number, Map<number, Map<string, OneOrMore<KnownInput>>>>()
  readonly #old: KnownInput[] = []
  readonly #sums = new Map<StoredFile, Map<number, string | undefined>>()

  /** `all`: those that were loaded last come first. */
  constructor(all: readonly KnownInput[]) {
    this.#all = all
    for (const known of all) {
      const { file, copy } = known.input
      if (copy !== undefined) this.#copies.set(copy, known)
      const inode = file?.old === undefined ? file?.stat?.inode : Number(file.old.inode)
      if (inode !== undefined) append(this.#byInode, inode, known)
    }
  }

  ofCopy(id: string): KnownInput | undefined {
    return this.#copies.get(id)
  }

  /** Returns the file of before if size, inode and times are the same now. */
  unchanged({ stat }: StoredFile): { readonly known: KnownInput; readonly was: FileIdentity } | undefined {
    for (const known of this.ofInode(stat.inode)) {
      const was = known.input.file
      if (was !== undefined && isSameStat(was.stat, stat)) return { known, was }
    }
    return undefined
  }

  ofInode(inode: number): readonly KnownInput[] {
    return listOf(this.#byInode.get(inode))
  }

  /** Returns the newest content of a name. */
  ofPath(path: string): KnownInput | undefined {
    this.#index()
    return this.#byPath.get(path)
  }

  /** Returns the inputs of the same size whose bytes the file has. */
  async equalTo(file: StoredFile): Promise<readonly KnownInput[]> {
    this.#index()
    const equal: KnownInput[] = []
    const ofSize = this.#bySize.get(file.stat.size)
    const ends = [...(ofSize?.keys() ?? [])].toSorted((a, b) => a - b)
    const sums = ends.length === 0 ? [] : await file.sums(ends)
    for (const [at, end] of ends.entries()) equal.push(...listOf(ofSize?.get(end)?.get(sums[at] ?? '')))
    for (const known of this.#old) if ((await this.compare(known, file)) !== undefined) equal.push(known)
    return equal
  }

  /** Returns the identity of a file that begins with all bytes that were read. */
  async compare(known: KnownInput, file: StoredFile): Promise<FileIdentity | undefined> {
    const { file: was, status } = known.input
    if (was === undefined || file.stat.size < was.bytes) return undefined
    const now = { ...was, path: file.realPath, stat: file.stat }
    const { old } = was
    if (old !== undefined) return old.head.bytes > 0 && (await holdsStill(old, file.path)) ? now : undefined
    // Nothing of it was sent.
    if (was.bytes === 0) return status === 'begun' ? now : undefined
    if ((await this.#sum(file, was.bytes)) !== was.sum) return undefined
    return (await mayHaveGrownInRow(known.input, file)) ? undefined : now
  }

  /** Prepares to find files that are not as they were. Most loads have none. */
  #index(): void {
    if (this.#isIndexed) return
    this.#isIndexed = true
    for (const known of this.#all) this.#add(known)
  }

  #add(known: KnownInput): void {
    const { input } = known
    const { file } = input
    if (file === undefined) return
    const { path, old } = file
    // Another content of the same name was loaded later: then this one is no longer what the name stands for.
    if (path !== undefined && this.#byPath.has(path)) return
    if (path !== undefined) this.#byPath.set(path, known)
    if (old !== undefined) this.#old.push(known)
    const size = sizeOf(input)
    if (old !== undefined || size === 0 || file.bytes === 0) return
    const ofSize = getOrMake(this.#bySize, size, () => new Map<number, Map<string, OneOrMore<KnownInput>>>())
    append(
      getOrMake(ofSize, file.bytes, () => new Map<string, OneOrMore<KnownInput>>()),
      file.sum,
      known,
    )
  }

  /** Many inputs of the same length are compared with a file that is read once. */
  async #sum(file: StoredFile, end: number): Promise<string | undefined> {
    const sums = this.#sums.get(file) ?? new Map<number, string | undefined>()
    this.#sums.set(file, sums)
    if (!sums.has(end)) sums.set(end, (await file.sums([end]))[0])
    return sums.get(end)
  }
}

/**
 * Returns whether a file may have grown in its last element: a CSV row without a line end is loaded, and it is another row if more cells or
 * digits follow. Then only its lines show whether it is still the input of before.
 */
async function mayHaveGrownInRow(input: CheckpointInput, file: StoredFile): Promise<boolean> {
  const { bytes, stat } = input.file ?? { bytes: 0 }
  const wasRead = input.status === 'finished' || bytes >= (stat?.size ?? Infinity)
  if (!wasRead || input.mark.kind !== 'elements' || (input.content?.bytes ?? 0) === 0) return false
  if (bytes === 0 || file.stat.size === bytes) return false
  const [last, next] = await file.part(bytes - 1, bytes + 1)
  return last !== LINE_FEED && next !== LINE_FEED && next !== CARRIAGE_RETURN
}

function sizeOf({ status, file }: CheckpointInput): number {
  if (file === undefined) return 0
  return file.old?.size ?? (status === 'finished' ? file.bytes : (file.stat?.size ?? 0))
}
