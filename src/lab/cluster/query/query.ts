import { RequestRefused } from '../answers.js'
import type { Mapping } from '../mapping.js'
import { type Matches, doesExist, everything, hasWords, isInRange, isTerm, nothing } from './matches.js'
import { queryString } from './query-string.js'
import { beyondLab } from './values.js'

export type Json = Readonly<Record<string, unknown>>

/** Returns which documents of an index match a query. Throws RequestRefused for what the lab does not know. */
export function compileQuery(query: unknown, mapping: Mapping): Matches {
  if (query === undefined) return everything
  const [kind, about] = onlyEntry(query, 'query')
  const compile = kinds[kind]
  if (compile === undefined) return beyondLab(`the query [${kind}]. It knows ${Object.keys(kinds).join(', ')}`)
  return compile(asQuery(about, kind), mapping)
}

const kinds: Readonly<Record<string, (about: Json, mapping: Mapping) => Matches>> = {
  match_all: () => everything,
  match_none: () => nothing,
  ids: about => {
    const { values } = known('ids', about, ['values', 'boost'])
    const wanted = new Set([values ?? []].flat().map(String))
    return ({ id }) => wanted.has(id)
  },
  exists: (about, mapping) => doesExist(mapping, String(known('exists', about, ['field', 'boost'])['field'])),
  term: (about, mapping) => {
    const [field, wanted] = onlyEntry(about, 'term')
    const { value } = isObject(wanted) ? known('term', wanted, ['value', 'boost']) : { value: wanted }
    return isTerm(mapping, field, scalar(value, 'term'))
  },
  terms: (about, mapping) => {
    const { boost: _, ...fields } = about
    const [field, wanted] = onlyEntry(fields, 'terms')
    if (!Array.isArray(wanted)) return beyondLab('[terms] without a list of values')
    const any = wanted.map(value => isTerm(mapping, field, scalar(value, 'terms')))
    return candidate => any.some(matches => matches(candidate))
  },
  range: (about, mapping) => {
    const [field, wanted] = onlyEntry(about, 'range')
    const bounds = known('range', asQuery(wanted, 'range'), ['gt', 'gte', 'lt', 'lte', 'boost'])
    const names = (['gt', 'gte', 'lt', 'lte'] as const).filter(name => (bounds[name] ?? null) !== null)
    return isInRange(mapping, field, Object.fromEntries(names.map(name => [name, scalar(bounds[name], 'range')])))
  },
  match: (about, mapping) => {
    const [field, wanted] = onlyEntry(about, 'match')
    const { query, operator } = isObject(wanted)
      ? known('match', wanted, ['query', 'operator', 'boost'])
      : { query: wanted, operator: undefined }
    return hasWords(mapping, field, scalar(query, 'match'), isAnd(operator))
  },
  query_string: (about, mapping) => {
    const names = ['query', 'default_field', 'fields', 'default_operator', 'lenient', 'boost']
    const { query, default_field: single, fields: several, lenient, default_operator: operator } = known('query_string', about, names) // prettier-ignore
    const fields = [several ?? single ?? '*'].flat().map(String)
    const isLenient = lenient === undefined ? fields.includes('*') : lenient === true
    return queryString(scalar(query, 'query_string'), { mapping, fields, takesAll: isAnd(operator), isLenient })
  },
  bool: (about, mapping) => {
    const names = ['must', 'filter', 'should', 'must_not', 'minimum_should_match', 'boost']
    const { minimum_should_match: asked, ...parts } = known('bool', about, names)
    const of = (...clauses: string[]): Matches[] =>
      clauses.flatMap(clause => [parts[clause] ?? []].flat().map(one => compileQuery(one, mapping)))
    const [must, not, should] = [of('must', 'filter'), of('must_not'), of('should')]
    if (asked !== undefined && !/^"?\d+"?$/.test(JSON.stringify(asked)))
      beyondLab(`minimum_should_match [${JSON.stringify(asked)}]`)
    const least = asked === undefined ? (must.length > 0 ? 0 : Math.min(1, should.length)) : Number(asked)
    return candidate =>
      must.every(matches => matches(candidate)) &&
      !not.some(matches => matches(candidate)) &&
      should.filter(matches => matches(candidate)).length >= least
  },
}

/** The only member of an object. */
function onlyEntry(value: unknown, what: string): [name: string, about: unknown] {
  const [entry, ...others] = Object.entries(asQuery(value, what))
  if (entry !== undefined && others.length === 0) return entry
  const reason = entry === undefined ? 'query malformed, empty clause found' : `[${what}] query doesn't support multiple fields, found [${entry[0]}] and [${others[0]?.[0]}]` // prettier-ignore
  throw new RequestRefused({ status: 400, type: 'parsing_exception', reason })
}

function asQuery(value: unknown, what: string): Json {
  if (isObject(value)) return value
  throw new RequestRefused({ status: 400, type: 'parsing_exception', reason: `[${what}] query malformed, no start_object after query name` }) // prettier-ignore
}

/** Refuses members that the lab does not know. */
export function known(what: string, value: Json, names: readonly string[]): Json {
  const other = Object.keys(value).find(name => !names.includes(name))
  return other === undefined ? value : beyondLab(`[${other}] of [${what}]. It knows ${names.join(', ')}`)
}

function scalar(value: unknown, what: string): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new RequestRefused({
    status: 400,
    type: 'illegal_argument_exception',
    reason: `[${what}] needs a single value`,
  })
}

function isAnd(operator: unknown): boolean {
  return typeof operator === 'string' && operator.toLowerCase() === 'and'
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
