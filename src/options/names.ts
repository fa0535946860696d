/** Names that end up in Elasticsearch or ServiceNow, and what is wrong with them. */

/** What Elasticsearch has against the name of an index, alias or data stream; undefined when nothing. */
export function indexNameProblem(name: string): string | undefined {
  const forbidden = /[\\/*?"<>|,#:\s]/.exec(name)?.[0]
  if (forbidden !== undefined) return `holds ${/\s/.test(forbidden) ? 'a blank' : forbidden}`
  if (name !== name.toLowerCase()) return `has upper-case letters: write ${name.toLowerCase()}`
  if (/^[-_+]/.test(name)) return `starts with ${name[0]}`
  if (name === '.' || name === '..') return 'is not a name'
  const bytes = Buffer.byteLength(name)
  return bytes > 255 ? `has ${bytes} bytes, 255 are allowed` : undefined
}

/** It becomes part of a key at the platform, which keeps a hundred characters of it, and of a query there. */
const MOST = 90

/** What is wrong with a job's name, if anything. */
export function jobProblem(name: string): string | undefined {
  return /^\w[\w.-]*$/.test(name) && name.length <= MOST
    ? undefined
    : `must have 1 to ${MOST} letters, digits and . _ - and begin with a letter or digit`
}

/** What the alarm goes by, or writes itself. */
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

/** What is wrong with the name of a field, if anything. */
export function incidentFieldProblem(name: string): string | undefined {
  if (!/^[a-z]\w*$/.test(name)) return `contains '${name}', which is not the name of a field such as assignment_group`
  return own.includes(name) ? `contains ${name}, which the alarm sets itself` : undefined
}

/** `assignment_group=ID^urgency=1`: as the platform's own templates say it. Undefined where it is something else. */
export function readIncidentFields(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text.split('^').map(pair => /^\s*([^=]+?)\s*=(.*)$/s.exec(pair))
  if (pairs.includes(null)) return undefined
  return Object.fromEntries(pairs.map(pair => [pair?.[1] ?? '', pair?.[2] ?? '']))
}
