/**
 * Lines of an input that may hold something else each time that it is opened. They are compared with those of before while they are
 * read, and the load continues with the same answer. The last ones stay in memory, because the load sends some of them again.
 */
import type { Lines, Mark } from '../../../base/flow.js'
import { CARRIAGE_RETURN, isBlank, LINE_FEED } from '../../../base/text/bytes.js'
import type { ContentIdentity } from '../checkpoint/checkpoint.js'
import { ContentSum } from './content.js'
import { LineReader } from './line-reader.js'

/** More than what an earlier process may have sent behind its last mark, mostly. */
const KEPT_BYTES = 16 << 20

/** An input that is open, and waits for its load. */
export interface OpenedLines {
  /** Of its lines as they are read. */
  readonly sum: ContentSum
  /** Returns the lines from a mark on. Absent: from the start. Called once. Throws SluiceError if the input could not be compared. */
  from(mark: Mark | undefined): Lines
  close(): Promise<void>
}

interface Piece {
  readonly bytes: Buffer
  /** Line feeds before it. */
  readonly lines: number
}

export class StreamedLines implements OpenedLines {
  readonly lines: Lines
  readonly sum: ContentSum
  readonly #reader: LineReader
  #kept: Piece[] = []
  #keptBytes = 0
  #lineFeeds = 0

  constructor(lines: Lines) {
    this.lines = lines
    this.sum = new ContentSum(lines.at)
    this.#reader = new LineReader(lines.bytes)
  }

  get bytes(): number {
    return this.sum.bytes
  }

  async first(): Promise<Uint8Array> {
    return await this.#reader.first()
  }

  /** Reads up to a number of bytes. Returns undefined if there are fewer. */
  async readTo(bytes: number): Promise<ContentIdentity | undefined> {
    return (await this.#reader.addTo(this, bytes)) ? this.sum.identity() : undefined
  }

  add(chunk: Uint8Array): void {
    this.sum.add(chunk)
    // The next chunk may overwrite this one.
    const bytes = Buffer.from(chunk)
    this.#kept.push({ bytes, lines: this.#lineFeeds })
    this.#keptBytes += bytes.length
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) this.#lineFeeds += 1
    while (this.#kept.length > 1 && this.#keptBytes > KEPT_BYTES) this.#drop()
  }

  #drop(): void {
    this.#keptBytes -= this.#kept.shift()?.bytes.length ?? 0
  }

  async isOver(): Promise<boolean> {
    return await this.#reader.isOver()
  }

  /** Returns whether the start of a line is still in memory. */
  has(line: number): boolean {
    return this.#startOf(line) !== undefined
  }

  /** Passes the line end behind a last line without one, if all bytes up to there are read, and no more. Returns its length, or 0. */
  async endBehind({ line, tail, kind }: Mark, bytes: number): Promise<number> {
    const start = this.#startOf(line)
    if (tail === 0 || kind !== 'lines' || bytes !== this.bytes || start === undefined) return 0
    const last = Buffer.concat(this.#kept.map(piece => piece.bytes)).subarray(start)
    if (isBlank(last, 0, last.length)) return 0
    const [first, second] = await this.#reader.peek(2)
    const end = first === LINE_FEED ? 1 : first === CARRIAGE_RETURN && second === LINE_FEED ? 2 : 0
    await this.readTo(bytes + end)
    return end
  }

  from(mark: Mark | undefined): Lines {
    const { line = 1 } = mark ?? {}
    const start = this.#startOf(line) ?? 0
    const { document = 1, within = 0 } = mark ?? {}
    const at = this.lines.at + this.bytes - this.#keptBytes + start
    return { ...this.lines, document, line, within, at, bytes: this.#read(start) }
  }

  async close(): Promise<void> {
    this.#kept = []
    await this.#reader.close()
  }

  /** Returns where a line begins in what is kept. */
  #startOf(line: number): number | undefined {
    const [first] = this.#kept
    const isFromStart = this.#keptBytes === this.bytes
    if (line === 1) return isFromStart ? 0 : undefined
    let left = line - 1 - (first?.lines ?? 0)
    // The line may have begun in what was dropped.
    if (left <= 0) return undefined
    let from = 0
    for (const { bytes } of this.#kept) {
      for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) {
        left -= 1
        if (left === 0) return from + at + 1
      }
      from += bytes.length
    }
    return undefined
  }

  async *#read(start: number): AsyncGenerator<Uint8Array> {
    let passed = start
    for (let piece = this.#kept[0]; piece !== undefined; piece = this.#kept[0]) {
      const { bytes } = piece
      this.#drop()
      if (passed < bytes.length) yield bytes.subarray(passed)
      passed = Math.max(0, passed - bytes.length)
    }
    yield* this.sum.of(this.#reader.rest())
  }
}
