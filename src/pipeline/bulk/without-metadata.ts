import type { ConditionFields } from '../../base/operation.js'
import { ObjectFields } from '../../base/json/parse-json.js'
import { withoutLineEnd } from '../../base/text/bytes.js'

/** Elasticsearch refuses documents that hold them. */
const METADATA: ReadonlySet<string> = new Set(['_seq_no', '_primary_term'])

/**
 * Returns the line of a document without the metadata that goes into its action line, and as long as before: origins are computed from
 * the lengths of lines. Every other byte stays, in its order. The line must be a valid JSON object.
 */
export function withoutMetadata(
  line: Buffer,
  { ifSeqNoField: one = '', ifPrimaryTermField: other = '' }: ConditionFields,
): Buffer {
  if (!METADATA.has(one) && !METADATA.has(other)) return line
  const fields = new ObjectFields()
  fields.read(line, line.indexOf('{'))
  const kept: string[] = []
  for (let field = 0; field < fields.count; field += 1)
    if (!METADATA.has(fields.name(line, field)))
      kept.push(line.toString('latin1', (fields.nameFrom[field] as number) - 1, fields.to[field]))
  if (kept.length === fields.count) return line
  const { length } = withoutLineEnd(line)
  const lineEnd = line.toString('latin1', length)
  return Buffer.from(`{${kept.join(',')}}`.padEnd(length) + lineEnd, 'latin1')
}
