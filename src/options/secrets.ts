/** Stands in every place where a secret would be shown. */
export const hidden = '***'

/** A value as messages and `sluice config` show it: quoted text, secrets replaced. */
export function shown(secret: 'value' | 'url' | undefined, value: unknown): string {
  if (secret === 'value' || (secret === 'url' && typeof value !== 'string')) return hidden
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'nothing'
  return `'${secret === 'url' ? withoutCredentials(value) : value}'`
}

/**
 * A URL, or what was meant to be one, with everything before its last @ replaced. The last one, because a password that
 * was not encoded may hold an @ itself.
 */
export function withoutCredentials(url: string): string {
  const at = url.lastIndexOf('@')
  if (at === -1) return url
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url)?.[0] ?? ''
  return `${scheme}${hidden}${url.slice(at)}`
}

export function credentialsIn(url: string): boolean {
  return url.includes('@')
}
