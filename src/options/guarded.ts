/** Reads and checks the JSON of a guarded load. */
import { invalid } from './option-checks.js'
import type { Effective } from './resolve.js'
import { isObject, type JsonObject, parseJson } from '../text/parse-json.js'

export interface GuardedJson {
  readonly indexBody?: JsonObject
  readonly checkQuery?: JsonObject
}

/**
 * Reads the values of `--index-body` and `--check-query`: JSON if the value begins with a brace, otherwise the path
 * of a file. Throws SluiceError OPTION_INVALID.
 */
export async function readGuarded(
  { values, origins }: Effective,
  readFile: (path: string) => Promise<string>,
): Promise<GuardedJson> {
  const read: { indexBody?: JsonObject; checkQuery?: JsonObject } = {}
  for (const name of ['indexBody', 'checkQuery'] as const) {
    const value = values[name]
    if (value !== undefined) read[name] = await readJson(value, origins[name], readFile)
  }
  const found = guardedProblem({ swapAlias: values.swapAlias ?? '', ...read })
  if (found !== undefined) throw invalid(origins[found.option], found.problem)
  return read
}

/** Returns the first problem of these options, from the command line or from a program. */
export function guardedProblem({
  swapAlias,
  indexBody,
  checkQuery,
}: {
  readonly swapAlias: string
  readonly indexBody?: JsonObject | undefined
  readonly checkQuery?: JsonObject | undefined
}): { readonly option: 'indexBody' | 'checkQuery'; readonly problem: string } | undefined {
  const aliases = indexBody?.['aliases']
  if (isObject(aliases) && Object.hasOwn(aliases, swapAlias)) {
    return {
      option: 'indexBody',
      problem: `contains the alias ${swapAlias}, which Sluice switches only after the load`,
    }
  }
  const others = Object.keys(checkQuery ?? {}).filter(name => name !== 'query')
  if (checkQuery !== undefined && (!isObject(checkQuery['query']) || others.length > 0)) {
    return { option: 'checkQuery', problem: 'is not an object with only a query, as in {"query":{"match_all":{}}}' }
  }
  return undefined
}

async function readJson(
  value: string,
  origin: string,
  readFile: (path: string) => Promise<string>,
): Promise<JsonObject> {
  const isJson = value.startsWith('{')
  const text = isJson
    ? value
    : await readFile(value).catch((error: unknown) => {
        const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
        throw invalid(origin, `cannot read ${value}: ${code === 'ENOENT' ? 'no such file' : code}`)
      })
  const parsed = parseJson(text)
  if (!isObject(parsed)) throw invalid(origin, `${isJson ? 'the value' : value} is not a JSON object`)
  return parsed
}
