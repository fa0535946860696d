import { isWhiteSpace } from '../text/bytes.js'
/** The start of an input, and all of its bytes. */
export interface Opening {
  readonly encoding: 'UTF-8' | 'UTF-16' | 'UTF-32'
  /** Length of the byte order mark. */
  readonly at: 0 | 3
  /** The first byte that is not white space, if it was asked for and comes soon enough. */
  readonly first: number | undefined
  /** Everything after the byte order mark, in the source's own chunks. */
  readonly bytes: AsyncIterable<Uint8Array>
  /** Closes the source if nobody reads `bytes`. */
  close(): Promise<void>
}

const MARKS = [
  { encoding: 'UTF-8', mark: [0xef, 0xbb, 0xbf] },
  { encoding: 'UTF-32', mark: [0xff, 0xfe, 0, 0] },
  { encoding: 'UTF-32', mark: [0, 0, 0xfe, 0xff] },
  { encoding: 'UTF-16', mark: [0xff, 0xfe] },
  { encoding: 'UTF-16', mark: [0xfe, 0xff] },
] as const

/** No JSON document begins with more white space than this. */
const LONGEST_SEARCH_BYTES = 64 << 10

/** Reads the start of the source: only what it takes to decide, usually the first chunk, which is passed on uncopied. */
export async function readOpening(bytes: AsyncIterable<Uint8Array>, wantsFirst: boolean): Promise<Opening> {
  const iterator = bytes[Symbol.asyncIterator]()
  let head: Uint8Array = new Uint8Array(0)
  let failed: { error: unknown } | undefined
  while (isUndecided(head, wantsFirst)) {
    // The next chunk may overwrite this one.
    const kept = Uint8Array.from(head)
    head = kept
    try {
      const next = await iterator.next()
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
    first: text.find(byte => !isWhiteSpace(byte)),
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

function isUndecided(head: Uint8Array, wantsFirst: boolean): boolean {
  if (MARKS.some(({ mark }) => head.length < mark.length && head.every((byte, index) => byte === mark[index])))
    return true
  if (!wantsFirst || head.length > LONGEST_SEARCH_BYTES) return false
  return head.subarray(begins(head, MARKS[0].mark) ? 3 : 0).every(isWhiteSpace)
}

function begins(head: Uint8Array, mark: readonly number[]): boolean {
  return mark.every((byte, index) => head[index] === byte)
}
