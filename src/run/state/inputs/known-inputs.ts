/**
 * Finds out which inputs of a load Sluice has read before. A file is known by its content, whatever its name: see the tables in
 * docs/guide/same-input.md.
 */
import { stat } from 'node:fs/promises'
import { isSluiceError, type SluiceError } from '../../../base/failure/failure.js'
import type { FileStat, Lines, Source, StoredFile } from '../../../base/flow.js'
import { FIRST_BYTES } from '../../../base/checksum/checksum.js'
import { sumsOf } from '../../../base/checksum/file.js'
import { fileStat } from '../../../base/disk/file-stat.js'
import type { Checkpoint, CheckpointInput, FileIdentity } from '../checkpoint/checkpoint.js'
import { KnownInput, knownInputsOf } from './known-input.js'
import type { Elsewhere, SeenObject } from '../../../pipeline/source/find-files.js'
import { isSourceUrl } from '../../../base/text/source-url.js'
import { type Compared, ContentIndex, type ContentMatch, type Extent, extentOf } from './content-index.js'
import { ContentSum } from './content.js'
import type { OpenedLines, StreamedLines } from './streamed-lines.js'
import { append, getOrMake, listOf, type OneOrMore } from './one-or-more.js'
import { holdsStill } from '../checkpoint/old-checkpoint.js'

/** How a target knows an input. */
export type Recognised =
  | {
      readonly kind: 'new'
      readonly twin?: KnownInput | undefined
      /** Another content of the same name. */
      readonly replaces?: KnownInput | undefined
      /** The input was opened to compare it. */
      readonly opened?: OpenedLines | undefined
      /** It is at the URL of this input, and holds something else. */
      readonly differs?: KnownInput | undefined
    }
  /**
   * All bytes that were read are still there. `file`: the file as it is now, if it is not as it was. `moved`: it was loaded under
   * another name. `packed`: the same lines are in a file that was not compared byte by byte.
   */
  | {
      readonly kind: 'known'
      readonly known: KnownInput
      readonly file?: FileIdentity
      readonly moved?: string
      readonly packed?: Pick<ContentMatch, 'content' | 'lines' | 'isWhole'>
      /** Set if it is no file: how the load goes on. */
      readonly streamed?: Streamed
    }
  /** A run has read a part of it, and that part is another one now. */
  | { readonly kind: 'changed'; readonly known: KnownInput; readonly observed: string }

/** How inputs are looked at: see `Planning`. */
interface Looking {
  readonly linesOf?: ((source: Source) => Promise<Lines>) | undefined
  readonly isThere?: Elsewhere['isThere'] | undefined
}

/** How the load of an input goes on that may be another one each time that it is opened. */
export interface Streamed {
  /** The open input. Absent: it is opened again. */
  readonly opened?: OpenedLines
  /** The lines that it must begin with if it is opened again. */
  readonly begins: Extent
  /** Length of a line end that now stands behind the last line. 0 if there is none. */
  readonly lineEnd: number
}

