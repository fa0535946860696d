import type { Mapping } from '../mapping.js'
import { type FieldTexts, type Searched, searchedField } from './indexed-fields.js'
import { askedValue, beyondLab, compareValues, indexedValue, isExact, isText, wordsIn } from './values.js'

/** A document as queries see it. */
interface Candidate {
  readonly id: string
  readonly seqNo: number
  readonly texts: () => FieldTexts
}

export type Matches = (candidate: Candidate) => boolean

export const nothing: Matches = () => false
export const everything: Matches = () => true

/** Exactly this value. In a text: one of its words. */
export function isTerm(mapping: Mapping, path: string, text: string): Matches {
  if (path === '_id') return ({ id }) => id === text
  const field = searchedField(mapping, path)
  if (field === undefined) return nothing
  if (isText(field)) return someText(field, one => wordsIn(one).includes(text))
  return isWithin(field, { gte: text, lte: text })
}

export type Bounds = Readonly<Partial<Record<'gt' | 'gte' | 'lt' | 'lte', string>>>

/** A value within bounds. Coarse times stand for all of their time: lte 2026-11-30 includes noon. */
export function isInRange(mapping: Mapping, path: string, bounds: Bounds): Matches {
  if (path === '_seq_no') return isNumbered(bounds)
  const field = searchedField(mapping, path)
  if (field === undefined) return nothing
  if (isText(field) || field.type === 'ip') return beyondLab(`ranges of fields of type [${field.type}], as [${path}]`)
  return isWithin(field, bounds)
}

/** A bound that is absent is no limit. */
function isNumbered({ gt = '-1', gte = '0', lt = 'Infinity', lte = 'Infinity' }: Bounds): Matches {
  return ({ seqNo }) => seqNo > Number(gt) && seqNo >= Number(gte) && seqNo < Number(lt) && seqNo <= Number(lte)
}

function isWithin(field: Searched, { gt, gte, lt, lte }: Bounds): Matches {
  const checks: ((value: NonNullable<ReturnType<typeof indexedValue>>) => boolean)[] = []
  const bound = (text: string | undefined, round: 'down' | 'up', isGood: (order: number) => boolean): void => {
    if (text === undefined) return
    const limit = askedValue(field, text, round)
    checks.push(value => isGood(compareValues(value, limit)))
  }
  bound(gte, 'down', order => order >= 0)
  bound(gt, 'up', order => order > 0)
  bound(lte, 'up', order => order <= 0)
  bound(lt, 'down', order => order < 0)
  return someText(field, text => {
    const value = indexedValue(field, text)
    return value !== undefined && checks.every(check => check(value))
  })
}

/** Any value. An object exists if a field of it does. */
export function doesExist(mapping: Mapping, path: string): Matches {
  const own = searchedField(mapping, path)?.path ?? path
  return ({ texts }) => [...texts().keys()].some(name => name === own || name.startsWith(`${own}.`))
}

/** The words of a query in a text: all, or any. In other fields: the whole text. */
export function hasWords(mapping: Mapping, path: string, text: string, takesAll: boolean): Matches {
  const field = searchedField(mapping, path)
  if (field === undefined || !isText(field)) return isTerm(mapping, path, text)
  const wanted = wordsIn(text)
  if (wanted.length === 0) return nothing
  return ({ texts }) => {
    const words = new Set((texts().get(field.path) ?? []).flatMap(wordsIn))
    return takesAll ? wanted.every(one => words.has(one)) : wanted.some(one => words.has(one))
  }
}

/** The words of a query in a text, one after the other. In other fields: the whole text. */
export function hasPhrase(mapping: Mapping, path: string, text: string): Matches {
  const field = searchedField(mapping, path)
  if (field === undefined || !isText(field)) return isTerm(mapping, path, text)
  const wanted = wordsIn(text)
  if (wanted.length === 0) return nothing
  return someText(field, one => {
    const words = wordsIn(one)
    return words.some((_, at) => wanted.every((word, ahead) => words[at + ahead] === word))
  })
}

/** A pattern with * and ?, of a whole value, or of a word of a text. */
export function hasPattern(mapping: Mapping, path: string, pattern: RegExp): Matches {
  const field = searchedField(mapping, path)
  if (field === undefined) return nothing
  if (isText(field)) {
    const lower = new RegExp(pattern.source.toLowerCase(), 'su')
    return someText(field, text => wordsIn(text).some(word => lower.test(word)))
  }
  if (!isExact(field)) return beyondLab(`patterns in fields of type [${field.type}], as [${path}]`)
  return someText(field, text => text.length <= field.longest && pattern.test(text))
}

function someText({ path }: Searched, isGood: (text: string) => boolean): Matches {
  return ({ texts }) => texts().get(path)?.some(isGood) ?? false
}
