/** The lines of one input, on their way into batches: what is alike for documents and for dead letters. */
import type { Batch, Clock, Input, Lines, LongLine } from '../flow.js'
import { lineProblem } from './check-line.js'
import { withoutLineEnd } from './judge-line.js'
import type { OpenBatch, Position } from './open-batch.js'
import { wholeLines } from './whole-lines.js'

export interface Framer {
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
  const { kind, document = 1, line = 1 } = lines
  const at: Position = { input, kind, document, line, offset: lines.at }
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
