import type { Row } from './table-row.js'

const CHUNK_CHARACTERS = 96 << 10

/** Rows as NDJSON, a line each, in chunks of whole lines. Half a surrogate pair is written as an escape, as JSON allows. */
export function* rowLines(rows: Iterable<Row>): Generator<Buffer> {
  let text = ''
  for (const row of rows) {
    text += `${JSON.stringify(row)}\n`
    if (text.length < CHUNK_CHARACTERS) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}
