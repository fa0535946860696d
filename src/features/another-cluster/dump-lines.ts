/** Writes hits as elasticdump does: index, id, routing and document, as the cluster sent them. */
import { ObjectFields, passSpace, passValue } from '../../base/json/parse-json.js'

const NAMES = ['_index', '_id', '_routing', '_source'].map(name => Buffer.from(name))
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const LINE_FEED = 0x0a
const QUOTE = 0x22
const COLON = 0x3a
const COMMA = 0x2c

/** `hits`: one on each line. Leaves out what belongs to a search: its score, and the values that it sorted by. */
export function linesOfHits(hits: Buffer): Buffer {
  // Each part is shorter than in the hit.
  const lines = Buffer.allocUnsafe(hits.length)
  const fields = new ObjectFields()
  let length = 0
  for (let at = 0; at < hits.length; at = passValue(hits, at) + 1) {
    at = passSpace(hits, at)
    fields.read(hits, at)
    lines[length++] = OPEN_OBJECT
    let isFirst = true
    for (const name of NAMES) {
      const field = fields.find(hits, name)
      if (field === -1) continue
      if (!isFirst) lines[length++] = COMMA
      isFirst = false
      lines[length++] = QUOTE
      length += name.copy(lines, length)
      lines[length++] = QUOTE
      lines[length++] = COLON
      length += hits.copy(lines, length, fields.from[field], fields.to[field])
    }
    lines[length++] = CLOSE_OBJECT
    lines[length++] = LINE_FEED
  }
  return lines.subarray(0, length)
}