/** Inputs that wait for their load and are open. Each takes a connection, and memory. */
const MOST_OPEN = 4

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
  /** The newest content of each URL that is no file. */
  readonly #byAddress = new Map<string, KnownInput>()
  #open = 0
  readonly #old: KnownInput[] = []
  readonly #sums = new Map<StoredFile, Map<number, string | undefined>>()
  readonly size: number
  readonly #looking: Looking
  #contents: ContentIndex | undefined

  constructor(runs: readonly Checkpoint[], looking: Looking) {
    this.#looking = looking
    this.#all = knownInputsOf(runs)
    this.size = this.#all.length
    for (const known of this.#all) {
      const { file, copy, address } = known.input
      if (address !== undefined && !this.#byAddress.has(address)) this.#byAddress.set(address, known)
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
    const { file: was, status } = known.input
    const { bytes } = was ?? { bytes: 0 }
    if (status === 'finished' || bytes === 0) return replaces === undefined ? undefined : { kind: 'new', replaces }
    const isShorter = file.stat.size < bytes
    const observed = isShorter
      ? `it has only ${file.stat.size.toLocaleString('en-US')} bytes now`
      : 'the part that Sluice read has changed'
    return { kind: 'changed', known, observed }
  }

  /** A file that was moved to another disk, or fetched again under another name. */
  async sameBytes(file: StoredFile): Promise<Recognised | undefined> {
    let twin: KnownInput | undefined
    // All of an object would be fetched only because another one has its size. Its first bytes say more: see `sameLines`.
    for (const known of isSourceUrl(file.realPath) ? [] : await this.#equalTo(file)) {
      const was = known.input.file
      if (was === undefined || was.path === file.realPath) continue
      // The file that was loaded is another input of this load.
      if (known.isClaimed || (await this.#isStillThere(known))) twin ??= known
      else return asKnown(known, was, { ...was, path: file.realPath, stat: file.stat }, file)
    }
    return twin === undefined ? undefined : { kind: 'new', twin, replaces: this.#replacedBy(file) }
  }

  /** A file that was packed, unpacked or packed again, or moved to another disk and appended to. */
  async sameLines(source: Source): Promise<Recognised | undefined> {
    const { file } = source
    const { linesOf } = this.#looking
    if (file === undefined || linesOf === undefined) return undefined
    this.#contents ??= new ContentIndex(this.#all, linesOf)
    let twin: KnownInput | undefined
    for (const { known, file: now, ...packed } of await this.#contents.find(source)) {
      const was = known.input.file
      // A file that is read once may have been compressed, and its copy loaded, before its own end is read.
      const isOther = file.isReadOnce !== true && isElsewhere(known.input, file.realPath)
      if (known.isClaimed || (isOther && (await this.#isStillThere(known)))) twin ??= known
      else return { ...asKnown(known, was, now, file), packed }
    }
    return twin === undefined ? undefined : { kind: 'new', twin, replaces: this.#replacedBy(file) }
  }

  /** An input that may be another one each time that it is opened. It stays open for its load. */
  async streamed(source: Source, address: string): Promise<Recognised | undefined> {
    const { linesOf } = this.#looking
    if (linesOf === undefined || this.size === 0) return undefined
    const named = this.#byAddress.get(address)
    const compared = await this.#compared(source, named)
    if (compared === undefined) return undefined
    if (compared.failed !== undefined) return this.claim(compared.failed.known) ? asFailed(compared.failed) : undefined
    const { opened, matches } = compared
    let twin: KnownInput | undefined
    for (const { known, ...packed } of matches) {
      const { input } = known
      if (known.isClaimed || (isElsewhere(input, address) && (await this.#isStillThere(known)))) twin ??= known
      else if (this.claim(known)) {
        const begins = extentOf(input) ?? { bytes: 0, sum: '' }
        const lineEnd = packed.isWhole ? 0 : await opened.endBehind(input.mark, begins.bytes)
        const line = input.mark.line + Math.sign(lineEnd)
        const held = opened.has(line) && !packed.isWhole ? await this.#held(opened) : await closed(opened)
        const place = placeOf(input)
        const moved = place === undefined || place === address ? {} : { moved: place }
        return { kind: 'known', known, packed, ...moved, streamed: { begins, lineEnd, ...held } }
      }
    }
    const differs = twin === undefined && named?.isClaimed === false ? named : undefined
    return { kind: 'new', twin, differs, ...(opened.has(1) ? await this.#held(opened) : await closed(opened)) }
  }

  async #compared(source: Source, named: KnownInput | undefined): Promise<Compared | undefined> {
    const { linesOf } = this.#looking
    if (linesOf === undefined) return undefined
    this.#contents ??= new ContentIndex(this.#all, linesOf)
    try {
      return await this.#contents.compare(source)
    } catch (error) {
      if (!isSluiceError(error)) throw error
      // The load itself says what is wrong. But it must not begin a known input from its start if it can read it then.
      return named === undefined ? undefined : { failed: { error, known: named } }
    }
  }

  async #held(opened: StreamedLines): Promise<Pick<Streamed, 'opened'>> {
    if (this.#open >= MOST_OPEN) return await closed(opened)
    this.#open += 1
    return { opened }
  }

  /** A file of that name that was renamed, or of which nothing was read, is not replaced. */
  #replacedBy(file: StoredFile): KnownInput | undefined {
    const named = this.#byPath.get(file.realPath)
    return named !== undefined && !named.isClaimed && named.input.file?.bytes !== 0 ? named : undefined
  }

  /** Returns whether what was loaded still stands where it was. */
  async #isStillThere({ input }: KnownInput): Promise<boolean> {
    const { file } = input
    const place = placeOf(input)
    if (place === undefined) return false
    if (isSourceUrl(place)) return (await this.#looking.isThere?.(place, seenOf(input))) ?? true
    return file !== undefined && (await isFileThere(file, place))
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

/** Returns an input whose load fails: under new ids, it would store again what is stored. */
function asFailed({ error, known }: { readonly error: SluiceError; readonly known: KnownInput }): Recognised {
  const { mark, content = {} } = known.input
  const from = () => {
    throw error
  }
  const opened = { sum: new ContentSum(0), from, close: async () => await Promise.resolve() }
  const packed = { content, lines: { kind: mark.kind, at: content.at ?? 0 }, isWhole: false }
  return { kind: 'known', known, packed, streamed: { opened, begins: { bytes: 0, sum: '' }, lineEnd: 0 } }
}

/** Returns the path or URL of an input, as far as it is known. */
function placeOf({ file, address }: CheckpointInput): string | undefined {
  return file?.path ?? address
}

function isElsewhere(input: CheckpointInput, place: string): boolean {
  return (input.file !== undefined || input.address !== undefined) && placeOf(input) !== place
}

async function closed(opened: StreamedLines): Promise<object> {
  await opened.close()
  return {}
}

/** Returns whether the file still stands where it was, with the same content. */
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

function sizeOf({ status, file }: CheckpointInput): number {
  if (file === undefined) return 0
  return file.old?.size ?? (status === 'finished' ? file.bytes : (file.stat?.size ?? 0))
}

function isSameStat(a: FileStat | undefined, b: FileStat): boolean {
  return (
    a !== undefined &&
    a.ctimeMs !== 0 &&
    a.inode === b.inode &&
    a.size === b.size &&
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs
  )
}
