import { type IndexPattern, nameOf } from '../../../base/text/index-pattern.js'
import type { Range } from './action-writer.js'

const QUOTE = 0x22

/** Returns the name of the index that stands beside a document, or why the document has none. */
export function indexBeside(value: Range | undefined, pattern: IndexPattern): string | { readonly problem: string } {
  if (value === undefined) return { problem: 'it has no _index' }
  const { bytes, from, to } = value
  if (bytes[from] !== QUOTE) return { problem: 'its _index is not a string' }
  const index = JSON.parse(bytes.toString('utf8', from, to)) as string
  const name = nameOf(
    pattern,
    pattern.fields.map(() => index),
  )
  return typeof name === 'string' ? name : { problem: `its _index ${name.problem}` }
}
