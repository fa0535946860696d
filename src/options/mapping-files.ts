/** Reads what files of `--mapping` and `--template` hold: the forms in which people have them. */
import type { IndexTemplate } from './load.js'
import { invalid } from './option-checks.js'
import { isObject, type JsonObject } from '../base/json/parse-json.js'

const ofMapping =
  'properties dynamic dynamic_templates date_detection numeric_detection dynamic_date_formats _source _routing _meta _size _field_names runtime subobjects enabled _doc _data_stream_timestamp _tier _inference_fields'

const rootNames: ReadonlySet<string> = new Set(ofMapping.split(' '))

/** Takes a mapping itself, `{"mappings": …}`, or the answer of `GET /INDEX/_mapping` for one index. Throws SluiceError OPTION_INVALID. */
export function mappingIn(given: JsonObject): JsonObject {
  const inner = isObject(given['mappings']) ? given : onlyIndex(given)
  if (inner === undefined) {
    const unknown = Object.keys(given).find(name => !rootNames.has(name))
    if (unknown === undefined) return given
    throw invalid(
      'mapping',
      `has ${JSON.stringify(unknown)}, which is not part of a mapping. A mapping begins with {"properties": …}`,
    )
  }
  const other = Object.keys(inner).find(name => name !== 'mappings')
  if (other !== undefined && inner === given)
    throw invalid(
      'mapping',
      `has ${JSON.stringify(other)} next to the mapping. Put settings and aliases into a template (--template)`,
    )
  return inner['mappings'] as JsonObject
}

function onlyIndex(given: JsonObject): JsonObject | undefined {
  const [one, ...more] = Object.values(given)
  return more.length === 0 && isObject(one) && isObject(one['mappings']) ? one : undefined
}

/**
 * Takes the body of an index template with its name as `name`, or the answer of `GET /_index_template/NAME`. Throws SluiceError
 * OPTION_INVALID.
 */
export function templateIn(given: JsonObject): IndexTemplate {
  const listed = Array.isArray(given['index_templates']) ? (given['index_templates'] as unknown[]) : [given]
  const [one, ...more] = listed
  if (!isObject(one) || more.length > 0) throw invalid('template', 'does not hold exactly one index template')
  const { name, index_template: inner, ...plain } = one
  const body = isObject(inner) ? inner : plain
  if (typeof name !== 'string' || name === '' || name.includes('*'))
    throw invalid('template', 'has no name. Add "name", or put it into a file whose name is that of the template')
  if (body['index_patterns'] === undefined)
    throw invalid('template', 'has no index_patterns, so it is not an index template')
  return { name, body }
}
