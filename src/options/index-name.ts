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
