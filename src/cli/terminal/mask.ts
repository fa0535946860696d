import { hidden } from '../../options/hide-secrets.js'

/** A value of text, numbers, lists and plain objects with every secret in its text replaced. */
export function masked<T>(value: T, secrets: readonly string[]): T {
  // The result has the shape of what came in: only text changes.
  return replaceIn(value, (text: string) => withoutSecrets(text, secrets)) as T
}

/** Replaces longer secrets first, because one may be part of another. Also hides credentials in any URL. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets.filter(secret => secret !== '').toSorted((a, b) => b.length - a.length)
  const known = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, hidden), text)
  return known.replaceAll(CREDENTIALS, (all: string, scheme: string, userinfo: string) =>
    userinfo.endsWith(hidden) || userinfo === placeholder ? all : `${scheme}${hidden}@`,
  )
}

/** Replaces credentials in advice. */
const placeholder = 'USERNAME:PASSWORD'

const CREDENTIALS = /([a-z][a-z0-9+.-]*:\/\/)([^\s/@'"]+)@/gi

function replaceIn(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  if (Array.isArray(value)) return value.map(one => replaceIn(one, replace))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaceIn(one, replace)]))
}
