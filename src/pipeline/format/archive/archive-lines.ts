/** Turns the files of an archive into lines, one file behind the other. */
import { fail, isSluiceError } from '../../../base/failure/failure.js'
import type { Lines, Member } from '../../../base/flow.js'
import { LINE_FEED } from '../../../base/text/bytes.js'
import { decompress } from '../../../base/compression/decompress.js'
import { fitsPatterns, isBesideData, looksBesideData } from './choose-members.js'
import type { ArchiveFile, PassedOver } from './member.js'

export interface Archive {
  /** Name of the input. */
  readonly input: string
  /** As messages name it. */
  readonly kind: 'a ZIP archive' | 'a tar archive'
  readonly files: AsyncGenerator<ArchiveFile>
  /** Patterns of the names of files to read. Absent: all that hold documents. */
  readonly members?: string | undefined
  close(): Promise<void>
}

/** Decodes a file of an archive, as an input of that name. */
export type DecodeFile = (name: string, bytes: AsyncIterable<Uint8Array>) => Promise<Lines>
/** Says what an input or a file in it is read as. */
export type ArchiveNote = (name: string, found: string) => void

/**
 * Returns the lines of all files that hold documents. The archive is one input, and each of its lines is an element of it: so it is
 * known by its own bytes, and a resume passes over the lines that were read.
 *
 * What cannot be read for a reason that will not change is left out, and makes the archive fail at its end. Everything else fails it
 * at once: if a program was missing, a resume has to find the same lines in the same places.
 * Throws SluiceError INPUT_UNREADABLE, INPUT_TRUNCATED.
 */
export async function archiveLines(archive: Archive, decodeFile: DecodeFile, note: ArchiveNote): Promise<Lines> {
  const reading = new Reading(archive, decodeFile, note)
  try {
    const first = await reading.next('elements')
    const kind = first?.kind === 'actions' ? 'actions' : 'elements'
    let member = reading.member
    return {
      kind,
      at: 0,
      members: () => {
        const begins = member
        // A reference to a member keeps all members after it in memory.
        member = undefined
        return begins
      },
      bytes: linesOf(reading, first, kind),
    }
  } catch (error) {
    await archive.close()
    throw error
  }
}

async function* linesOf(reading: Reading, first: Lines | undefined, kind: Lines['kind']): AsyncGenerator<Uint8Array> {
  try {
    for (let lines = first; lines !== undefined; lines = await reading.next(kind)) yield* reading.lines(lines)
    reading.end()
  } finally {
    await reading.close()
  }
}

/** Most files that a message names. */
const NAMED = 3
/** Most files with a note about what they are read as. */
const NOTED = 10

class Reading {
  readonly #archive: Archive
  readonly #decodeFile: DecodeFile
  readonly #note: ArchiveNote
  readonly #refused: string[] = []
  readonly #passedOver = new Map<PassedOver, number>()
  /** Files without documents: how many, and the names of the first ones. */
  readonly #beside: string[] = []
  #besides = 0
  /** Whether the user wants a file. Undefined: nobody said which. */
  readonly #isChosen: ((name: string) => boolean) | undefined
  #unchosen = 0
  /** Files that the user chose, or all. */
  #wanted = 0
  #files = 0
  #refusals = 0
  /** Number of the next line. */
  #line = 1
  #noted = ''
  member: Member | undefined

  constructor(archive: Archive, decodeFile: DecodeFile, note: ArchiveNote) {
    this.#archive = archive
    this.#decodeFile = decodeFile
    this.#isChosen = archive.members === undefined ? undefined : fitsPatterns(archive.members)
    this.#note = note
  }

