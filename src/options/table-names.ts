/** Inputs that are tables of the service-management platform, by their names: `servicenow:incident`. */
import { resolve } from 'node:path'
import type { IngestSource } from '../source/open-sources.js'
import type { ServiceNowOptions } from './ingest-options.js'
import { withoutCredentials } from './hide-secrets.js'
import { invalid } from './option-checks.js'

const PREFIX = 'servicenow:'

/** Returns the names among the inputs. Returns none if the source is a stream or an iterable. */
export function namedIn(source: unknown): string[] {
  const names: unknown[] = typeof source === 'string' ? [source] : Array.isArray(source) ? source : []
  return names.filter(name => typeof name === 'string')
}

export function isTable(name: string): boolean {
  return name.startsWith(PREFIX)
}

/** Returns the name of an input as it is known in any folder: an absolute path, and no credentials. */
export function fullName(name: string): string {
  if (/^[a-z][\w+.-]*:\/\//i.test(name)) return withoutCredentials(name)
  return name === '-' || isTable(name) ? name : resolve(name)
}

/** The tables that are named, each once. Throws SluiceError OPTION_INVALID for a name that is none, and beside other inputs. */
export function tablesIn(source: IngestSource): string[] {
  const names = namedIn(source)
  const tables = [...new Set(names.filter(isTable).map(name => name.slice(PREFIX.length)))]
  if (tables.length === 0) return []
  const wrong = tables.find(table => !/^[a-z]\w{0,79}$/i.test(table))
  if (wrong !== undefined)
    throw invalid('source', `'${PREFIX}${wrong}' is not a table: write it as in ${PREFIX}incident`)
  const file = names.find(name => !isTable(name))
  if (file === undefined) return tables
  throw invalid('source', `'${file}' cannot be loaded together with a table, which has other ids: use two commands`)
}

/** Returns scheme, host and port. Undefined if the URL is invalid. */
export function instanceOf({ url }: ServiceNowOptions): string | undefined {
  return URL.canParse(String(url)) ? new URL(String(url)).origin : undefined
}
