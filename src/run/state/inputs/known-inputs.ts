/**
 * Finds out which inputs of a load Sluice has read before. A file is known by its content, whatever its name: see the tables in
 * docs/guide/same-input.md.
 */
import type { Lines, Source, StoredFile } from '../../../base/flow.js'
import { isPath } from '../../../base/text/source-url.js'
import type { Elsewhere } from '../../../pipeline/source/find-files.js'
import type { Checkpoint, CheckpointInput, FileIdentity } from '../checkpoint/checkpoint.js'
import { holdsStill } from '../checkpoint/old-checkpoint.js'
import { ContentIndex, isDecoded, mayBeCopy } from './content-index.js'
import { type KnownInput, knownInputsOf } from './known-input.js'
import { append, getOrMake, listOf, type OneOrMore } from './one-or-more.js'
import type { Recognised } from './recognised.js'
import { isElsewhere, isSameStat, StillThere } from './still-there.js'
import { StreamedInputs } from './streamed-inputs.js'

/** How inputs are looked at: see `Planning`. */
interface Looking {
  readonly linesOf?: ((source: Source) => Promise<Lines>) | undefined
  readonly isThere?: Elsewhere['isThere'] | undefined
}

/** Files that are compared at once. */
const AT_ONCE = 16

/**
 * Recognises all inputs of a load, in their order. `runs`: those into the same target, newest first. `looking`: see `Planning`.
 */
export async function recognise(
  sources: readonly Source[],
  runs: readonly Checkpoint[],
  looking: Looking = {},
): Promise<readonly (Recognised | undefined)[]> {
  const known = new KnownInputs(runs, looking)
  const found: (Recognised | undefined)[] = []
  for (const [at, source] of sources.entries()) {
    const same = source.file === undefined ? known.copy(source) : known.unchanged(source.file)
    found[at] = same
  }
  // A file keeps its inode when it is renamed. So a new file of the old name is not mistaken for it.
  const steps = [
    async (file: StoredFile) => await known.sameInode(file),
    async (file: StoredFile) => await known.samePath(file),
    async (file: StoredFile) => await known.sameBytes(file),
    async (_: StoredFile, source: Source) => await known.sameLines(source),
    async (file: StoredFile) => await Promise.resolve(known.changed(file)),
  ]
  for (const step of steps) {
    const left = [...found.keys()].filter(at => found[at] === undefined)
    if (left.length > 0) known.index()
    for (let from = 0; from < left.length && known.size > 0; from += AT_ONCE) {
      const some = left.slice(from, from + AT_ONCE)
      const recognised = await Promise.all(
        some.map(async at => {
          const source = sources[at]
          return source?.file === undefined ? undefined : await step(source.file, source)
        }),
      )
      for (const [number, at] of some.entries()) {
        const source = sources[at]
        if (source?.file === undefined) continue
        let one = recognised[number]
        // Two equal files cannot both be the one that was loaded. The other one may be another input that was loaded.
        while (one !== undefined && one.kind !== 'new' && !known.claim(one.known)) one = await step(source.file, source)
        if (one !== undefined) found[at] = one
      }
    }
  }
  for (const [at, source] of sources.entries())
    if (source.address !== undefined) found[at] = await known.streamed(source, source.address)
  return found
}

/** Returns the identity of a file, as far as it was read. */
export function identityOf({ realPath: path, stat: found, reading }: StoredFile): FileIdentity {
  if (reading === undefined) return { path, stat: found, bytes: 0, sum: '' }
  const { stat, bytes } = reading
  const state = reading.state?.()
  return { path, stat, bytes, sum: reading.sum(), ...(state === undefined ? {} : { state }) }
}

class KnownInputs {
  readonly #all: readonly KnownInput[]
  readonly #byInode = new Map<number, OneOrMore<KnownInput>>()
  #isIndexed = false
  /** The newest content of each name. */
  readonly #byPath = new Map<string, KnownInput>()
  /** By size, then by the bytes that were read, then by their checksum. */
  readonly #bySize = new Map<number, Map<number, Map<string, OneOrMore<KnownInput>>>>()
  readonly #copies = new Map<string, KnownInput>()
  readonly #there: StillThere
  readonly #streamed: StreamedInputs
  readonly #old: KnownInput[] = []
  /** Inputs that are still there, and have the bytes of a file. */
  readonly #twins = new Map<StoredFile, KnownInput>()
  readonly #sums = new Map<StoredFile, Map<number, string | undefined>>()
  readonly size: number
  readonly #looking: Looking
  #contents: ContentIndex | undefined