  /** Returns the lines of the next file that has some. `kind`: that of the files before, which it has to have, too. */
  async next(kind: Lines['kind']): Promise<Lines | undefined> {
    const { input, files } = this.#archive
    for (;;) {
      const { done, value: file } = await files.next()
      if (done === true) return undefined
      const { name, passedOver, refused, bytes } = file
      if (this.#passes(file)) continue
      this.#wanted += 1
      if (passedOver !== undefined) this.#passedOver.set(passedOver, (this.#passedOver.get(passedOver) ?? 0) + 1)
      if (refused !== undefined) this.#refuse(name, refused)
      if (bytes === undefined) continue
      const path = `${input}/${name}`
      const lines = await this.#open(name, path, bytes)
      if (lines === undefined) continue
      if ((lines.kind === 'actions') !== (kind === 'actions') && this.#files > 0) {
        await lines.bytes[Symbol.asyncIterator]().return?.()
        const problem =
          lines.kind === 'actions'
            ? 'its documents have ids of their own, but those of the files before it do not'
            : 'its documents have no ids of their own, but those of the files before it do'
        this.#refuse(name, problem)
        continue
      }
      this.#files += 1
      if (lines.found !== undefined && lines.found !== this.#noted && this.#files <= NOTED)
        this.#note(path, lines.found)
      this.#noted = lines.found ?? ''
      const member = { name, line: this.#line, isLines: lines.kind === 'lines' }
      if (this.member !== undefined) this.member.next = member
      this.member = member
      return lines
    }
  }

  /** Counts the lines of a file, and ends the last one. */
  async *lines({ kind, bytes }: Lines): AsyncGenerator<Uint8Array> {
    let isEnded = true
    for await (const chunk of bytes) {
      if (chunk.length === 0) continue
      // Such a line would be taken for one that its format refused.
      if (kind === 'lines' && isEnded && chunk[0] === MARK) yield BLANK
      let from = 0
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) {
        this.#line += 1
        if (kind !== 'lines' || chunk[at + 1] !== MARK) continue
        yield chunk.subarray(from, at + 1)
        yield BLANK
        from = at + 1
      }
      yield chunk.subarray(from)
      isEnded = chunk.at(-1) === LINE_FEED
    }
    if (isEnded) return
    this.#line += 1
    yield LINE_END
  }

  /** Returns whether nobody wants a file: the user chose others, or its name says that it holds no documents. */
  #passes({ name, passedOver }: ArchiveFile): boolean {
    if (this.#isChosen?.(name) === false) {
      this.#unchosen += 1
      return true
    }
    if (this.#isChosen !== undefined || passedOver !== undefined || !isBesideData(name)) return false
    this.#leave(name)
    return true
  }

  #leave(name: string): void {
    this.#besides += 1
    if (this.#beside.length < NAMED) this.#beside.push(name)
  }

  /** Says what was read. Throws INPUT_UNREADABLE if files were left out. */
  end(): void {
    const { input, kind, members } = this.#archive
    const passed = [
      ...(this.#besides === 0
        ? []
        : [
            `files without documents (${this.#besides}: ${this.#beside.join(', ')}${this.#besides > NAMED ? ', …' : ''})`,
          ]),
      ...(this.#unchosen === 0 ? [] : [`files that --members does not name (${this.#unchosen})`]),
      ...[...this.#passedOver].map(([why, files]) => `${why} (${files})`),
    ]
    const rest = passed.length === 0 ? '' : `. Sluice skipped ${passed.join(', ')}`
    this.#note(input, `${kind} with ${this.#files} ${this.#files === 1 ? 'file' : 'files'}${rest}`)
    if (this.#files === 0 && this.#refusals === 0) {
      if (members !== undefined && this.#wanted === 0)
        throw fail('INPUT_UNREADABLE', { input, problem: `no file of this archive fits --members ${members}` })
      // An archive of papers alone is probably not the right one.
      for (const name of this.#beside) this.#refuse(name, 'it holds no documents')
    }
    if (this.#refusals === 0) return
    const more = this.#refusals - this.#refused.length
    const all = [...this.#refused, ...(more === 0 ? [] : [`and ${more} more`])].join('. ')
    const many = this.#refusals === 1 ? 'a file' : `${this.#refusals} files`
    throw fail('INPUT_UNREADABLE', { input, problem: `${many} of this archive cannot be loaded: ${all}` })
  }

  async close(): Promise<void> {
    await this.#archive.files.return(undefined)
    await this.#archive.close()
  }

  async #open(name: string, path: string, bytes: AsyncIterable<Uint8Array>): Promise<Lines | undefined> {
    try {
      return await this.#decodeFile(path, decompress(bytes, path, true))
    } catch (error) {
      // What its bytes show stays as it is.
      if (!isSluiceError(error) || error.failure.code !== 'INPUT_NOT_JSON') throw error
      const { kind, observed } = error.failure.evidence
      if (this.#isChosen === undefined && looksBesideData(name, String(kind))) {
        this.#leave(name)
        return undefined
      }
      this.#refuse(name, `it looks like ${String(kind)} (${String(observed)})`)
      return undefined
    }
  }

  #refuse(name: string, why: string): void {
    this.#refusals += 1
    if (this.#refused.length < NAMED) this.#refused.push(`${name}: ${why}`)
  }
}

const MARK = 0x1f
const BLANK = Buffer.from(' ')
const LINE_END = Buffer.from('\n')
