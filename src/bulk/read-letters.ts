import type { Clock } from '../flow.js'
import { LINE_FEED } from '../text/bytes.js'
import { isBlank } from './check-line.js'
import { HEAD_BYTES, type Recorded, readDeadLetter, readLongHead } from './dead-letter.js'
import { wholeLines } from './whole-lines.js'

/** Longer than any record that has to be held to be understood. */
const LONG_BYTES = 16 << 20
/** Files need no limit of waiting. */
const NEVER_MS = 2 ** 31 - 1

/** A line that is no dead letter. `isLong`: it is too long to hold, and its rest is still unread. */
export interface NoLetter {
  readonly problem: string
  readonly isLong?: true
}

/** Yields the facts of dead letters, without their documents. Throws the reader's errors. */
export async function* readLetters(
  input: string,
  bytes: AsyncIterable<Uint8Array>,
  clock: Clock,
): AsyncGenerator<Recorded | NoLetter> {
  const where = { input, document: 1 }
  let head = Buffer.alloc(0)
  let isTold = false
  for await (const piece of wholeLines(bytes, { maxLineBytes: LONG_BYTES, lateMs: NEVER_MS, clock })) {
    if (piece.kind === 'late') continue
    if (piece.kind === 'long') {
      if (!isTold) head = Buffer.concat([head, piece.bytes])
      if (!isTold && (head.length >= HEAD_BYTES || piece.ends)) {
        isTold = true
        const problem = 'it does not begin with operation and origin'
        yield readLongHead(head)?.recorded ?? { problem, isLong: true }
      }
      if (!piece.ends) continue
      head = Buffer.alloc(0)
      isTold = false
      continue
    }
    for (let from = 0; from < piece.bytes.length;) {
      const lineFeed = piece.bytes.indexOf(LINE_FEED, from)
      const to = lineFeed === -1 ? piece.bytes.length : lineFeed + 1
      const line = piece.bytes.subarray(from, to)
      from = to
      if (!isBlank(line, 0, line.length)) yield readDeadLetter(line, where)
    }
  }
}
