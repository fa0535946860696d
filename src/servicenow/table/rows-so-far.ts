import type { Place } from '../../flow.js'
import { IdSet } from '../deletions/id-set.js'
import { LINE_FEED } from '../../text/bytes.js'
import { parseObject } from '../../text/parse-json.js'
import { isBehind, stored } from './row.js'

/** The rows that an interrupted reading wrote as NDJSON. */
export interface RowsSoFar {
  readonly rows: number
  /** Bytes of whole lines with rows. The rest was being written at the end. */
  readonly bytes: number
  readonly ids: IdSet
  /** The row after which reading continues: the last one of the reading by `sys_id`. */
  readonly last: string | undefined
}

/** Reads it once, without holding it. */
export async function rowsSoFar(chunks: AsyncIterable<Uint8Array>): Promise<RowsSoFar> {
  const ids = new IdSet()
  let last: string | undefined
  // Rows made meanwhile follow the reading by sys_id, in another order. If one of them seems to continue the first part,
  // all rows before it have been read too. So any row of this stretch is a good one to continue after.
  let isInOrder = true
  let rows = 0
  let bytes = 0
  for await (const line of wholeLines(chunks)) {
    const id = idIn(line)
    // After a crash of the machine, bytes that were not synced may be anything. Any prefix of the file is good to
    // continue from.
    if (id === '') break
    isInOrder &&= last === undefined || isBehind(id, { id: last })
    if (isInOrder) last = id
    ids.add(id)
    rows += 1
    bytes += line.length
  }
  return { rows, bytes, ids, last }
}

/** Returns the place of a reading that began at `start` and has given out these rows. */
export function placeBehind(start: Place, { last }: RowsSoFar): Place {
  return last === undefined ? start : { ...start, cursor: { id: last } }
}

/** Returns an empty text if the line is no row. */
function idIn(line: Buffer): string {
  return stored(parseObject(line)?.['sys_id'])
}

/** Yields lines with their line ends. Bytes after the last line end are left out. */
async function* wholeLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let begun: Uint8Array[] = []
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let from = 0
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, from)) {
      const rest = bytes.subarray(from, end + 1)
      yield begun.length === 0 ? rest : Buffer.concat([...begun, rest])
      begun = []
      from = end + 1
    }
    if (from < bytes.length) begun.push(bytes.subarray(from))
  }
}
