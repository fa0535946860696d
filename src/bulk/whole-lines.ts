import type { Clock } from '../flow.js'
import { LINE_FEED } from '../text/bytes.js'

/** One stretch of an input's bytes, valid until the next one is requested. */
export type Piece =
  /** Whole lines with their line ends. Empty if bytes came and no line ended. */
  | { readonly kind: 'lines'; readonly bytes: Buffer }
  /** The next piece of a line that is longer than allowed. */
  | { readonly kind: 'long'; readonly bytes: Uint8Array; readonly ends: boolean }
  /** Bytes after the last line end. `broken`: the input ended in an error, so the rest may be missing. */
  | { readonly kind: 'tail'; readonly bytes: Buffer; readonly broken: boolean }
  /** No bytes for some time. */
  | { readonly kind: 'late' }

/** Cuts chunks into whole lines. An error of the chunks is thrown behind the tail. */
export async function* wholeLines(
  chunks: AsyncIterable<Uint8Array>,
  options: { maxLineBytes: number; lateMs: number; clock: Clock },
): AsyncGenerator<Piece> {
  let held: Buffer[] = []
  let heldBytes = 0
  let long = false
  let broken: { error: unknown } | undefined
  try {
    for await (const chunk of orLate(chunks, options.lateMs, options.clock)) {
      if (chunk === 'late') {
        yield { kind: 'late' }
        continue
      }
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      let from = 0
      if (heldBytes > 0 || long) {
        const lineFeed = bytes.indexOf(LINE_FEED)
        const ends = lineFeed !== -1
        from = ends ? lineFeed + 1 : bytes.length
        const rest = bytes.subarray(0, from)
        if (!long && heldBytes + from > options.maxLineBytes) {
          for (const piece of held) yield { kind: 'long', bytes: piece, ends: false }
          long = true
        }
        if (long) yield { kind: 'long', bytes: rest, ends }
        else if (ends) yield { kind: 'lines', bytes: Buffer.concat([...held, rest]) }
        else held.push(Buffer.from(rest))
        heldBytes += from
        if (ends || long) {
          held = []
          heldBytes = 0
        }
        if (ends) long = false
      }
      const end = bytes.lastIndexOf(LINE_FEED) + 1
      if (from < end) yield { kind: 'lines', bytes: bytes.subarray(from, end) }
      else if (end === 0 && !long) yield { kind: 'lines', bytes: bytes.subarray(0, 0) }
      const tail = bytes.subarray(Math.max(from, end))
      if (tail.length > 0) {
        // The chunk's memory is its source's again with the next chunk.
        held.push(Buffer.from(tail))
        heldBytes += tail.length
      }
    }
  } catch (error) {
    broken = { error }
  }
  if (long && broken === undefined) yield { kind: 'long', bytes: new Uint8Array(0), ends: true }
  if (heldBytes > 0) yield { kind: 'tail', bytes: Buffer.concat(held), broken: broken !== undefined }
  if (broken !== undefined) throw broken.error
}

/** Timers may be a moment ahead of the clock. */
const MOMENT_MS = 2

/** Yields the chunks, and one `late` between two that are further apart than `ms`. One timer serves many chunks. */
async function* orLate(
  chunks: AsyncIterable<Uint8Array>,
  ms: number,
  clock: Clock,
): AsyncGenerator<Uint8Array | 'late'> {
  const iterator = chunks[Symbol.asyncIterator]()
  const ended = new AbortController()
  let isTiming = false
  let wake = () => {}
  const startTimer = (left: number) => {
    isTiming = true
    const fired = () => {
      isTiming = false
      wake()
    }
    clock.sleep(left, ended.signal).then(fired, fired)
  }
  /** Whether the chunk came, and not the timer. */
  const cameFirst = async (next: Promise<unknown>) =>
    await new Promise<boolean>(resolve => {
      wake = () => resolve(false)
      const came = () => resolve(true)
      next.then(came, came)
    })
  try {
    for (;;) {
      const next = iterator.next()
      const since = clock.now()
      if (!isTiming) startTimer(ms)
      while (!(await cameFirst(next))) {
        const left = ms - (clock.now() - since)
        if (left <= MOMENT_MS) {
          yield 'late'
          break
        }
        startTimer(left)
      }
      const { done, value } = await next
      if (done === true) return
      yield value
    }
  } finally {
    ended.abort()
    await iterator.return?.()
  }
}
