import { LINE_FEED, endOfLine, isBlank, isWhiteSpace } from '../../base/text/bytes.js'
import { parseJson } from '../../base/json/parse-json.js'
import { containerKind, mayBeContainer } from './container-kind.js'
import { MOST_LINES, hasJsonInOneLine, lookAlike } from './look-alike.js'

/** The start of an input, and all of its bytes. */
export interface Opening {
  readonly encoding: 'UTF-8' | 'UTF-16' | 'UTF-32'
  /** Length of the byte order mark. */
  readonly at: 0 | 3
  /** The bytes that were read to decide, behind the byte order mark. */
  readonly head: Buffer
  /** Whether that is all of the input. */
  readonly isWhole: boolean
  /** Absent if the source failed before there was enough to look at. */
  readonly look: Look | undefined
  /** Everything after the byte order mark, in the source's own chunks. */
  readonly bytes: AsyncIterable<Uint8Array>
  /** Closes the source if the caller does not read `bytes`. */
  close(): Promise<void>
}

const MARKS = [
  { encoding: 'UTF-8', mark: [0xef, 0xbb, 0xbf] },
  { encoding: 'UTF-32', mark: [0xff, 0xfe, 0, 0] },
  { encoding: 'UTF-32', mark: [0, 0, 0xfe, 0xff] },
  { encoding: 'UTF-16', mark: [0xff, 0xfe] },
  { encoding: 'UTF-16', mark: [0xfe, 0xff] },
] as const

/** Reads the start of the source: only the bytes that decide, usually the first chunk. It passes that chunk on without a copy. `look`: the other decisions. */
export async function readOpening(bytes: AsyncIterable<Uint8Array>, look?: Look): Promise<Opening> {
  const iterator = bytes[Symbol.asyncIterator]()
  let head: Uint8Array = new Uint8Array(0)
  let failed: { error: unknown } | undefined
  let isWhole = false
  while (isUndecided(head, look)) {
    // The next chunk may overwrite this one.
    const kept = Uint8Array.from(head)
    head = kept
    try {
      const next = await iterator.next()
      isWhole = next.done === true
      if (next.done === true) break
      head = kept.length === 0 ? next.value : Buffer.concat([kept, next.value])
    } catch (error) {
      failed = { error }
      break
    }
  }
  const encoding = MARKS.find(({ mark }) => begins(head, mark))?.encoding
  const at = encoding === 'UTF-8' ? 3 : 0
  const text = head.subarray(at)
  return {
    encoding: encoding ?? 'UTF-8',
    at,
    head: Buffer.from(text.buffer, text.byteOffset, text.length),
    isWhole,
    look: failed === undefined ? look : undefined,
    bytes: behind(text, iterator, failed),
    close: async () => void (await iterator.return?.()),
  }
}

/** Yields the bytes that were read, then an early error of the source, then the rest. */
async function* behind(
  head: Uint8Array,
  iterator: AsyncIterator<Uint8Array>,
  failed: { error: unknown } | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head
    if (failed !== undefined) throw failed.error
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value
  } finally {
    await iterator.return?.()
  }
}

function isUndecided(head: Uint8Array, look: Look | undefined): boolean {
  if (containerKind(head) !== undefined) return false
  if (MARKS.some(({ mark }) => head.length < mark.length && head.every((byte, index) => byte === mark[index])))
    return true
  return look?.isUndecided(head.subarray(begins(head, MARKS[0].mark) ? 3 : 0)) || mayBeContainer(head)
}

/** No JSON document begins with more white space than this. */
const LONGEST_SPACE_BYTES = 64 << 10
/** More bytes are not looked at. */
const MOST_BYTES = 1 << 20

/** Decides how many bytes of an input show what it is. For NDJSON, the first line is enough. */
export class Look {
  readonly #maySpanLines: boolean
  #from = 0
  #lines = 0
  #json = 0
  #nextCheck = 1
  #isArray = false

  /** `isNdjson`: the name says so. */
  constructor(isNdjson: boolean) {
    this.#maySpanLines = !isNdjson
  }

  /** Whether the input begins with the bracket of an array, and is not named as NDJSON. */
  get isArray(): boolean {
    return this.#isArray
  }

  isUndecided(head: Uint8Array): boolean {
    if (this.#lines === 0) {
      const first = head.subarray(0, LONGEST_SPACE_BYTES).find(byte => !isWhiteSpace(byte))
      this.#isArray = this.#maySpanLines && first === BRACKET
      // In UTF-16 each other byte of it is zero.
      if (this.#isArray && head.length < FEWEST_BYTES) return true
      if (this.#isArray || (first === undefined && head.length >= LONGEST_SPACE_BYTES)) return false
    }
    if (head.length >= MOST_BYTES) return false
    const bytes = Buffer.from(head.buffer, head.byteOffset, head.length)
    for (;;) {
      const to = endOfLine(bytes, this.#from)
      if (bytes[to - 1] !== LINE_FEED || to === this.#from) return true
      const isLine = !isBlank(bytes, this.#from, to)
      const isJson = isLine && parseJson(bytes.subarray(this.#from, to)) !== undefined
      this.#from = to
      if (!isLine) continue
      this.#lines += 1
      if (this.#lines >= MOST_LINES || (isJson && this.#lines === 1)) return false
      if (this.#lines === 1 && hasJsonInOneLine(bytes.subarray(0, to))) return false
      if (!isJson) continue
      // Of a document on several lines some are JSON as well. Looking at all of it is dear: less and less often.
      this.#json += 1
      if (this.#json < this.#nextCheck) continue
      this.#nextCheck *= 2
      if (lookAlike(bytes.subarray(0, to), false) === 'lines') return false
    }
  }
}

const BRACKET = 0x5b
/** As many bytes show UTF-16. */
const FEWEST_BYTES = 4

function begins(head: Uint8Array, mark: readonly number[]): boolean {
  return mark.every((byte, index) => head[index] === byte)
}
