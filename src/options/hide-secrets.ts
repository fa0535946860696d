export const hidden = '***'

/**
 * A URL, or what was meant to be one, as it may be shown: scheme, host, port and path. Credentials end at the last @, because
 * a password that was not encoded may hold an @ itself. Text that does not come apart into these may hold a secret anywhere:
 * of it only the scheme is shown.
 */
export function withoutCredentials(url: string): string {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url)?.[0] ?? ''
  const at = url.lastIndexOf('@')
  const place = /^(?<host>(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:\/[^?#\s]*)?)(?<query>\?.*)?$/is.exec(
    url.slice(Math.max(at + 1, scheme.length)),
  )?.groups
  // `user:12345` looks like `host:12345`.
  if (place === undefined || (scheme === '' && at === -1)) return `${scheme}${hidden}`
  const query = place['query'] === undefined ? '' : `?${hidden}`
  return `${scheme}${at === -1 ? '' : `${hidden}@`}${place['host']}${query}`
}