  constructor(runs: readonly Checkpoint[], looking: Looking) {
    this.#looking = looking
    this.#all = knownInputsOf(runs)
    this.#there = new StillThere(looking.isThere)
    this.#streamed = new StreamedInputs(this.#all, this.#there, () => this.#index())
    this.size = this.#all.length
    for (const known of this.#all) {
      const { file, copy } = known.input
      if (copy !== undefined) this.#copies.set(copy, known)
      const inode = file?.old === undefined ? file?.stat?.inode : Number(file.old.inode)
      if (inode !== undefined) append(this.#byInode, inode, known)
    }
  }

  /** Prepares to find files that are not as they were. */
  index(): void {
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

  /** Returns false if another input is that one already. */
  claim(known: KnownInput): boolean {
    if (known.isClaimed) return false
    known.isClaimed = true
    return true
  }

  copy({ copy }: Source): Recognised | undefined {
    const known = copy === undefined ? undefined : this.#copies.get(copy.id)
    return known === undefined ? undefined : { kind: 'known', known }
  }

  /** Recognises a file without reading it: size, inode and times are those of before. */
  unchanged(file: StoredFile): Recognised | undefined {
    const { stat: now, realPath: path } = file
    for (const known of this.#ofInode(now.inode)) {
      const was = known.input.file
      if (was === undefined || !isSameStat(was.stat, now)) continue
      if (!this.claim(known)) return undefined
      return was.path === path ? known : asKnown(known, was, { ...was, path }, file)
    }
    return undefined
  }

  #ofInode(inode: number): readonly KnownInput[] {
    return listOf(this.#byInode.get(inode))
  }

  async sameInode(file: StoredFile): Promise<Recognised | undefined> {
    for (const known of this.#ofInode(file.stat.inode)) {
      if (known.isClaimed) continue
      const was = known.input.file
      // An inode may hold an older content again. Only if it was renamed, that is the file of before.
      const isNewest = was?.path === undefined || this.#byPath.get(was.path) === known
      if (!isNewest && was.path === file.realPath) continue
      const now = await this.#compare(known, file)
      if (now !== undefined) return asKnown(known, was, now, file)
    }
    return undefined
  }

  async samePath(file: StoredFile): Promise<Recognised | undefined> {
    const known = this.#byPath.get(file.realPath)
    if (known === undefined || known.isClaimed) return undefined
    const now = await this.#compare(known, file)
    return now === undefined ? undefined : asKnown(known, known.input.file, now, file)
  }

  /** Called for files that are no known input. */
  changed(file: StoredFile): Recognised | undefined {
    const known = this.#byPath.get(file.realPath)
    if (known === undefined || known.isClaimed) return undefined
    const replaces = this.#replacedBy(file)
    const { bytes } = known.input.file ?? { bytes: 0 }
    if (!mayBeHalfStored(known)) return replaces === undefined ? undefined : { kind: 'new', replaces }
    const isShorter = file.stat.size < bytes
    const observed = isShorter
      ? `it has only ${file.stat.size.toLocaleString('en-US')} bytes now`
      : 'the part that Sluice read has changed'
    return { kind: 'changed', known, observed }
  }

  /** A file that was moved to another disk, or fetched again under another name. */
  async sameBytes(file: StoredFile): Promise<Recognised | undefined> {
    // All of an object would be fetched only because another one has its size. Its first bytes say more: see `sameLines`.
    for (const known of isPath(file.realPath) ? await this.#equalTo(file) : []) {
      const was = known.input.file
      if (was === undefined || was.path === file.realPath) continue
      // The file that was loaded is another input of this load.
      const isAnother = known.isClaimed || (await this.#there.has(known))
      if (!isAnother) return asKnown(known, was, { ...was, path: file.realPath, stat: file.stat }, file)
      // An input that is no longer there may have the same lines, too: see `sameLines`.
      if (!this.#twins.has(file)) this.#twins.set(file, known)
    }
    return undefined
  }

  /** A file that was packed, unpacked or packed again, or moved to another disk and appended to. */
  async sameLines(source: Source): Promise<Recognised | undefined> {
    const { file } = source
    if (file === undefined) return undefined
    let twin = this.#twins.get(file)
    for (const match of (await this.#index()?.find(source)) ?? []) {
      const { known, file: now, ...packed } = match
      const was = known.input.file
      // A file that is read once may have been compressed, and its compressed form loaded, before its own end is read.
      const isItself = file.isReadOnce === true && isDecoded(known.input)
      const isOther = !isItself && isElsewhere(known.input, file.realPath)
      const isAnother = known.isClaimed || (isOther && (await this.#there.has(known)))
      if (!isAnother) return { ...asKnown(known, was, now, file), packed }
      if (mayBeCopy(match)) twin ??= known
    }
    return twin === undefined ? undefined : { kind: 'new', twin, replaces: this.#replacedBy(file) }
  }

  /** An input without a file, known by its URL and by what it holds. */
  async streamed(source: Source, address: string): Promise<Recognised | undefined> {
    return this.size === 0 ? undefined : await this.#streamed.find(source, address)
  }

  #index(): ContentIndex | undefined {
    const { linesOf } = this.#looking
    if (linesOf === undefined) return undefined
    return (this.#contents ??= new ContentIndex(this.#all, linesOf))
  }

  /** A file of that name that was renamed, or of which nothing was read, is not replaced. */
  #replacedBy(file: StoredFile): KnownInput | undefined {
    const named = this.#byPath.get(file.realPath)
    return named !== undefined && !named.isClaimed && named.input.file?.bytes !== 0 ? named : undefined
  }

  /** Returns the inputs of the same size whose bytes the file has. */
  async #equalTo(file: StoredFile): Promise<KnownInput[]> {
    const equal: KnownInput[] = []
    const ofSize = this.#bySize.get(file.stat.size)
    const ends = [...(ofSize?.keys() ?? [])].toSorted((a, b) => a - b)
    const sums = ends.length === 0 ? [] : await file.sums(ends)
    for (const [at, end] of ends.entries()) equal.push(...listOf(ofSize?.get(end)?.get(sums[at] ?? '')))
    for (const known of this.#old) if ((await this.#compare(known, file)) !== undefined) equal.push(known)
    return equal
  }

  /** Returns the identity of a file that begins with all bytes that were read. */
  async #compare(known: KnownInput, file: StoredFile): Promise<FileIdentity | undefined> {
    const { file: was, status } = known.input
    if (was === undefined || file.stat.size < was.bytes) return undefined
    const now = { ...was, path: file.realPath, stat: file.stat }
    const { old } = was
    if (old !== undefined) return old.head.bytes > 0 && (await holdsStill(old, file.path)) ? now : undefined
    // Nothing of it was sent.
    if (was.bytes === 0) return status === 'begun' ? now : undefined
    return (await this.#sum(file, was.bytes)) === was.sum ? now : undefined
  }

  /** Many inputs of the same length are compared with a file that is read once. */
  async #sum(file: StoredFile, end: number): Promise<string | undefined> {
    const sums = this.#sums.get(file) ?? new Map<number, string | undefined>()
    this.#sums.set(file, sums)
    if (!sums.has(end)) sums.set(end, (await file.sums([end]))[0])
    return sums.get(end)
  }
}

/** Returns whether documents of an unfinished input may be stored. None are if the first requests were refused, and said so. */
function mayBeHalfStored({ input: { status, file, hasStored }, run }: KnownInput): boolean {
  if (status === 'finished' || file === undefined || file.bytes === 0) return false
  return hasStored || run.isDoubtful
}

/** `was`: the file when it was loaded, `now`: the file as it is. */
function asKnown(
  known: KnownInput,
  was: FileIdentity | undefined,
  now: FileIdentity,
  { path }: StoredFile,
): Extract<Recognised, { kind: 'known' }> {
  // Earlier, Sluice kept the path of a link.
  const place = was?.path ?? known.input.address
  const isThere = place === undefined || place === now.path || place === path
  return { kind: 'known', known, file: now, ...(isThere ? {} : { moved: place }) }
}

function sizeOf({ status, file }: CheckpointInput): number {
  if (file === undefined) return 0
  return file.old?.size ?? (status === 'finished' ? file.bytes : (file.stat?.size ?? 0))
}
