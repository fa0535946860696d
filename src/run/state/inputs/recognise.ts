/**
 * Finds out which inputs of a load Sluice has read before. A file is known by its content, whatever its name: see the tables in
 * docs/guide/same-input.md. The walk of an input ends at the first step that knows it, and each known input is at most one of the load.
 */
import type { Lines, Source, StoredFile } from '../../../base/flow.js'
import { isPath } from '../../../base/text/source-url.js'
import type { Elsewhere } from '../../../pipeline/source/find-files.js'
import type { Checkpoint, FileIdentity } from '../checkpoint/checkpoint.js'
import { ContentIndex, firstFree, isDecoded } from './content-index.js'
import { KnownFiles } from './known-files.js'
import { type KnownInput, knownInputsOf } from './known-input.js'
import type { Recognised } from './recognised.js'
import { StillThere } from './still-there.js'
import { StreamedInputs } from './streamed-inputs.js'

/** How inputs are looked at: see `Planning`. */
interface Looking {
  readonly linesOf?: ((source: Source) => Promise<Lines>) | undefined
  readonly isThere?: Elsewhere['isThere'] | undefined
}

/** Files that are compared at once. */
const AT_ONCE = 16

/** Steps of a file that is not the same, named by what they find. All files take one before any takes the next. */
const STEPS = ['rotated', 'grown', 'moved', 'packed', 'edited'] as const

/** Recognises all inputs of a load, in their order. `runs`: those into the same target, newest first. */
export async function recognise(
  sources: readonly Source[],
  runs: readonly Checkpoint[],
  looking: Looking = {},
): Promise<readonly (Recognised | undefined)[]> {
  const walk = new Walk(knownInputsOf(runs), looking)
  const found = sources.map(source => walk.same(source))
  for (const step of STEPS) {
    const left = [...found.keys()].filter(at => found[at] === undefined && sources[at]?.file !== undefined)
    for (let from = 0; from < left.length && walk.knowsAny; from += AT_ONCE) {
      const some = left.slice(from, from + AT_ONCE).flatMap(at => {
        const source = sources[at]
        return source?.file === undefined ? [] : [{ at, look: walk.looking(step, source, source.file) }]
      })
      const seen = await Promise.all(some.map(async ({ look }) => await look()))
      for (const [number, { at, look }] of some.entries()) found[at] = await claimed(seen[number], look)
    }
  }
  for (const [at, source] of sources.entries())
    if (source.address !== undefined) found[at] = await walk.streamed(source, source.address)
  return found
}

type Look = () => Promise<Recognised | undefined>

/** Two equal files cannot both be the one that was loaded. The other one may be another input that was loaded. */
async function claimed(seen: Recognised | undefined, look: Look): Promise<Recognised | undefined> {
  let one = seen
  while (one !== undefined && one.kind !== 'new' && !one.known.claim()) one = await look()
  return one
}

/** What the steps of one load know. */
class Walk {
  readonly #all: readonly KnownInput[]
  readonly #files: KnownFiles
  readonly #there: StillThere
  readonly #streamed: StreamedInputs
  /** Inputs that are still there, and have the bytes of a file. */
  readonly #twins = new Map<StoredFile, KnownInput>()
  readonly #linesOf: Looking['linesOf']
  #contents: ContentIndex | undefined

  constructor(all: readonly KnownInput[], { linesOf, isThere }: Looking) {
    this.#all = all
    this.#linesOf = linesOf
    this.#files = new KnownFiles(all)
    this.#there = new StillThere(isThere)
    this.#streamed = new StreamedInputs(all, this.#there, () => this.#byLines())
  }

  get knowsAny(): boolean {
    return this.#all.length > 0
  }

  /** Nothing is read: it is a copy that Sluice has made, or size, inode and times are those of before. */
  same({ file, copy }: Source): Recognised | undefined {
    if (file === undefined) {
      const known = copy === undefined ? undefined : this.#files.ofCopy(copy.id)
      return known === undefined ? undefined : { kind: 'known', known }
    }
    const { known, was } = this.#files.unchanged(file) ?? {}
    if (known?.claim() !== true || was === undefined) return undefined
    // Very many files may be as they were, so none gets an object of its own.
    return was.path === file.realPath ? known : asKnown(known, { ...was, path: file.realPath }, file)
  }

  /** Returns how a step looks at a file. */
  looking(step: (typeof STEPS)[number], source: Source, file: StoredFile): Look {
    return async () => await Promise.resolve(this[step](file, source))
  }

