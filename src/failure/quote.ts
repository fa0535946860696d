/** From here on others repeat what they were sent: a parser its input, a shard its request, a field its value. */
const REPEATED = /,? request: \[|\bsource\[|\bat \[Source:|\. Preview of field's value:/

/**
 * What somebody else said, as evidence: one line of at most `length` characters, without markup and control characters, without
 * the documents that Elasticsearch repeats, and with the credentials masked that an echoing server sends back.
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
