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
  /** Where a line goes that is longer than `maxLineBytes`, and what is written there of `head`, the bytes that it begins with. */
  long(head: Buffer, at: Position): Promise<{ readonly line: LongLine; readonly head: Uint8Array }>
  readonly maxLineBytes: number
  /** How much of a long line `long` has to see, if it has as much. */
  readonly headBytes: number
  /** An open batch is sealed when its first line has waited for so long. */
  readonly batchMs: number
  readonly clock: Clock
}

/** The batches that were filled. When the bytes end in an error, what is whole before it is framed; then the error is thrown. */
export async function* frameLines(input: Input, lines: Lines, framer: Framer): AsyncGenerator<Batch> {
  const { maxLineBytes, headBytes, batchMs: lateMs, clock } = framer
  const { kind, document = 1, line = 1 } = lines
  const at: Position = { input, kind, document, line, offset: lines.at }
  let long: LongLine | undefined
  /** What was read of a long line, until it is enough, and where that line stands. */
  let head = Buffer.alloc(0)
  let start = at
  try {
    for await (const piece of wholeLines(lines.bytes, { maxLineBytes, lateMs, clock })) {
      switch (piece.kind) {
        case 'lines':
          yield* framer.lines(piece.bytes, at)
          break
        case 'tail':
          // Behind a broken end only a whole object counts; anything else is a piece that is missing its rest.
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
              // It is written down as it comes: what stands before it has to be on its way.
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
          // What is open has waited for as long as the bytes did; timers may be a moment ahead of the clock.
          if (!framer.open().isEmpty) yield framer.seal()
          break
      }
      if (!framer.open().isEmpty && clock.now() - framer.open().since >= lateMs) yield framer.seal()
    }
  } finally {
    await long?.abandon()
  }
}
