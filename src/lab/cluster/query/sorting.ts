import type { Index } from '../store.js'
import { type FieldTexts, searchedField } from './indexed-fields.js'
import { type Json, isObject, known } from './query.js'
import {
  type Ordered,
  askedValue,
  badQuery,
  beyondLab,
  compareValues,
  indexedValue,
  isExact,
  isText,
} from './values.js'

/** One of the things that hits are sorted by. */
export interface SortBy {
  readonly field: string
  readonly isDescending: boolean
  readonly missingFirst: boolean
  readonly mayBeUnmapped: boolean
}

/** A hit's value to sort by. Undefined: it has none. */
export type Key = Ordered | undefined

/** Reads `sort` of a request: names, and objects with an order. */
export function sortsIn(given: unknown): readonly SortBy[] {
  return [given ?? []].flat().flatMap((one): SortBy[] => {
    if (typeof one === 'string') return [sortBy(one, { order: one === '_score' ? 'desc' : 'asc' })]
    if (!isObject(one)) return beyondLab(`this sort: ${JSON.stringify(one)}`)
    return Object.entries(one).map(([field, about]) => sortBy(field, isObject(about) ? about : { order: about }))
  })
}

function sortBy(field: string, about: Json): SortBy {
  const { order = 'asc', missing = '_last', unmapped_type: unmapped } = known('sort', about, ['order', 'missing', 'unmapped_type', 'format']) // prettier-ignore
  if (missing !== '_last' && missing !== '_first') beyondLab(`[missing] of [sort] as [${JSON.stringify(missing)}]`)
  if (about['format'] !== undefined) beyondLab('[format] of [sort]')
  const isDescending = String(order).toLowerCase() === 'desc'
  return { field, isDescending, missingFirst: missing === '_first', mayBeUnmapped: unmapped !== undefined }
}

/** Returns what finds the value of a document in an index. `place`: its number in the index. */
export function keyOf(
  index: Index,
  { field, isDescending, mayBeUnmapped }: SortBy,
): (texts: () => FieldTexts, place: number, seqNo: number) => Key {
  if (field === '_score') return () => 1
  if (field === '_seq_no') return (_texts, _place, seqNo) => seqNo
  if (field === '_doc' || field === '_shard_doc') return (_, place) => place
  const searched = searchedField(index.mapping, field)
  if (searched === undefined) {
    if (mayBeUnmapped) return () => undefined
    return badQuery('query_shard_exception', `No mapping found for [${field}] in order to sort on`)
  }
  if (isText(searched))
    badQuery('illegal_argument_exception', `Fielddata is disabled on [${field}] in [${index.name}]. Text fields are not optimised for operations that require per-document field data like aggregations and sorting`) // prettier-ignore
  return texts => {
    const values = (texts().get(searched.path) ?? []).flatMap(text => indexedValue(searched, text) ?? [])
    const [first, ...others] = values
    const isBetter = (a: Ordered, b: Ordered): boolean =>
      isDescending ? compareValues(a, b) > 0 : compareValues(a, b) < 0
    return others.reduce<Key>((best, one) => (best === undefined || isBetter(one, best) ? one : best), first)
  }
}

/** Compares hits by all of their values. */
export function compareKeys(sorts: readonly SortBy[], a: readonly Key[], b: readonly Key[]): number {
  for (const [at, { isDescending, missingFirst }] of sorts.entries()) {
    const [one, other] = [a[at], b[at]]
    if (one === undefined && other === undefined) continue
    if (one === undefined || other === undefined) return (one === undefined) === missingFirst ? -1 : 1
    const order = compareValues(one, other)
    if (order !== 0) return isDescending ? -order : order
  }
  return 0
}

/** Reads `search_after`: the values of the hit before. */
export function keysAfter(index: Index, sorts: readonly SortBy[], given: readonly unknown[]): readonly Key[] {
  return sorts.map(({ field }, at) => {
    const value = given[at]
    const searched = searchedField(index.mapping, field)
    // What a hit without a value shows instead.
    if (value === null || (typeof value === 'number' && Math.abs(value) >= 2 ** 63)) return undefined
    return searched === undefined
      ? Number(value)
      : askedValue(searched, typeof value === 'string' ? value : JSON.stringify(value), 'down')
  })
}

/** A value in JSON. Numbers keep their digits. */
export function keyText(index: Index, { field, isDescending, missingFirst }: SortBy, key: Key): string {
  if (key !== undefined) return typeof key === 'bigint' ? String(key) : JSON.stringify(key)
  const searched = searchedField(index.mapping, field)
  if (searched === undefined || isExact(searched)) return 'null'
  const isLow = isDescending !== missingFirst
  if (['double', 'float', 'half_float'].includes(searched.type)) return isLow ? '"-Infinity"' : '"Infinity"'
  return isLow ? '-9223372036854775808' : '9223372036854775807'
}
