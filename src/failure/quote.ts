/** From here on others repeat what they were sent: a parser its input, a shard its request, a field its value. */
const REPEATED = /,? request: \[|\bsource\[|\bat \[Source:|\. Preview of field's value:/

/**
 * Prepares foreign text as evidence: one line of at most `length` characters, without markup, control characters, or
 * documents that Elasticsearch repeats. Masks credentials that a server may echo.
 */
export function quote(text: string, length = 200): string {
  const line = (text.split(REPEATED, 1)[0] ?? '')
    .slice(0, 4096)
    .replace(/<[^<>]*>/g, ' ')
    // oxlint-disable-next-line no-control-regex -- control characters are what is removed
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .replace(/\b([Aa]pi[Kk]ey|[Bb]asic|[Bb]earer)(\s+)(?=\S*[A-Z\d=])[\w+/=.:~-]{8,}/g, '$1$2***')
    .trim()
  return line.length > length ? `${line.slice(0, length)}…` : line
}
