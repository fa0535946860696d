/** Cuts an input into its top-level JSON objects, and into the lines that hold none. */
import { isUtf8 } from 'node:buffer'
import { fail } from '../../../base/failure/failure.js'
import { LINE_FEED, endWithoutSpace, isBlank, isWhiteSpace } from '../../../base/text/bytes.js'
import { NO_FAULT, endOfValue, jsonFault } from '../../../base/json/json-fault.js'
import { type Cutter, INPUT_BYTES, JOINED_BYTES } from '../cut.js'
import { giveBack, isCutOff, takeCutter } from '../cutters.js'
import { validLines } from '../json-lines.js'

interface TopLines {
  /** Valid JSON objects, each on a line with its line end, or one line that is none, without its line end. Valid until the next ones. */
  readonly lines: Buffer
  /** Set if it is no object. */
  readonly problem?: string
  /** Line of the input, from 1, in which the first of them begins, if each stands on a line of its own. */
  readonly line: number | undefined
}

/** A longer line could take all memory. No document may be as long. */
const LONGEST_LINE_BYTES = 112 << 20
const BRACE = 0x7b

/**
 * Which lines an input becomes depends on its bytes only, not on the chunks: a resume has to find the same ones.
 * Throws SluiceError after all of them: INPUT_TRUNCATED if the last object only ends too early, INPUT_MALFORMED for a line that is too long.
 */
export async function* topObjects(input: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TopLines> {
  const cutter = takeCutter()
  try {
    yield* objectsBy(cutter, input, bytes)
  } finally {
    giveBack(cutter)
  }
}

/** Cuts the input with this cutter. */
export async function* objectsBy(
  cutter: Cutter,
  input: string,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<TopLines> {
  const { input: held } = cutter
  let filled = 0
  /** Bytes before those that are held, and lines. */
  let before = 0
  let lines = 1
  /** The start of a line that does not fit into what is held. */
  let long: Buffer[] = []
  let longBytes = 0

  for await (const chunk of bytes) {
    for (let from = 0; from < chunk.length;) {
      const window = chunk.subarray(from, from + Math.min(JOINED_BYTES, INPUT_BYTES - filled))
      held.set(window, filled)
      filled += window.length
      from += window.length
      yield* take(false)
    }
  }
  yield* take(true)

  function* take(isLast: boolean): Generator<TopLines> {
    let from = 0
    if (longBytes > 0) {
      const end = held.subarray(0, filled).indexOf(LINE_FEED)
      if (end === -1 && !isLast) return keepLong(0)
      from = end === -1 ? filled : end
      const line = Buffer.concat([...long, held.subarray(0, from)])
      long = []
      longBytes = 0
      yield* lineOf(line, end === -1)
    }
    while (from < filled) {
      const cut = cutter.cut(from, filled, 'top')
      const {
        objects,
        takenTo,
        lines: whole,
      } = isUtf8(held.subarray(from, cut.takenTo)) ? cut : cutter.cut(from, filled, 'top', validLines(cut.lines))
      if (objects > 0) {
        const feeds = count(held, from, takenTo)
        // The line feed in front belongs to the line before.
        const first = isWhiteSpace(held[from]) ? lines + 1 : lines
        const isOneEach = feeds - (first - lines) === objects - 1
        yield { lines: whole, line: isOneEach ? first : undefined }
        lines += feeds
        from = takenTo
      }
      let start = from
      while (start < filled && isWhiteSpace(held[start])) start += 1
      if (start === filled) {
        lines += count(held, from, start)
        from = start
        break
      }
      if (!isLast && takenTo === cut.takenTo && isCutOff(cutter, cut, from, filled)) break
      lines += count(held, from, start)
      from = start
      const end = held.subarray(from, filled).indexOf(LINE_FEED)
      if (end === -1 && !isLast) {
        if (filled === INPUT_BYTES) return keepLong(from)
        break
      }
      const to = end === -1 ? filled : from + end
      yield* lineOf(Buffer.from(held.subarray(from, to)), end === -1)
      from = to
    }
    held.copyWithin(0, from, filled)
    before += from
    filled -= from
  }

  function keepLong(from: number): void {
    long.push(Buffer.from(held.subarray(from, filled)))
    longBytes += filled - from
    before += filled
    filled = 0
    if (longBytes > LONGEST_LINE_BYTES)
      throw fail('INPUT_MALFORMED', {
        input,
        format: 'elasticdump',
        problem: `has a line of more than 112 MiB: ${lines}`,
      })
  }

  /** Judges a line that the cutter did not take. `isOpen`: the input ends without its line end. */
  function* lineOf(bytesOfLine: Buffer, isOpen: boolean): Generator<TopLines> {
    const line = bytesOfLine.subarray(0, endWithoutSpace(bytesOfLine, bytesOfLine.length))
    if (isBlank(line, 0, line.length)) return
    const isText = isUtf8(line)
    const fault = isText ? jsonFault(line, 0, line.length) : 0
    const isObject = line[0] === BRACE
    if (isText && fault === NO_FAULT && isObject) return yield { lines: Buffer.concat([line, LINE_END]), line: lines }
    if (isOpen && isObject && endOfValue(line, 0, line.length) === 'cut')
      throw fail('INPUT_TRUNCATED', { input, encoding: 'JSON', bytes: before + filled })
    const problem = isText
      ? fault === NO_FAULT
        ? 'it is not an object'
        : `broken JSON${fault >= 0 ? ` at byte ${fault} of the line` : ''}`
      : 'it is not valid UTF-8'
    yield { lines: line, problem: `line ${lines}: ${problem}`, line: lines }
  }
}

const LINE_END = Buffer.from('\n')

/** Counts line feeds. */
function count(bytes: Buffer, from: number, to: number): number {
  const part = bytes.subarray(from, to)
  let feeds = 0
  for (let at = part.indexOf(LINE_FEED); at !== -1; at = part.indexOf(LINE_FEED, at + 1)) feeds += 1
  return feeds
}
