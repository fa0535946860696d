/** Names that people give to indices, jobs, fields and inputs, and what is wrong with them. */
import { fail } from '../base/failure/failure.js'
import { resolve } from 'node:path'
import type { IngestSource } from '../pipeline/source/open-sources.js'
import type { ServiceNowOptions } from './connect-options.js'
import { withoutCredentials } from '../base/secrets.js'
import { invalid } from './option-checks.js'
import { formOf, isPath } from '../base/text/source-url.js'
import { indexNameProblem, isPattern, readPattern } from '../base/text/index-pattern.js'

/** Checks the name of an index, alias or data stream, if there is one. Throws SluiceError INDEX_NAME_INVALID. */
export function checkIndexName(index: string | undefined): void {
  const found = index === undefined ? undefined : indexNameProblem(index)
  if (index === undefined || found === undefined) return
  const isUpperCase = index !== index.toLowerCase() && found === indexNameProblem('A')
  const problem = isUpperCase ? `${found}. Write ${index.toLowerCase()}` : found
  throw fail('INDEX_NAME_INVALID', { index, problem })
}

/** Checks a name whose parts may be fields of the documents. Throws SluiceError INDEX_NAME_INVALID. */
export function checkIndexPattern(index: string): void {
  if (!isPattern(index)) return checkIndexName(index)
  const pattern = readPattern(index)
  if ('problem' in pattern) throw fail('INDEX_NAME_INVALID', { index, problem: pattern.problem })
}

/**
 * Longest name of a job. The name becomes part of a query and of a key in ServiceNow, which keeps 100 characters of
 * the key.
 */
const MOST = 90

export function jobProblem(name: string): string | undefined {
  return /^\w[\w.-]*$/.test(name) && name.length <= MOST
    ? undefined
    : `must have 1 to ${MOST} letters, digits and . _ - and begin with a letter or digit`
}

/** Fields that the alarm reads or writes itself. */
const own: readonly string[] = [
  'sys_id',
  'number',
  'state',
  'active',
  'correlation_id',
  'correlation_display',
  'short_description',
  'description',
  'work_notes',
  'close_notes',
]

export function incidentFieldProblem(name: string): string | undefined {
  if (!/^[a-z]\w*$/.test(name)) return `contains '${name}', which is not the name of a field such as assignment_group`
  return own.includes(name) ? `contains ${name}, which the alarm sets itself` : undefined
}

/**
 * Reads `assignment_group=ID^urgency=1`, the form of ServiceNow's templates. Undefined if the text has another form.
 */
export function readIncidentFields(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text.split('^').map(pair => /^\s*([^=]+?)\s*=(.*)$/s.exec(pair))
  if (pairs.includes(null)) return undefined
  return Object.fromEntries(pairs.map(pair => [pair?.[1] ?? '', pair?.[2] ?? '']))
}

/** Begins the name of an input that is a table: `servicenow:incident`. */
const PREFIX = 'servicenow:'

/** Returns the names among the inputs. Returns none if the source is a stream or an iterable. */
export function namedIn(source: unknown): string[] {
  const names: unknown[] = typeof source === 'string' ? [source] : Array.isArray(source) ? source : []
  return names.filter(name => typeof name === 'string')
}

/** Returns the paths of `{ files }`. Undefined for all other sources. Throws SluiceError OPTION_INVALID if they are no paths. */
export function listedIn(source: unknown): readonly string[] | undefined {
  if (typeof source !== 'object' || source === null || Symbol.iterator in source || !('files' in source))
    return undefined
  const { files } = source
  const isList =
    Array.isArray(files) && files.length > 0 && files.every(file => typeof file === 'string' && file !== '')
  if (!isList) throw invalid('source.files', 'is not a list of paths, or it is empty')
  return files
}

export function isTable(name: string): boolean {
  return formOf(name) === 'servicenow'
}

/** Returns the name of an input as it is known in any folder: an absolute path, and no credentials. */
export function fullName(name: string): string {
  if (/^[a-z][\w+.-]*:\/\//i.test(name)) return withoutCredentials(name)
  return isPath(name) ? resolve(name) : name
}

/** The tables that are named, each once. Throws SluiceError OPTION_INVALID for a name that is none, and beside other inputs. */
export function tablesIn(source: IngestSource): string[] {
  const names = namedIn(source)
  const tables = [...new Set(names.filter(isTable).map(name => name.slice(PREFIX.length)))]
  if (tables.length === 0) return []
  const wrong = tables.find(table => !/^[a-z]\w{0,79}$/i.test(table))
  if (wrong !== undefined)
    throw invalid('source', `'${PREFIX}${wrong}' is not a table. Write it as in ${PREFIX}incident`)
  const file = names.find(name => !isTable(name))
  if (file === undefined) return tables
  throw invalid('source', `'${file}' cannot be loaded together with a table, which has other ids. Use two commands`)
}

/** Begins the name of an input that is an index of another cluster: `elasticsearch:orders`. */
const INDEX_PREFIX = 'elasticsearch:'

const FOREIGN = /^[^\s"<>|,#:\\/?A-Z_+-][^\s"<>|,#:\\/?A-Z]*$/

/** Returns whether an input is an index of another cluster, under a name that it may have. */
export function isForeignIndex(name: string): boolean {
  return formOf(name) === 'elasticsearch' && FOREIGN.test(name.slice(INDEX_PREFIX.length))
}

/** The indices of another cluster that are named, each once. Throws SluiceError OPTION_INVALID for a name that is none, and beside other inputs. */
export function foreignIndicesIn(source: IngestSource): string[] {
  const names = namedIn(source)
  const isIndex = (name: string) => formOf(name) === 'elasticsearch'
  const indices = [...new Set(names.filter(isIndex).map(name => name.slice(INDEX_PREFIX.length)))]
  if (indices.length === 0) return []
  const wrong = indices.find(index => !FOREIGN.test(index))
  if (wrong !== undefined)
    throw invalid(
      'source',
      `'${INDEX_PREFIX}${wrong}' is no index, alias or data stream. Write it as in ${INDEX_PREFIX}orders`,
    )
  const file = names.find(name => !isIndex(name))
  if (file === undefined) return indices
  throw invalid('source', `'${file}' cannot be loaded together with an index of another cluster. Use two commands`)
}

/** Returns scheme, host and port. Undefined if the URL is invalid. */
export function instanceOf({ url }: ServiceNowOptions): string | undefined {
  return URL.canParse(String(url)) ? new URL(String(url)).origin : undefined
}
