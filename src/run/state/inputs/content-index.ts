/** Finds inputs of earlier runs by their content: the file that holds their lines may be packed in any way, and hold more lines. */
import { basename } from 'node:path'
import { isPath } from '../../../base/text/source-url.js'
import { Checksum, FIRST_BYTES } from '../../../base/checksum/checksum.js'
import { isSluiceError, type SluiceError } from '../../../base/failure/failure.js'
import type { Lines, Source, StoredFile } from '../../../base/flow.js'
import type { CheckpointInput, ContentIdentity, FileIdentity } from '../checkpoint/checkpoint.js'
import { ContentSum, isStoredAsLines } from './content.js'
import { LineReader } from './line-reader.js'
import { pathOrUrlOf } from './still-there.js'
import type { KnownInput } from './known-input.js'
import { StreamedLines } from './streamed-lines.js'
import { append, getOrMake, listOf, type OneOrMore } from './one-or-more.js'

/** An earlier input whose lines a file begins with. */
export interface ContentMatch {
  readonly known: KnownInput
  /** The file as it is now, and its lines as far as they are known. */
  readonly file: FileIdentity
  readonly content: ContentIdentity
  readonly lines: Pick<Lines, 'kind' | 'at'>
  /** Whether the file holds no other lines. */
  readonly isWhole: boolean
}

/** An input that was opened, and what of it is known. Or why it could not be read as far as the longest one that it may be. */
export type InputMatch =
  | { readonly opened: StreamedLines; readonly matches: readonly Omit<ContentMatch, 'file'>[]; readonly failed?: never }
  | { readonly failed: { readonly error: SluiceError; readonly known: KnownInput } }

type LinesOf = (source: Source) => Promise<Lines>
/** Lines that were read of an input: how many bytes, and their checksum. */
export interface KnownExtent {
  readonly bytes: number
  readonly sum: string
}

const BRACE = '{'.charCodeAt(0)
/** More known inputs than this take much memory. */
const MUCH = 50_000
/** Inputs with the same first bytes that a file is compared with, the latest ones. */
const MOST_ALIKE = 64
/** Inputs of one series of names whose first bytes are unknown: each takes a read of a file. */
const MOST_HEADLESS = 32

export class ContentIndex {
  readonly #linesOf: LinesOf
  /** By the number of their first bytes, then by the checksum of these. */
  readonly #byHead = new Map<number, Map<string, OneOrMore<KnownInput>>>()
  /** An older Sluice noted no first bytes. The latest of each series of names. */
  readonly #headless = new Map<string, KnownInput[]>()
  /** By the id of the source. The same one is asked for again if another input is its first match. */
  readonly #matches = new Map<number, readonly ContentMatch[]>()
  /** Whether an input of before is not among those that are as they were. */
  #hasGone = false
  /** Whether lines of an input may have been made from other bytes. */
  #hasMade = false

  constructor(all: readonly KnownInput[], linesOf: LinesOf) {
    this.#linesOf = linesOf
    // A file that is as it was is no other one. Among very many, only a note would come of it that two files are equal.
    const isMuch = all.length > MUCH
    for (const known of all) if (!isMuch || !known.isClaimed) this.#add(known)
  }

