import { RequestRefused } from '../answers.js'
import type { Mapping } from '../mapping.js'
import { fits } from '../templates.js'
import { searchedPaths } from './indexed-fields.js'
import {
  type Bounds,
  type Matches,
  doesExist,
  everything,
  hasPattern,
  hasPhrase,
  hasWords,
  isInRange,
  nothing,
} from './matches.js'
import { badQuery, beyondLab } from './values.js'

export interface QueryStringOptions {
  readonly mapping: Mapping
  /** Fields of what names none. `*` stands for all. */
  readonly fields: readonly string[]
  /** Whether `a b` means both. */
  readonly takesAll: boolean
  /** Whether a term that a field cannot hold finds nothing there, instead of being refused. */
  readonly isLenient: boolean
}

type Occur = 'must' | 'should' | 'not'
interface Clause {
  occur: Occur
  readonly matches: Matches
}

const bare = /(?:\\.|[^\s+\-!():^[\]"{}~*?\\/])(?:\\.|[^\s!():^[\]"{}~*?\\/])*/y
const withPattern = /(?:\\.|[^\s+\-!():^[\]"{}~\\/])(?:\\.|[^\s!():^[\]"{}~\\/])*/y
const conjunction = /(?:AND|OR)(?=[\s("]|$)|&&|\|\|/y
const modifier = /NOT(?=[\s("]|$)|[!+-]/y
const fieldName = /((?:\\.|[^\s+\-!():^[\]"{}~\\/])+):/y
const phrase = /"((?:\\.|[^"\\])*)"/y
const range = /([[{])\s*("[^"]*"|[^\s\]}]+)\s+TO\s+("[^"]*"|[^\s\]}]+)\s*([\]}])/y
const comparison = /(>=?|<=?)\s*("[^"]*"|[^\s()]+)/y

/** Compiles the words of a search box, as Lucene reads them. Not with ~, ^ and regular expressions. */
export function queryString(text: string, { mapping, fields, takesAll, isLenient }: QueryStringOptions): Matches {
  let at = 0
  const matches = readQuery(undefined)
  if (at < text.length) malformed()
  return matches

  function readQuery(field: string | undefined): Matches {
    const clauses: Clause[] = []
    for (;;) {
      skipSpace()
      if (at >= text.length || text[at] === ')') return together(clauses)
      const joined = take(conjunction)?.[0]
      if (joined !== undefined && clauses.length === 0) malformed()
      skipSpace()
      const changed = take(modifier)?.[0]
      skipSpace()
      const words = joined === undefined && changed === undefined && field === undefined ? takeWords() : undefined
      add(clauses, joined, changed, words === undefined ? readClause(field) : inFields(undefined, path => hasWords(mapping, path, words, takesAll))) // prettier-ignore
    }
  }

  /** Words that follow each other are one text, which a field may hold as a whole. */
  function takeWords(): string | undefined {
    const start = at
    const words: string[] = []
    let end = at
    for (;;) {
      skipSpace()
      const isOperator = peek(conjunction) || peek(modifier)
      const word = isOperator ? undefined : take(bare)?.[0]
      const isNext = /^(?:[:*?~^]|\s+(?:AND|OR|&&|\|\|)(?:[\s("]|$))/.test(text.slice(at))
      if (word === undefined || isNext) break
      words.push(plain(word))
      end = at
    }
    at = words.length > 1 ? end : start
    return words.length > 1 ? words.join(' ') : undefined
  }

  function readClause(outer: string | undefined): Matches {
    const named = take(fieldName)?.[1]
    const field = named === undefined ? outer : plain(named)
    const matches = readTerm(field)
    if (text[at] === '~' || text[at] === '^') beyondLab(`[${text[at]}] of [query_string]`)
    return matches
  }

  function readTerm(field: string | undefined): Matches {
    if (text[at] === '(') {
      at += 1
      const inner = readQuery(field)
      if (text[at] !== ')') malformed()
      at += 1
      return inner
    }
    if (text[at] === '/') beyondLab('regular expressions of [query_string]')
    const quoted = take(phrase)?.[1]
    if (quoted !== undefined) return inFields(field, path => hasPhrase(mapping, path, plain(quoted)))
    const [, open = '', from = '', to = '', close = ''] = take(range) ?? []
    if (open !== '') {
      const bounds = { ...bound(open === '[' ? 'gte' : 'gt', from), ...bound(close === ']' ? 'lte' : 'lt', to) }
      return inFields(field, path => isInRange(mapping, path, bounds))
    }
    const [, sign = '', limit = ''] = (field === undefined ? undefined : take(comparison)) ?? []
    if (sign !== '') return inFields(field, path => isInRange(mapping, path, bound(signs[sign] ?? 'gt', limit)))
    const word = take(withPattern)?.[0] ?? malformed()
    if (field === '_exists_') return doesExist(mapping, plain(word))
    if (word === '*') return field === undefined || field === '*' ? everything : inFields(field, path => doesExist(mapping, path)) // prettier-ignore
    if (/(?<!\\)[*?]/.test(word)) return inFields(field, path => hasPattern(mapping, path, patternOf(word)))
    return inFields(field, path => hasWords(mapping, path, plain(word), takesAll))
  }

  /** A term without a field asks all of them, and those that cannot hold it do not. */
  function inFields(field: string | undefined, make: (path: string) => Matches): Matches {
    const any = (field === undefined ? fields : [field]).flatMap(pattern => {
      if (!pattern.includes('*'))
        return [isLenient ? orNothing(() => make(pattern), 'search_phase_execution_exception') : make(pattern)]
      return searchedPaths(mapping)
        .filter(path => fits(path, pattern))
        .map(path => orNothing(() => make(path)))
    })
    return candidate => any.some(matches => matches(candidate))
  }

  function take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = at
    const found = pattern.exec(text) ?? undefined
    if (found !== undefined) at = pattern.lastIndex
    return found
  }

  function peek(pattern: RegExp): boolean {
    pattern.lastIndex = at
    return pattern.test(text)
  }

  function skipSpace(): void {
    while (/\s/.test(text[at] ?? '')) at += 1
  }

  function malformed(): never {
    return badQuery('query_shard_exception', `Failed to parse query [${text}]`)
  }

  /** Lucene's rules: AND also makes the clause before it necessary. */
  function add(clauses: Clause[], joined: string | undefined, changed: string | undefined, matches: Matches): void {
    const isAnd = joined === 'AND' || joined === '&&'
    const isOr = joined === 'OR' || joined === '||'
    const before = clauses.at(-1)
    if (before !== undefined && before.occur !== 'not') {
      if (isAnd) before.occur = 'must'
      if (isOr && takesAll) before.occur = 'should'
    }
    const isNot = changed === 'NOT' || changed === '!' || changed === '-'
    const isMust = changed === '+' || isAnd || (takesAll && !isOr)
    clauses.push({ occur: isNot ? 'not' : isMust ? 'must' : 'should', matches })
  }
}

const signs: Readonly<Record<string, 'gt' | 'gte' | 'lt' | 'lte'>> = { '>': 'gt', '>=': 'gte', '<': 'lt', '<=': 'lte' }

function bound(name: 'gt' | 'gte' | 'lt' | 'lte', given: string): Bounds {
  return given === '*' ? {} : { [name]: plain(given.replaceAll('"', '')) }
}

function together(clauses: readonly Clause[]): Matches {
  const of = (occur: Occur): readonly Matches[] => clauses.filter(one => one.occur === occur).map(one => one.matches)
  const [must, should, not] = [of('must'), of('should'), of('not')]
  if (clauses.length === 0) return nothing
  return candidate =>
    must.every(matches => matches(candidate)) &&
    !not.some(matches => matches(candidate)) &&
    (must.length > 0 || should.length === 0 || should.some(matches => matches(candidate)))
}

/** `type`: of the only refusals that mean nothing. */
function orNothing(make: () => Matches, type?: string): Matches {
  try {
    return make()
  } catch (error) {
    if (error instanceof RequestRefused && (type ?? error.fault.type) === error.fault.type) return nothing
    throw error
  }
}

/** Takes the backslashes away. */
function plain(text: string): string {
  return text.replaceAll(/\\(.)/gs, '$1')
}

function patternOf(word: string): RegExp {
  const parts = word.match(/\\.|[*?]|[^*?\\]+/gs) ?? []
  const source = parts.map(part => {
    if (part === '*') return '.*'
    return part === '?' ? '.' : plain(part).replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  })
  return new RegExp(`^${source.join('')}$`, 'su')
}
