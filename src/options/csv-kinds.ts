/** The kinds of values that say how CSV is read. */
import { type CellType, cellTypes } from '../pipeline/format/formats.js'
import { type Kind, Problem, kind } from './kinds.js'
import { jsonObject, string } from './option-checks.js'

export function columnNames(): Kind<readonly string[]> {
  const read = (text: string) => {
    const names = text.split(',').map(name => name.trim())
    return namesProblem(names) ?? names
  }
  const check = (value: unknown) => {
    if (!Array.isArray(value) || !value.every(name => typeof name === 'string')) return 'is not an array of strings'
    return namesProblem(value)?.text
  }
  return kind('a,b', check, read)
}

/** Reads `none` as the empty list. */
export function cellTexts(): Kind<readonly string[]> {
  const read = (text: string) => (text === 'none' ? [] : text.split(',').map(value => value.trim()))
  const check = (value: unknown) =>
    Array.isArray(value) && value.every(text => typeof text === 'string') ? undefined : 'is not an array of strings'
  return kind('a,b|none', check, read)
}

function namesProblem(names: readonly string[]): Problem | undefined {
  if (names.length === 0 || names.includes('')) return new Problem('has a column without a name')
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  return twice === undefined ? undefined : new Problem('names a column twice')
}

const words: Readonly<Record<string, string>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  '\\t': '\t',
  pipe: '|',
  space: ' ',
}

export function delimiter(): Kind<string> {
  return character('char', text => words[text.toLowerCase()] ?? text)
}

/** Reads `none` as the empty string: no cell stands in quotes. `\"`: a backslash stands before quotes in cells. */
export function quotation(): Kind<string> {
  const { read, check, label } = character('char|none', text => text)
  const isNone = (raw: unknown) => raw === 'none' || raw === ''
  const isSlashed = (raw: unknown) => raw === String.raw`\"` || raw === String.raw`\'`
  return {
    label,
    read: raw => (isNone(raw) ? '' : isSlashed(raw) ? String(raw) : read(raw)),
    check: value => (value === '' || isSlashed(value) ? undefined : check(value)),
  }
}

/** Reads text with its blanks: a tab may stand as it is. */
function character(label: string, meant: (text: string) => string): Kind<string> {
  const check = (value: unknown) =>
    string(value) ?? (/^[\t\x20-\x7e]$/.test(String(value)) ? undefined : 'is not one ASCII character')
  return {
    label,
    check,
    read: raw => {
      const value = meant(String(raw))
      const problem = typeof raw === 'string' ? check(value) : 'is not text'
      return problem === undefined ? value : new Problem(problem)
    },
  }
}

export function columnTypes(): Kind<Readonly<Record<string, CellType>>> {
  const read = (text: string) => {
    const types: Record<string, CellType> = {}
    for (const pair of text.split(',')) {
      const [, name = '', type = ''] = /^(.*):([^:]*)$/s.exec(pair) ?? []
      const known = cellTypes.find(one => one === type.trim().toLowerCase())
      if (name.trim() === '')
        return new Problem('is not a list of columns with their types, as in id:long,price:double')
      if (known === undefined) return new Problem(unknownType(name.trim()))
      types[name.trim()] = known
    }
    return types
  }
  const check = (value: unknown) => {
    const problem = jsonObject(value)
    if (problem !== undefined) return problem
    const wrong = Object.entries(value as object).find(([, type]) => !cellTypes.some(one => one === type))
    return wrong === undefined ? undefined : unknownType(wrong[0])
  }
  return kind('a:type,b:type', check, read)
}

function unknownType(column: string): string {
  return `gives column '${column}' an unknown type. Use one of ${cellTypes.join(', ')}`
}
