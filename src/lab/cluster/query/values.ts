import { RequestRefused, illegalArgument } from '../answers.js'
import { dateFormat } from '../date-formats.js'
import type { Searched } from './indexed-fields.js'

/** A value that has an order. Whole numbers have all their digits. */
export type Ordered = bigint | number | string

const wholes = new Set(['long', 'integer', 'short', 'byte', 'unsigned_long'])
const decimals = new Set(['double', 'float', 'half_float'])
const exact = new Set(['keyword', 'constant_keyword', 'ip'])
const usualFormat = 'strict_date_optional_time||epoch_millis'

/** Refuses what Elasticsearch can do and the lab cannot. */
export function beyondLab(what: string): never {
  throw new RequestRefused(illegalArgument(`the lab does not know ${what}`))
}

/** Refuses a query as the shards do. */
export function badQuery(type: string, reason: string): never {
  throw new RequestRefused({
    status: 400,
    type: 'search_phase_execution_exception',
    reason: 'all shards failed',
    causedBy: { type, reason },
    more: { phase: 'query', grouped: true },
  })
}

export function isText({ type }: Searched): boolean {
  return type === 'text' || type === 'match_only_text'
}

/** Whether a field holds texts as they are. */
export function isExact({ type }: Searched): boolean {
  return exact.has(type)
}

/** Returns the value of a document's text in a field. Undefined if the field does not index it. */
export function indexedValue(field: Searched, text: string): Ordered | undefined {
  if (isExact(field)) return text.length > field.longest ? undefined : text
  if (text === '' && field.type !== 'boolean') return undefined
  if (!wholes.has(field.type)) return askedValue(field, text, 'down')
  return BigInt(/^[+-]?\d+$/.test(text) ? text.replace('+', '') : Math.trunc(Number(text)))
}

/** Returns the value of a query's text. `round`: to which end of a date with a coarse unit. Throws RequestRefused. */
export function askedValue(field: Searched, text: string, round: 'down' | 'up'): Ordered {
  const { type, path } = field
  if (isExact(field)) return text
  if (type === 'boolean') {
    if (text === 'true' || text === 'false' || text === '') return text === 'true' ? 1 : 0
    return badQuery('query_shard_exception', `failed to create query: Can't parse boolean value [${text}], expected [true] or [false]`) // prettier-ignore
  }
  if (type === 'date') {
    const { format = usualFormat } = field
    const millis = dateFormat(format)?.read(text, round)
    return typeof millis === 'number' ? millis : badDate(text, format)
  }
  if (!wholes.has(type) && !decimals.has(type)) return beyondLab(`searches in fields of type [${type}], as [${path}]`)
  if (wholes.has(type) && /^-?\d+$/.test(text)) return BigInt(text)
  const value = type === 'float' ? Math.fround(Number(text)) : Number(text)
  if (text.trim() !== '' && Number.isFinite(value)) return value
  return badQuery('query_shard_exception', `failed to create query: For input string: "${text}"`)
}

function badDate(text: string, format: string): never {
  if (/^now|\|\|/.test(text)) return beyondLab(`date math, as in [${text}]`)
  return badQuery('parse_exception', `failed to parse date field [${text}] with format [${format}]`)
}

/** Compares values of one field. Texts compare by their UTF-8. */
export function compareValues(a: Ordered, b: Ordered): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : a > b ? 1 : 0
}

const word = /[\p{L}\p{N}\p{M}_]+(?:(?:(?<=\p{L})['’.](?=\p{L})|(?<=\p{N})[.,](?=\p{N}))[\p{L}\p{N}\p{M}_]+)*/gu

/** The words of a text, as the standard analyzer makes them of western languages. */
export function wordsIn(text: string): readonly string[] {
  return text.toLowerCase().match(word) ?? []
}
