import { RequestRefused, illegalArgument } from '../answers.js'
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
    if (field.format !== undefined && field.format !== usualFormat) beyondLab(`dates of the format [${field.format}], as field [${path}] has`) // prettier-ignore
    return millisOf(text, round) ?? badDate(text)
  }
  if (!wholes.has(type) && !decimals.has(type)) return beyondLab(`searches in fields of type [${type}], as [${path}]`)
  if (wholes.has(type) && /^-?\d+$/.test(text)) return BigInt(text)
  const value = type === 'float' ? Math.fround(Number(text)) : Number(text)
  if (text.trim() !== '' && Number.isFinite(value)) return value
  return badQuery('query_shard_exception', `failed to create query: For input string: "${text}"`)
}

function badDate(text: string): never {
  if (/^now|\|\|/.test(text)) return beyondLab(`date math, as in [${text}]`)
  return badQuery('parse_exception', `failed to parse date field [${text}] with format [${usualFormat}]`)
}

const date =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(?:(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?)?)?$/
const slashed = /^(\d{4})\/(\d\d)\/(\d\d)(?: (\d\d):(\d\d):(\d\d))?$/

function millisOf(text: string, round: 'down' | 'up'): number | undefined {
  const found = date.exec(text) ?? slashed.exec(text)
  if (found === null) return /^-?\d+$/.test(text) ? Number(text) : undefined
  const [year = '', month, day, hour, minute, second, fraction] = found.slice(1)
  const parts = [Number(year), Number(month ?? 1) - 1, Number(day ?? 1), Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0)] as const // prettier-ignore
  const millis = fraction === undefined ? 0 : Number(fraction.padEnd(3, '0').slice(0, 3))
  const start = Date.UTC(...parts, millis) - offsetOf(found[8])
  // The end of a coarse time. A month or a year without a day means its first day.
  const span = [hour, minute, second, fraction].findIndex(part => part === undefined)
  return round === 'down' || span < 0 ? start : start + (spans[span] ?? 1) - 1
}

/** Milliseconds of a day, an hour, a minute and a second. */
const spans = [86_400_000, 3_600_000, 60_000, 1000]

function offsetOf(zone: string | undefined): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone ?? '') ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
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
