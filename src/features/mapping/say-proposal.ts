/** Says in sentences what a proposed mapping holds, and which fields fit no type. */
import { isObject } from '../../base/json/parse-json.js'
import { visible } from '../../base/text/shown.js'
import type { TypeConflict } from './propose.js'

/** Fields that are named. */
const NAMED = 20

/** Says the types of fields: `total double, ordered date (dd.MM.yyyy), 3 more`. */
export function shownFields(mapping: unknown): string {
  const all = [...typesIn(mapping, '')].map(
    ({ field, type, format }) => `${visible(field)} ${type}${typeof format === 'string' ? ` (${format})` : ''}`,
  )
  const more = all.length > NAMED ? `, and ${all.length - NAMED} more fields` : ''
  return all.slice(0, NAMED).join(', ') + more
}

function* typesIn(mapping: unknown, above: string): Generator<{ field: string; type: string; format: unknown }> {
  const properties = isObject(mapping) && isObject(mapping['properties']) ? mapping['properties'] : {}
  for (const [name, field] of Object.entries(properties)) {
    const { type, format } = isObject(field) ? field : {}
    if (typeof type !== 'string') yield* typesIn(field, `${above}${name}.`)
    else yield { field: above + name, type, format }
  }
}

/** What an input has that cannot be read as a document. */
export type Unreadable = 'row' | 'line' | 'document'

interface Seen {
  readonly conflicts: readonly TypeConflict[]
  readonly empty: readonly string[]
  readonly unreadable: ReadonlyMap<Unreadable, { readonly count: number; readonly first: string }>
  readonly mapping: unknown
  /** Words for missing values by their columns, if a load without more options takes them for text. */
  readonly unread: ReadonlyMap<string, readonly string[]>
  readonly isCut: boolean
  readonly documents: number
  readonly ambiguous: readonly string[]
}

export function* notesOn({
  conflicts,
  empty,
  unreadable,
  isCut,
  documents,
  ambiguous,
  ...more
}: Seen): Generator<string> {
  for (const { field, kinds, proposed, takesAll } of conflicts) {
    const seen = kinds.map(
      ({ kind, documents: many, first }) =>
        `${kind} in ${counted(many, 'document')} (${share(many, documents)}), first at ${first}`,
    )
    const what = takesAll
      ? `The mapping has ${proposed}, which takes all of them`
      : `No type takes all of them. The mapping has ${proposed}`
    yield `${field}: ${seen.join(', ')}. ${what}`.replaceAll(';', ',')
  }
  if (ambiguous.length > 0)
    yield `no date shows whether the day or the month comes first, so the mapping has keyword: ${listed(ambiguous)}. If you know it, change the type to date with the format dd/MM/yyyy or MM/dd/yyyy`
  if (empty.length > 0) yield `always null or empty, so without a type: ${listed(empty)}`
  yield* unreadWords(more)
  for (const [what, { count, first }] of unreadable) {
    const verb = what === 'row' ? 'cannot be loaded' : count === 1 ? 'is not a JSON object' : 'are not JSON objects'
    yield `${counted(count, what)} ${verb}, first at ${first}`
  }
  if (isCut) yield 'the documents have more than 10,000 fields. The others are not in the mapping'
}

/** The index takes such a word only as text. */
function* unreadWords({ mapping, unread }: Pick<Seen, 'mapping' | 'unread'>): Generator<string> {
  if (unread.size === 0) return
  const typed = [...typesIn(mapping, '')].flatMap(({ field, type }) => (TEXTS.has(type) ? [] : [field]))
  const columns = typed.filter(field => unread.has(field))
  if (columns.length === 0) return
  const words = new Set(columns.flatMap(field => unread.get(field) ?? []))
  const have = columns.length === 1 ? 'has' : 'have'
  yield `${listed(columns)} ${have} ${[...words].join(', ')} in place of missing values. Pass --infer-types to the load too. Without it, the index rejects these rows`
}

const TEXTS: ReadonlySet<string> = new Set(['keyword', 'text'])

function listed(fields: readonly string[]): string {
  const more = fields.length > NAMED ? ` and ${fields.length - NAMED} more` : ''
  return `${fields.slice(0, NAMED).join(', ')}${more}`
}

function counted(number: number, what: string): string {
  return `${number.toLocaleString('en-US')} ${what}${number === 1 ? '' : 's'}`
}

function share(part: number, all: number): string {
  return `${((100 * part) / Math.max(1, all)).toFixed(1)}%`
}
