import type { Place } from '../../flow.js'
import { IdSet } from '../deletions/id-set.js'
import { isBehind } from './row-order.js'
import { stored } from './row.js'

const LINE_FEED = 0x0a

/** What a reading that ended anywhere has written of a table, as NDJSON. */
export interface RowsSoFar {
  readonly rows: number
  /** Of whole lines that hold rows: what follows was being written when it ended. */
  readonly bytes: number
  readonly ids: IdSet
  /** The row that reading goes on behind: the last one of the reading by `sys_id`, as far as it came. */
  readonly last: string | undefined
}

/** Reads it once, without holding it. */
export async function rowsSoFar(chunks: AsyncIterable<Uint8Array>): Promise<RowsSoFar> {
  const ids = new IdSet()
  let last: string | undefined
  // Behind the reading by sys_id come the rows that were made meanwhile, in another order. Where one of them seems to go on with the
  // first, all rows before it have been read, too: any row of this run is one to go on behind.
  let isInOrder = true
  let rows = 0
  let bytes = 0
  for await (const line of wholeLines(chunks)) {
    const id = idIn(line)
    // After a failure of the machine whatever was not on the disk may be anything. Each beginning of the file is one to go on from.
    if (id === '') break
    isInOrder &&= last === undefined || isBehind(id, { id: last })
    if (isInOrder) last = id
    ids.add(id)
    rows += 1
    bytes += line.length
  }
  return { rows, bytes, ids, last }
}

/** The place of a reading that began at `start` and has given out what `so far` tells. */
export function placeBehind(start: Place, { last }: RowsSoFar): Place {
  return last === undefined ? start : { ...start, cursor: { id: last } }
}

/** Empty where the line is no row. */
function idIn(line: Buffer): string {
  try {
    const row = JSON.parse(line.toString()) as { readonly sys_id?: unknown } | null
    return stored(row?.sys_id)
  } catch {
    return ''
  }
}

/** Each with its line end; what follows the last one is left out. */
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
