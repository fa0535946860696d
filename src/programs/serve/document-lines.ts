/** Checks the documents of one body, and moves them to its front as lines. Lets other requests go first from time to time. */
import { isUtf8 } from 'node:buffer'
import { CARRIAGE_RETURN, isWhiteSpace, LINE_FEED, SPACE } from '../../base/text/bytes.js'
import { JsonScan, TOO_DEEP, UNFINISHED } from '../../base/json/json-fault.js'

export interface LineProblem {
  /** 400 if the text is not JSON, 413 if there are too many documents, 422 if the text is JSON but no document. */
  readonly status: 400 | 413 | 422
  readonly problem: string
}

export interface Checking {
  readonly maxDocuments: number
  /** Resolves when other requests had their turn. */
  turn(): Promise<void>
}

/** Elasticsearch rejects documents with more levels. */
const MOST_LEVELS = 1000
/** Checking this many bytes takes a few milliseconds. */
const TURN_BYTES = 128 << 10
const OPEN_OBJECT = 0x7b

export class DocumentLines {
  readonly #body: Buffer
  readonly #checking: Checking
  readonly #scan = new JsonScan(MOST_LEVELS)
  readonly #isUtf8: boolean
  /** Where the lines end that were moved to the front. Never behind what was checked. */
  #length = 0
  #documents = 0
  #line = 1
  /** Line feeds before this offset are counted in `#line`. Documents may have been moved over them. */
  #counted = 0
  #turnEnds = TURN_BYTES

  /** `body` has room for one more line end behind its `length`. */
  constructor(body: Buffer, length: number, checking: Checking) {
    this.#body = body
    this.#checking = checking
    this.#isUtf8 = isUtf8(body.subarray(0, length))
  }

  get documents(): number {
    return this.#documents
  }

  get bytes(): Uint8Array {
    return this.#body.subarray(0, this.#length)
  }

  isTurnOver(at: number): boolean {
    return at >= this.#turnEnds
  }

  async nextTurn(at: number): Promise<void> {
    await this.#checking.turn()
    this.#turnEnds = at + TURN_BYTES
  }

  /** Returns the offset of what follows the document at `from`, or why it is none. Its text ends at `to`, if not before. */
  async check(from: number, to: number): Promise<number | LineProblem> {
    const { maxDocuments } = this.#checking
    if (this.#documents === maxDocuments)
      return { status: 413, problem: `a request may have at most ${maxDocuments} documents` }
    if (this.isTurnOver(from)) await this.nextTurn(from)
    let fault = this.#scan.fault(this.#body, from, to, this.#turnEnds)
    while (fault === UNFINISHED) {
      await this.nextTurn(this.#scan.at)
      fault = this.#scan.resume(this.#turnEnds)
    }
    if (fault === TOO_DEEP) return { status: 422, problem: `has more than ${MOST_LEVELS} levels` }
    if (!this.#scan.isValue) return { status: 400, problem: 'is not valid JSON' }
    const end = this.#scan.at
    // Messages never quote a document.
    if (!this.#isUtf8 && !isUtf8(this.#body.subarray(from, end))) return { status: 400, problem: 'is not UTF-8' }
    return this.#isObject(from) ? end : { status: 422, problem: 'is not a JSON object' }
  }

  add(from: number, to: number): void {
    if (from > this.#length) this.#body.copyWithin(this.#length, from, to)
    this.#length += to - from
    this.#body[this.#length++] = LINE_FEED
    this.#documents += 1
  }

  /** Adds a document that may have line ends between its parts. JSON allows none inside a string. */
  addOnOneLine(from: number, to: number): void {
    this.lineAt(to)
    for (let at = from; at < to; at += 1)
      if (this.#body[at] === LINE_FEED || this.#body[at] === CARRIAGE_RETURN) this.#body[at] = SPACE
    this.add(from, to)
  }

  /** Returns the line of an offset, counted from 1. Each offset must be behind the one before. */
  lineAt(to: number): number {
    for (; this.#counted < to; this.#counted += 1) if (this.#body[this.#counted] === LINE_FEED) this.#line += 1
    return this.#line
  }

  #isObject(from: number): boolean {
    let at = from
    while (isWhiteSpace(this.#body[at])) at += 1
    return this.#body[at] === OPEN_OBJECT
  }
}
