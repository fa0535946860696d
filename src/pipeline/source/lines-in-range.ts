/**
 * Cuts a range of an object at line ends. A line belongs to the range in which its first byte stands, so that ranges that join each
 * other hold each line once, however the object is cut.
 */
import type { LinesAt } from '../../base/flow.js'

/** The bytes that a last line is read on by. Most lines are shorter. */
const MORE_BYTES = 64 << 10
const MOST_MORE_BYTES = 4 << 20

export interface CutObject {
  /** Stored bytes of the whole object. */
  readonly size: number
  /** Reads the bytes of [from, to). A chunk is valid until the next one is asked for. */
  read(from: number, to: number): AsyncIterable<Uint8Array>
}

/** Finds the first line that begins in [from, to). Its offset is `to` if there is none. */
export async function linesInRange(object: CutObject, from: number, to: number): Promise<LinesAt> {
  const end = Math.min(to, object.size)
  if (from >= end) return none(to)
  if (from === 0) return { at: 0, bytes: wholeLines(object, object.read(0, end)[Symbol.asyncIterator](), end) }
  // A line begins here if the byte before is a line feed.
  const chunks = object.read(from - 1, end)[Symbol.asyncIterator]()
  for (let at = from - 1; ;) {
    const next = await chunks.next()
    if (next.done === true) return none(to)
    const lineFeed = next.value.indexOf(LINE_FEED)
    at += lineFeed === -1 ? next.value.length : lineFeed + 1
    if (lineFeed === -1) continue
    if (at < end) return { at, bytes: wholeLines(object, chunks, end, next.value.subarray(lineFeed + 1)) }
    await chunks.return?.()
    return none(to)
  }
}

const LINE_FEED = 0x0a

function none(at: number): LinesAt {
  return { at, bytes: (async function* () {})() }
}

/** Yields the rest of the chunks, which end at `end`, and then the rest of the last line. `first`: what is left of the chunk before. */
async function* wholeLines(
  object: CutObject,
  chunks: AsyncIterator<Uint8Array>,
  end: number,
  first: Uint8Array = new Uint8Array(0),
): AsyncGenerator<Uint8Array> {
  let isWhole = false
  try {
    for (let chunk = first; ;) {
      if (chunk.length > 0) {
        isWhole = chunk.at(-1) === LINE_FEED
        yield chunk
      }
      const next = await chunks.next()
      if (next.done === true) break
      chunk = next.value
    }
  } finally {
    await chunks.return?.()
  }
  for (
    let [at, bytes] = [end, MORE_BYTES];
    !isWhole && at < object.size;
    bytes = Math.min(4 * bytes, MOST_MORE_BYTES)
  ) {
    const to = Math.min(at + bytes, object.size)
    for await (const chunk of object.read(at, to)) {
      const lineFeed = chunk.indexOf(LINE_FEED)
      isWhole = lineFeed !== -1
      yield isWhole ? chunk.subarray(0, lineFeed + 1) : chunk
      if (isWhole) break
    }
    at = to
  }
}