  #add(known: KnownInput): void {
    const { input } = known
    const extent = extentOf(input)
    if (extent === undefined) return
    this.#hasGone ||= !known.isClaimed
    this.#hasMade ||= input.mark.kind === 'elements' || input.mark.kind === 'actions'
    const head = extent.bytes <= FIRST_BYTES ? extent.sum : input.content?.head
    if (head === undefined) {
      const series = getOrMake(this.#headless, stemOf(input.name), () => [])
      if (series.length < MOST_HEADLESS) series.push(known)
      return
    }
    const length = Math.min(extent.bytes, FIRST_BYTES)
    append(
      getOrMake(this.#byHead, length, () => new Map<string, OneOrMore<KnownInput>>()),
      head,
      known,
    )
  }

  /**
   * Returns the inputs whose lines a file begins with, the one with the most lines first, because other inputs may be a part of it. Of equal
   * ones, the one that was loaded last comes first: the index of the other one may be gone. Reads no further than it must.
   */
  async find(source: Source): Promise<readonly ContentMatch[]> {
    const found = this.#matches.get(source.id) ?? (await this.#search(source))
    if (found.length > 0) this.#matches.set(source.id, found)
    return found
  }

  async #search(source: Source): Promise<readonly ContentMatch[]> {
    const { file } = source
    // Only such a file can be read without a trace.
    if (file?.isPacked === undefined || file.stat.size === 0) return []
    if (this.#byHead.size + this.#headless.size === 0) return []
    // A request costs more than the note that two inputs are equal is worth.
    if (!this.#hasGone && !isPath(file.realPath)) return []
    let stored: readonly ContentMatch[] = []
    try {
      const first = await file.part(0, Math.min(FIRST_BYTES, file.stat.size))
      const candidates = this.#candidates(first, source)
      if ((first[0] === BRACE || file.isReadOnce === true) && candidates.length > 0)
        stored = await storedMatches(file, candidates)
      if (stored.length > 0) return stored
      return file.isReadOnce === true || (first[0] === BRACE && !this.#hasMade)
        ? []
        : await this.#decodedMatches(source, file)
    } catch (error) {
      // The load itself says what is wrong with the file.
      if (isSluiceError(error)) return []
      throw error
    } finally {
      // The load continues with the checksum of what was compared.
      if (stored.length === 0) file.forget?.()
    }
  }

  /**
   * Opens an input that may be another one each time, and compares it while it is read. Returns undefined if it can be no known one. Throws
   * SluiceError if its first bytes cannot be read.
   */
  async compare(source: Source): Promise<InputMatch | undefined> {
    if (!this.#hasGone) return undefined
    const opened = new StreamedLines(await this.#linesOf(source))
    const candidates = byBytes(this.#candidates(await opened.first(), source))
    const matches: Omit<ContentMatch, 'file'>[] = []
    try {
      for (const [bytes, ofLength] of candidates) {
        const content = await opened.readTo(bytes)
        if (content === undefined) break
        const equal = ofLength.filter(one => extentOf(one.input)?.sum === content.sum)
        if (equal.length === 0) continue
        const isWhole = await opened.isOver()
        matches.unshift(...equal.map(known => ({ known, content, lines: opened.lines, isWhole })))
      }
    } catch (error) {
      const known = [...candidates.values()].at(-1)?.[0]
      if (!isSluiceError(error) || known === undefined) throw error
      await opened.close()
      return { failed: { error, known } }
    }
    return { opened, matches }
  }

  #candidates(first: Uint8Array, { name }: Source): KnownInput[] {
    const stem = stemOf(name)
    const found: KnownInput[] = stem === '' ? [] : [...(this.#headless.get(stem) ?? [])]
    for (const [length, bySum] of this.#byHead)
      if (length <= first.length)
        found.push(...listOf(bySum.get(Checksum.of(first.subarray(0, length)))).slice(0, MOST_ALIKE))
    return found
  }

  async #decodedMatches(source: Source, file: StoredFile): Promise<readonly ContentMatch[]> {
    const lines = await this.#linesOf(source)
    const reader = new LineReader(lines.bytes)
    try {
      const first = await reader.first()
      const candidates = this.#candidates(first, source)
      if (candidates.length === 0) return []
      const sum = new ContentSum(lines.at)
      const matches: ContentMatch[] = []
      for (const [bytes, ofLength] of byBytes(candidates)) {
        if (!(await reader.addTo(sum, bytes))) break
        const content = sum.identity()
        const equal = ofLength.filter(one => extentOf(one.input)?.sum === content.sum)
        if (equal.length === 0) continue
        const isWhole = await reader.isOver()
        const isStored = isStoredAsLines(lines, file)
        const { realPath: path, stat, reading } = file
        const now: FileIdentity = isStored
          ? { path, stat, bytes, sum: content.sum ?? '' }
          : { path, stat: reading?.stat ?? stat, bytes: reading?.bytes ?? 0, sum: reading?.sum() ?? '' }
        const kept = isStored ? headIn(content) : content
        matches.unshift(...equal.map(known => ({ known, file: now, content: kept, lines, isWhole })))
      }
      return matches
    } finally {
      await reader.close()
    }
  }
}

/** Compares a file whose stored bytes are its lines. */
async function storedMatches(file: StoredFile, candidates: readonly KnownInput[]): Promise<readonly ContentMatch[]> {
  const lengths = byBytes(candidates)
  const sums = await file.sums([...lengths.keys()])
  const { realPath: path, stat } = file
  const matches = [...lengths].map(([bytes, ofLength], at) => {
    const sum = sums[at]
    const equal = sum === undefined ? [] : ofLength.filter(one => extentOf(one.input)?.sum === sum)
    return equal.map((known): ContentMatch => ({
      known,
      file: { path, stat, bytes, sum: sum ?? '' },
      content: headIn(known.input.content),
      lines: { kind: 'lines', at: 0 },
      isWhole: bytes === stat.size,
    }))
  })
  return matches.toReversed().flat()
}

/**
 * Returns the first match that the input may be. `copied`: without one, the first that is still there, or that another input of the load is.
 */
export async function firstFree<M extends Omit<ContentMatch, 'file'>>(
  matches: readonly M[],
  isFree: (known: KnownInput) => Promise<boolean>,
): Promise<{ readonly match?: M; readonly copied?: KnownInput | undefined }> {
  let copied: KnownInput | undefined
  // An input that grew still holds what it held before, although a JSON document then has another end.
  const taken = new Set<string>()
  for (const match of matches) {
    const place = pathOrUrlOf(match.known.input)
    const isPart = place !== undefined && taken.has(place)
    if (!isPart && (await isFree(match.known))) return { match }
    if (place !== undefined) taken.add(place)
    if (mayBeCopy(match)) copied ??= match.known
  }
  return { copied }
}

/** Returns whether an input is worth a note that it is a copy. Many may begin with the one line of another one, which is still there. */
function mayBeCopy({ known, isWhole }: Omit<ContentMatch, 'file'>): boolean {
  return isWhole || known.input.mark.document > 2
}

/** Returns the identity of lines that are stored as they stand. */
function headIn(content: ContentIdentity | undefined): ContentIdentity {
  return content?.head === undefined ? {} : { head: content.head }
}

/** Returns whether the lines of an input were not its own bytes: it was packed, or no file of lines. */
export function isDecoded({ content }: CheckpointInput): boolean {
  return content?.bytes !== undefined
}

/** Returns what was read of an input, as lines. */
export function extentOf({ file, content }: CheckpointInput): KnownExtent | undefined {
  if (content?.bytes !== undefined && content.sum !== undefined)
    return content.bytes === 0 ? undefined : { bytes: content.bytes, sum: content.sum }
  if (file === undefined || file.bytes === 0 || file.sum === '') return undefined
  return { bytes: file.bytes, sum: file.sum }
}

/** Returns candidates by their length, the shortest first. */
function byBytes(candidates: readonly KnownInput[]): Map<number, KnownInput[]> {
  const all = new Map<number, KnownInput[]>()
  for (const known of candidates) {
    getOrMake(all, extentOf(known.input)?.bytes ?? 0, () => []).push(known)
  }
  return new Map([...all].toSorted(([one], [other]) => one - other))
}

/** Returns the part that the names of a series share: `app.log`, `app.log.1.gz`, `app-2026-11-27.log`. */
function stemOf(name: string): string {
  return /^[^.\d_-]*/.exec(basename(name))?.[0] ?? ''
}
