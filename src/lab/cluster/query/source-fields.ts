import { fits } from '../templates.js'
import { isObject, known } from './query.js'
import { beyondLab } from './values.js'

/** Which fields of a document an answer shows: all of them, none, or some. */
export type SourceFields = boolean | { readonly includes: readonly string[]; readonly excludes: readonly string[] }

/** Reads `_source` of a request. */
export function sourceFieldsIn(given: unknown): SourceFields {
  if (given === undefined) return true
  if (typeof given === 'boolean') return given
  if (given === 'true' || given === 'false') return given === 'true'
  if (!isObject(given)) return { includes: namesIn(given), excludes: [] }
  const { includes, excludes } = known('_source', given, ['includes', 'excludes'])
  return { includes: namesIn(includes), excludes: namesIn(excludes) }
}

function namesIn(given: unknown): readonly string[] {
  return [given ?? []].flat().map(name => (typeof name === 'string' ? name : beyondLab('this [_source]')))
}

/** Returns the chosen fields of a document. A pattern also chooses what is below its fields. */
export function chooseFields(document: object, { includes, excludes }: Exclude<SourceFields, boolean>): object {
  return choose(document, '') as object

  function choose(value: unknown, path: string): unknown {
    if (Array.isArray(value)) {
      const kept = value.map(one => choose(one, path)).filter(one => one !== undefined)
      return kept.length > 0 || (value.length === 0 && isChosen(path)) ? kept : undefined
    }
    if (!isObject(value)) return isChosen(path) ? value : undefined
    const kept = Object.entries(value).flatMap(([name, below]) => {
      const chosen = choose(below, path === '' ? name : `${path}.${name}`)
      return chosen === undefined ? [] : [[name, chosen] as const]
    })
    const isWhole = path === '' || kept.length > 0 || (Object.keys(value).length === 0 && isChosen(path))
    return isWhole ? Object.fromEntries(kept) : undefined
  }

  function isChosen(path: string): boolean {
    return (includes.length === 0 || isNamed(includes, path)) && !isNamed(excludes, path)
  }
}

function isNamed(patterns: readonly string[], path: string): boolean {
  return patterns.some(pattern => fits(path, pattern) || fits(path, `${pattern}.*`))
}
