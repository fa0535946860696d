/** The kinds of values that say how documents are edited, and what does not fit together. */
import { IN_BRACES, placeholders, type SetValue } from './ingest-options.js'
import { type Kind, Problem } from './kinds.js'
import { invalid, jsonObject } from './option-checks.js'
import { fieldsIn, unicodeProblem } from '../base/text/shown.js'

interface GivenEdits {
  readonly set?: Readonly<Record<string, SetValue>> | undefined
  readonly drop?: readonly string[] | undefined
  readonly keep?: readonly string[] | undefined
  readonly rename?: Readonly<Record<string, string>> | undefined
}

/** Reads `field=text`, and `field:=JSON`. */
export function setValues(): Kind<Readonly<Record<string, SetValue>>> {
  return repeated('field=value', setProblem, texts => {
    const values: [string, SetValue][] = []
    for (const text of texts) {
      const [, name, equals, value = ''] = /^([^=]*?)(:?=)(.*)$/s.exec(text) ?? []
      if (name === undefined) return new Problem('is not a field and its value, as in tenant=acme or n:=5')
      values.push([name.trim(), equals === ':=' ? { json: value.trim() } : value])
    }
    return once(values)
  })
}

/** Reads names with commas between them. */
export function fieldNames(): Kind<readonly string[]> {
  return repeated('field,…', listProblem, texts => texts.flatMap(text => fieldsIn(text.trim())))
}

/** Reads `old=new`, with commas between them. */
export function newNames(): Kind<Readonly<Record<string, string>>> {
  return repeated('old=new,…', renameProblem, texts => {
    const pairs = texts.flatMap(text => fieldsIn(text))
    const names = pairs.map((pair): [string, string] => {
      const [, from = '', to = ''] = /^([^=]*)=([^=]*)$/.exec(pair) ?? []
      return [from.trim(), to.trim()]
    })
    return once(names)
  })
}

/** Makes the kind of an option that may be repeated. The file may have the value as the library has it. */
function repeated<T>(label: string, check: Kind<T>['check'], read: (texts: readonly string[]) => T | Problem): Kind<T> {
  return {
    label,
    check,
    isRepeated: true,
    read: raw => {
      const texts = typeof raw === 'string' ? [raw] : raw
      const isText = Array.isArray(texts) && texts.every(text => typeof text === 'string')
      const value = isText ? read(texts) : (raw as T)
      if (value instanceof Problem) return value
      const problem = check(value)
      return problem === undefined ? value : new Problem(problem)
    },
  }
}

function once<V>(entries: readonly (readonly [string, V])[]): Readonly<Record<string, V>> | Problem {
  const names = entries.map(([name]) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  return twice === undefined ? Object.fromEntries(entries) : new Problem(`names the field '${twice}' twice`)
}

function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'has a name that is not a string'
  if (name.split('.').includes('')) return 'has a field without a name'
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f]/.test(name)) return 'has a name with a control character'
  return unicodeProblem(name)
}

function listProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'is not an array of names'
  if (value.length === 0) return 'names no field'
  return value.map(nameProblem).find(problem => problem !== undefined)
}

function renameProblem(value: unknown): string | undefined {
  const problem = jsonObject(value)
  if (problem !== undefined) return problem
  const names = Object.entries(value as object).flat() as unknown[]
  if (names.includes('')) return 'is not a list of old and new names, as in old=new'
  return names.map(nameProblem).find(one => one !== undefined)
}

function setProblem(value: unknown): string | undefined {
  const problem = jsonObject(value)
  if (problem !== undefined) return problem
  const entries = Object.entries(value as object)
  return entries.map(([name, one]) => nameProblem(name) ?? valueProblem(one)).find(one => one !== undefined)
}

function valueProblem(value: unknown): string | undefined {
  if (value === null || typeof value === 'boolean') return undefined
  if (typeof value === 'number') {
    const isExact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    return isExact ? undefined : "has a number that JavaScript cannot hold exactly. Pass { json: 'DIGITS' }"
  }
  if (typeof value === 'string') return textProblem(value)
  if (jsonObject(value) !== undefined || typeof (value as { json?: unknown }).json !== 'string')
    return 'has a value that is neither text, number, true, false, null nor { json }'
  const { json } = value as { json: string }
  return json === '{line}' || isJson(json)
    ? unicodeProblem(json)
    : 'has a value after := that is not JSON. For text, write field=text'
}

function textProblem(value: string): string | undefined {
  for (const [, word] of value.matchAll(IN_BRACES))
    if (!placeholders.some(one => one === word))
      return `has {${word}}, which Sluice does not know. Use {now}, {file}, {path} or {line}, or write the text as JSON after :=`
  return unicodeProblem(value)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Refuses edits that contradict each other. `said`: returns how the user named an option. */
export function checkEdits(given: GivenEdits, said: (name: keyof GivenEdits) => string): void {
  const { set = {}, keep, rename = {} } = given
  const sets = Object.keys(set)
  const below = sets.find(name => sets.some(other => name.startsWith(`${other}.`)))
  if (below !== undefined) throw invalid(said('set'), `sets '${below}' and also a field that holds it`)
  const news = Object.values(rename)
  for (const [from, to] of Object.entries(rename)) {
    if (from === to) throw invalid(said('rename'), `gives '${from}' its own name`)
    if (news.filter(name => name === to).length > 1) throw invalid(said('rename'), `gives two fields the name '${to}'`)
    const both = sets.find(name => overlap(name, to))
    const around = sets.find(name => from.startsWith(`${name}.`))
    if (around !== undefined)
      throw invalid(said('rename'), `renames '${from}', and ${said('set')} replaces '${around}'`)
    if (both !== undefined) throw invalid(said('rename'), `writes '${to}', and ${said('set')} writes '${both}'`)
    if (keep !== undefined && !keep.some(name => overlap(name, from)))
      throw invalid(said('rename'), `renames '${from}', which is not in ${said('keep')}`)
    const inside = isMoved(from, to) && namedIn(given).find(name => name.startsWith(`${from}.`))
    if (typeof inside === 'string')
      throw invalid(said('rename'), `moves '${from}' to another place, so '${inside}' cannot be edited as well`)
  }
}

function namedIn({ set = {}, drop = [], keep = [], rename = {} }: GivenEdits): string[] {
  return [...drop, ...keep, ...Object.entries(rename).flat(), ...Object.keys(set)]
}

function overlap(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`)
}

/** Returns whether a renamed field leaves the object that may hold it. */
function isMoved(from: string, to: string): boolean {
  return !to.startsWith(from.slice(0, from.lastIndexOf('.') + 1))
}
