/** Cuts the bytes of one input into lines, on their way into batches. It is alike for documents and for dead letters. */
import type { Batch, Clock, Input, Lines, LongLine } from '../../base/flow.js'
import { LINE_FEED, withoutLineEnd } from '../../base/text/bytes.js'
import { lineProblem } from './judge-line.js'
import type { OpenBatch, Position } from './open-batch.js'

interface Framer {
  /** The batch that is being filled: another one each time that one was sealed. */
  open(): OpenBatch
  /** Ends that batch. */
  seal(): Batch
  /** Whole lines with their line ends, which the last one may lack. Moves `at` behind them. */
  lines(bytes: Buffer, at: Position): AsyncGenerator<Batch>
  /** Takes a line longer than `maxLineBytes`. Returns what to write of `head`, its first bytes. */
  long(head: Buffer, at: Position): Promise<{ readonly line: LongLine; readonly head: Uint8Array }>
  readonly maxLineBytes: number
  /** How much of a long line `long` has to see, if it has as much. */
  readonly headBytes: number
  /** An open batch is sealed when its first line has waited this long. */
  readonly batchMs: number
  readonly clock: Clock
}

/** Yields the filled batches. If the bytes end in an error, frames the whole lines before it, then throws it. */
export async function* frameLines(input: Input, lines: Lines, framer: Framer): AsyncGenerator<Batch> {
  const { maxLineBytes, headBytes, batchMs: lateMs, clock } = framer
  const { kind, document = 1, line = 1, hasParts } = lines
  const within = hasParts === true ? (lines.within ?? 0) : undefined
  const at: Position = { input, kind, document, line, offset: lines.at, member: lines.members?.(), within }
  let long: LongLine | undefined
  /** The first bytes of a long line, and its position. */
  let head = Buffer.alloc(0)
  let start = at
  try {
    for await (const piece of wholeLines(lines.bytes, { maxLineBytes, lateMs, clock })) {
      switch (piece.kind) {
        case 'lines':
          yield* framer.lines(piece.bytes, at)
          break
        case 'tail':
          // At a broken end only a whole object counts. Anything else may lack its rest.
          if (piece.broken && lineProblem(piece.bytes, 0, piece.bytes.length, false) !== undefined) break
          if (!piece.broken) at.tail = { document: at.document, line: at.line, offset: at.offset }
          yield* framer.lines(piece.bytes, at)
          break
        case 'long': {
          const bytes = piece.ends ? withoutLineEnd(Buffer.from(piece.bytes)) : piece.bytes
          if (long !== undefined) await long.write(bytes)
          else {
            if (head.length === 0) start = { ...at }
            head = Buffer.concat([head, bytes])
            if (head.length >= headBytes || piece.ends) {
              // The long line is written piece by piece. Documents before it must be on their way first.
              if (!framer.open().isEmpty) yield framer.seal()
              const begun = await framer.long(head, start)
              long = begun.line
              await long.write(begun.head)
              head = Buffer.alloc(0)
            }
          }
          at.offset += piece.bytes.length
          if (!piece.ends) break
          await long?.end()
          long = undefined
          at.document += 1
          at.line += 1
          if (at.within !== undefined) at.within = 0
          if (framer.open().isEmpty) framer.open().since = clock.now()
          framer.open().reach(at)
          break
        }
        case 'late':
          // The open batch has waited as long as the bytes did. Timers may run a moment ahead of the clock.
          if (!framer.open().isEmpty) yield framer.seal()
          break
      }
      if (!framer.open().isEmpty && clock.now() - framer.open().since >= lateMs) yield framer.seal()
    }
  } finally {
    await long?.abandon()
  }
}

/** One stretch of an input's bytes, valid until the next one is requested. */
type Piece =
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

/** Returns whether a promise settles before anything else happens. */
async function isThere(next: Promise<unknown>): Promise<boolean> {
  return await new Promise(resolve => {
    const came = () => resolve(true)
    next.then(came, came)
    setImmediate(() => resolve(false))
  })
}

/** Yields the chunks, and one `late` between two that are further apart than `ms`. One timer serves many chunks. */
async function* orLate(
  chunks: AsyncIterable<Uint8Array>,
  ms: number,
  clock: Clock,
): AsyncGenerator<Uint8Array | 'late'> {
  const iterator = chunks[Symbol.asyncIterator]()
  let ended: AbortController | undefined
  let isTiming = false
  let wake = () => {}
  const startTimer = (left: number) => {
    isTiming = true
    const fired = () => {
      isTiming = false
      wake()
    }
    ended ??= new AbortController()
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
      // Most chunks are there at once, and an input of one chunk needs no timer.
      if (isTiming || !(await isThere(next))) {
        if (!isTiming) startTimer(ms)
        while (!(await cameFirst(next))) {
          const left = ms - (clock.now() - since)
          if (left <= MOMENT_MS) {
            yield 'late'
            break
          }
          startTimer(left)
        }
      }
      const { done, value } = await next
      if (done === true) return
      yield value
    }
  } finally {
    ended?.abort()
    await iterator.return?.()
  }
}
