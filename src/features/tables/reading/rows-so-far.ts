import type { Place } from '../../../base/flow.js'
import { IdSet } from './id-set.js'
import { LINE_FEED } from '../../../base/text/bytes.js'
import { parseObject } from '../../../base/json/parse-json.js'
import { isBehind, stored } from './row.js'

export interface RowsSoFar {
  readonly rows: number
  /** Bytes of whole lines with rows. */
  readonly bytes: number
  readonly ids: IdSet
  /** The row after which reading continues: the last one of the reading by `sys_id`. */
  readonly last: string | undefined
}

/** Reads the rows that an interrupted reading wrote as NDJSON. */
export async function rowsSoFar(chunks: AsyncIterable<Uint8Array>): Promise<RowsSoFar> {
  const ids = new IdSet()
  let last: string | undefined
  // Rows made in the meantime follow the reading by sys_id, in another order. If one of them seems to continue the first
  // part, all rows before it have been read too, so reading may continue after it.
  let isInOrder = true
  let rows = 0
  let bytes = 0
  for await (const line of wholeLines(chunks)) {
    const id = idIn(line)
    // After a crash of the machine, bytes that were not synced may be anything. Any prefix of the file is enough.
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
