/** Fields that a user wants in incidents. */

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
  if (!/^[a-z]\w*$/.test(name)) return `holds '${name}', which is not the name of a field, as in assignment_group`
  return own.includes(name) ? `holds ${name}, which the alarm sets itself` : undefined
}

/** `assignment_group=ID^urgency=1`: as the platform's own templates say it. Undefined where it is something else. */
export function readIncidentFields(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text.split('^').map(pair => /^\s*([^=]+?)\s*=(.*)$/s.exec(pair))
  if (pairs.includes(null)) return undefined
  return Object.fromEntries(pairs.map(pair => [pair?.[1] ?? '', pair?.[2] ?? '']))
}