  /** A file keeps its inode when it is renamed. So a new file of the old name is not mistaken for it. */
  async rotated(file: StoredFile): Promise<Recognised | undefined> {
    for (const known of this.#files.ofInode(file.stat.inode)) {
      if (known.isClaimed) continue
      // An inode may hold an older content again. Only if it was renamed, that is the file of before.
      const path = known.input.file?.path
      if (path === file.realPath && this.#files.ofPath(path) !== known) continue
      const now = await this.#files.compare(known, file)
      if (now !== undefined) return asKnown(known, now, file)
    }
    return undefined
  }

  /** The file of that name still begins with all that was read. */
  async grown(file: StoredFile): Promise<Recognised | undefined> {
    const known = this.#files.ofPath(file.realPath)
    if (known === undefined || known.isClaimed) return undefined
    const now = await this.#files.compare(known, file)
    if (now !== undefined) return asKnown(known, now, file)
    this.#there.replaced(known)
    return undefined
  }

  /** A file that was moved to another disk, or fetched again under another name. */
  async moved(file: StoredFile): Promise<Recognised | undefined> {
    // All of an object would be fetched only because another one has its size. Its first bytes say more: see `packed`.
    for (const known of isPath(file.realPath) ? await this.#files.equalTo(file) : []) {
      const was = known.input.file
      if (was === undefined || was.path === file.realPath) continue
      // The file that was loaded may be another input of this load.
      if (await this.#there.isFree(known, file.realPath))
        return asKnown(known, { ...was, path: file.realPath, stat: file.stat }, file)
      // An input that is no longer there may have the same lines, too: see `packed`.
      if (!this.#twins.has(file)) this.#twins.set(file, known)
    }
    return undefined
  }

  /** A file that was packed, unpacked or packed again, or moved to another disk and appended to. */
  async packed(file: StoredFile, source: Source): Promise<Recognised | undefined> {
    const matches = (await this.#byLines()?.find(source)) ?? []
    const { match, copied } = await firstFree(matches, async known => {
      // A file that is read once may have been compressed, and its compressed form loaded, before its own end is read.
      const isItself = file.isReadOnce === true && isDecoded(known.input)
      return isItself ? !known.isClaimed : await this.#there.isFree(known, file.realPath)
    })
    if (match !== undefined) {
      const { known, file: now, ...packed } = match
      return { ...asKnown(known, now, file), packed }
    }
    const twin = this.#twins.get(file) ?? copied
    return twin === undefined ? undefined : { kind: 'new', twin, replaces: this.#replacedBy(file) }
  }

  /** The file of that name is no known input any more. If documents of it may be stored, a load would store others beside them. */
  edited(file: StoredFile): Recognised | undefined {
    const known = this.#files.ofPath(file.realPath)
    if (known === undefined || known.isClaimed) return undefined
    const replaces = this.#replacedBy(file)
    if (!mayBeHalfStored(known)) return replaces === undefined ? undefined : { kind: 'new', replaces }
    const isShorter = file.stat.size < (known.input.file?.bytes ?? 0)
    const observed = isShorter
      ? `it has only ${file.stat.size.toLocaleString('en-US')} bytes now`
      : 'the part that Sluice read has changed'
    return { kind: 'changed', known, observed }
  }

  /** An input without a file, known by its URL and by what it holds. */
  async streamed(source: Source, address: string): Promise<Recognised | undefined> {
    return this.knowsAny ? await this.#streamed.find(source, address) : undefined
  }

  #byLines(): ContentIndex | undefined {
    if (this.#linesOf === undefined) return undefined
    return (this.#contents ??= new ContentIndex(this.#all, this.#linesOf))
  }

  /** A file of that name that was renamed, or of which nothing was read, is not replaced. */
  #replacedBy(file: StoredFile): KnownInput | undefined {
    const named = this.#files.ofPath(file.realPath)
    return named !== undefined && !named.isClaimed && named.input.file?.bytes !== 0 ? named : undefined
  }
}

/** Returns whether documents of an unfinished input may be stored. None are if the first requests were refused, and said so. */
function mayBeHalfStored({ input: { status, file, hasStored }, run }: KnownInput): boolean {
  if (status === 'finished' || file === undefined || file.bytes === 0) return false
  return hasStored || run.isDoubtful
}

/** `now`: the file as it is. */
function asKnown(known: KnownInput, now: FileIdentity, { path }: StoredFile): Extract<Recognised, { kind: 'known' }> {
  const { file: was, address } = known.input
  // Earlier, Sluice kept the path of a link.
  const place = was?.path ?? address
  const isThere = place === undefined || place === now.path || place === path
  return { kind: 'known', known, file: now, ...(isThere ? {} : { moved: place }) }
}
