/** Checks names of indices, and makes those that fields of documents decide: `logs-{@timestamp:yyyy.MM.dd}`. */
import { type DateFormat, formatDate, readDateFormat, readTime } from './point-in-time.js'
import { unicodeProblem } from './shown.js'

export interface IndexPattern {
  readonly text: string
  /** Texts and placeholders, in their order. */
  readonly parts: readonly (string | Placeholder)[]
  readonly fields: readonly Placeholder[]
}

interface Placeholder {
  /** A path. */
  readonly field: string
  /** Absent: the value stands in the name as it is. */
  readonly date?: DateFormat
}

export function isPattern(index: string): boolean {
  return /[{}]/.test(index)
}

/** Returns a pattern, or why the text is none. */
export function readPattern(text: string): IndexPattern | { readonly problem: string } {
  const pieces = text.split(/\{([^{}]*)\}/)
  const parts: (string | Placeholder)[] = []
  for (const [at, piece] of pieces.entries()) {
    if (at % 2 === 0) {
      if (isPattern(piece)) return { problem: 'has an unmatched brace. Write a field as in {branch}' }
      if (piece !== '') parts.push(piece)
      continue
    }
    const placeholder = readPlaceholder(piece)
    if ('problem' in placeholder) return placeholder
    parts.push(placeholder)
  }
  const fields = parts.filter(part => typeof part !== 'string')
  const problem = indexNameProblem(parts.map(part => (typeof part === 'string' ? part : '0')).join(''))
  return problem === undefined ? { text, parts, fields } : { problem }
}

function readPlaceholder(text: string): Placeholder | { readonly problem: string } {
  const colon = text.lastIndexOf(':')
  const field = colon === -1 ? text : text.slice(0, colon)
  if (field === '') return { problem: 'names no field between { and }' }
  if (colon === -1) return { field }
  const date = readDateFormat(text.slice(colon + 1))
  return 'problem' in date
    ? { problem: `has a date format that Sluice does not know: ${date.problem}` }
    : { field, date }
}

/** Returns the pattern of an option that was checked. Undefined for the name of one index. */
export function patternIn(index: string): IndexPattern | undefined {
  const pattern = isPattern(index) ? readPattern(index) : undefined
  return pattern === undefined || 'problem' in pattern ? undefined : pattern
}

/** Returns whether a pattern uses only the index that stands beside a document in a dump: `{_index}`. */
export function isBeside({ fields }: IndexPattern): boolean {
  return fields.every(({ field, date }) => field === '_index' && date === undefined)
}

/** Returns the names with `*` for each field, as Elasticsearch and its privileges know them. */
export function wildcardOf({ parts }: IndexPattern): string {
  return parts
    .map(part => (typeof part === 'string' ? part : '*'))
    .join('')
    .replaceAll(/\*+/g, '*')
}

/** Returns the name that these values make, in the order of the placeholders, or the problem with one of them. */
export function nameOf(
  { parts, fields }: IndexPattern,
  values: readonly string[],
): string | { readonly problem: string; readonly field: string } {
  let name = ''
  let at = 0
  for (const part of parts) {
    if (typeof part === 'string') {
      name += part
      continue
    }
    const { field, date } = part
    const value = values[at] ?? ''
    at += 1
    if (date === undefined) name += value
    else {
      const time = readTime(value)
      if (time === undefined) return { problem: 'is not a date that Sluice reads', field }
      name += formatDate(time, date)
    }
  }
  const isHidden = name.startsWith('.') && typeof parts[0] !== 'string'
  const problem = isHidden ? 'starts with a dot' : indexNameProblem(name)
  if (problem === undefined) return name
  return { problem: `makes a name that ${problem}`, field: fields.map(one => one.field).join(',') }
}

/** Returns why Elasticsearch refuses the name of an index. Undefined if the name is valid. Never repeats the name. */
export function indexNameProblem(name: string): string | undefined {
  const half = unicodeProblem(name)
  if (half !== undefined) return half
  const forbidden = /[\\/*?"<>|,#:\s\p{Cc}]/u.exec(name)?.[0]
  if (forbidden !== undefined) return `contains ${nameOfCharacter(forbidden)}`
  if (name !== name.toLowerCase()) return 'has upper-case letters'
  if (/^[-_+]/.test(name)) return `starts with ${name[0]}`
  if (name === '.' || name === '..') return 'is not a name'
  const bytes = Buffer.byteLength(name)
  return bytes > 255 ? `has ${bytes} bytes, 255 are allowed` : undefined
}

function nameOfCharacter(character: string): string {
  if (/\s/.test(character)) return 'a space'
  return /\p{Cc}/u.test(character) ? 'a control character' : character
}
