/**
 * What somebody else said, as evidence: one line of at most `length` characters, without markup and control characters, and
 * with the credentials masked that an echoing server sends back.
 */
export function quote(text: string, length = 200): string {
  const line = text
    .slice(0, 4096)
    .replace(/<[^<>]*>/g, ' ')
    // oxlint-disable-next-line no-control-regex -- control characters are what is removed
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .replace(/\b([Aa]pi[Kk]ey|[Bb]asic|[Bb]earer)(\s+)(?=\S*[A-Z\d=])[\w+/=.:~-]{8,}/g, '$1$2***')
    .trim()
  return line.length > length ? `${line.slice(0, length)}…` : line
}
