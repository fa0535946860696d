/** Counts the fields of a mapping as Elasticsearch does. */
import { isObject } from '../../base/json/parse-json.js'

/** An index takes so many fields if its settings say nothing. */
const USUAL_LIMIT = 1_000
/** Later documents may bring fields that the first ones do not have. */
const ROOM = 1.25

/** Returns the `index.mapping.total_fields.limit` that an index with this mapping needs. Undefined if the usual one is enough. */
export function fieldLimit(mapping: unknown): number | undefined {
  const needed = fieldsIn(mapping) * ROOM
  return needed > USUAL_LIMIT ? Math.ceil(needed / USUAL_LIMIT) * USUAL_LIMIT : undefined
}

/** Objects and the further fields of a field count as well. */
function fieldsIn(field: unknown): number {
  if (!isObject(field)) return 0
  const below = ['properties', 'fields'].flatMap(key => (isObject(field[key]) ? Object.values(field[key]) : []))
  return below.reduce<number>((sum, one) => sum + 1 + fieldsIn(one), 0)
}
