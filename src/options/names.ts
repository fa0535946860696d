/** Names that end up in Elasticsearch or ServiceNow, and what is wrong with them. */
import { fail } from '../failure/failure.js'

/** Checks the name of an index, alias or data stream, if there is one. Throws SluiceError INDEX_NAME_INVALID. */
export function checkIndexName(index: string | undefined): void {
  const problem = index === undefined ? undefined : indexNameProblem(index)
  if (index !== undefined && problem !== undefined) throw fail('INDEX_NAME_INVALID', { index, problem })
}

/** Returns why Elasticsearch refuses the name. Undefined if the name is valid. */
function indexNameProblem(name: string): string | undefined {
  const forbidden = /[\\/*?"<>|,#:\s]/.exec(name)?.[0]
  if (forbidden !== undefined) return `contains ${/\s/.test(forbidden) ? 'a space' : forbidden}`
  if (name !== name.toLowerCase()) return `has upper-case letters: write ${name.toLowerCase()}`
  if (/^[-_+]/.test(name)) return `starts with ${name[0]}`
  if (name === '.' || name === '..') return 'is not a name'
  const bytes = Buffer.byteLength(name)
  return bytes > 255 ? `has ${bytes} bytes, 255 are allowed` : undefined
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
