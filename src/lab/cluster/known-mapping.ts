/** Refuses what a mapping holds and the lab would read in another way than Elasticsearch. */
import { dateFormat } from './date-formats.js'
import { RequestRefused } from './answers.js'
import { beyondLab } from './query/values.js'
import { asObject } from './templates.js'

/** Throws RequestRefused for a format of dates that the lab does not know. */
export function checkMapping(mappings: unknown): void {
  const { properties, dynamic_date_formats: formats } = asObject(mappings)
  if (formats !== undefined) beyondLab('[dynamic_date_formats] of a mapping')
  for (const [name, value] of Object.entries(asObject(properties))) checkField(name, asObject(value))
}

function checkField(path: string, { type, format, properties, fields }: Record<string, unknown>): void {
  if (type === 'string') throw new RequestRefused(removedType(path))
  if (type === 'date' && typeof format === 'string' && dateFormat(format) === undefined)
    beyondLab(`the date format [${format}], as field [${path}] has`)
  for (const below of [properties, fields])
    for (const [name, value] of Object.entries(asObject(below))) checkField(`${path}.${name}`, asObject(value))
}

/** Elasticsearch 5 split this type. */
function removedType(path: string) {
  const cause = `No handler for type [string] declared on field [${path}]`
  return { status: 400, type: 'mapper_parsing_exception', reason: `Failed to parse mapping: ${cause}` }
}
