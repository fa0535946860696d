/** Hides credentials in URLs, replaces secrets in text, and recognises a credential in the place of another one. */
import type { SourceUrl } from './text/source-url.js'
import { visible } from './text/shown.js'

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

/** A value of text, numbers, lists and plain objects with every secret in its text replaced. */
export function masked<T>(value: T, secrets: readonly string[]): T {
  // The result has the shape of what came in: only text changes.
  return replaceIn(value, (text: string) => withoutSecrets(text, secrets)) as T
}

/** A value without these secrets. Changes no other text, which may be that of documents. */
export function withoutKnown<T>(value: T, secrets: readonly string[]): T {
  const isFound = (text: string) => secrets.some(secret => text.includes(secret))
  return replaceIn(value, (text: string) => (isFound(text) ? replaceKnown(text, secrets) : text)) as T
}

/** Replaces longer secrets first, because one may be part of another. */
function replaceKnown(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets.filter(secret => secret !== '').toSorted((a, b) => b.length - a.length)
  return longestFirst.reduce((rest, secret) => rest.replaceAll(secret, hidden), text)
}

/** Also hides credentials in any URL. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return replaceKnown(text, secrets)
    .replaceAll(CREDENTIALS, (all: string, scheme: string, userinfo: string) =>
      userinfo.endsWith(hidden) || userinfo === placeholder ? all : `${scheme}${hidden}@`,
    )
    .replaceAll(IN_QUERY, `$1${hidden}`)
}

/** Replaces credentials in advice. */
const placeholder = 'USERNAME:PASSWORD'

/** Each run of characters is looked at once. */
const CREDENTIALS = /((?<![a-z0-9+.-])[a-z0-9+.-]+:\/\/)([^\s/@'"]+)@/gi

/** Redis and PostgreSQL take the password from the query of a URL, too: `password`, `sentinelPassword`, `sslpassword`. */
const IN_QUERY = /([?&][a-z]*password=)[^&#\s'"]+/gi

/** Returns the value itself if nothing in it is replaced. */
function replaceIn(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const replaced = value.map(one => replaceIn(one, replace))
    return replaced.some((one, at) => one !== value[at]) ? replaced : value
  }
  const entries = Object.entries(value)
  const replaced = entries.map(([name, one]) => [name, replaceIn(one, replace)] as const)
  return replaced.some(([, one], at) => one !== entries[at]?.[1]) ? Object.fromEntries(replaced) : value
}

/** Each makes the search slower. */
const MOST_URLS = 100

/** Any text contains shorter secrets. */
const shortest = 3

/** Credentials. */
interface SecretAccess {
  readonly apiKey?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly key?: string | Buffer | undefined
  readonly proxy?: { readonly url?: string | undefined } | undefined
}

/** Collects the secrets of a command in every form that output could contain: as given, decoded, and as sent. */
export function knownSecrets(
  access: SecretAccess,
  ...otherProxies: readonly (string | undefined)[]
): readonly string[] {
  const { apiKey, username, password, key, proxy } = access
  const forms = [
    ...(apiKey === undefined ? [] : apiKeyForms(apiKey)),
    ...(password === undefined ? [] : passwordForms(username ?? '', password)),
    // The value of a user name may be a secret in the wrong place.
    ...(username === undefined || misplacedIn({ username, password }) === undefined ? [] : passwordForms('', username)),
    ...(key === undefined ? [] : [String(key)]),
    ...[proxy?.url, ...otherProxies].flatMap(url => (url === undefined ? [] : proxyForms(url))),
  ]
  return [...new Set(forms)].filter(form => form.length >= shortest)
}

/** The parts of a load that hold secrets. */
interface WithSecrets {
  readonly connecting: {
    readonly target: Omit<SecretAccess, 'proxy'> & { readonly url?: string | URL | undefined }
    readonly proxy: { readonly url: string | undefined; readonly environmentProxy: string | undefined }
  }
  readonly tables: { readonly servicenow: InstanceAccess } | undefined
  readonly from?: Pick<WithSecrets, 'connecting'> | undefined
  readonly remote:
    | { readonly addresses: ReadonlyMap<string, SourceUrl>; readonly token: string | undefined }
    | undefined
}

/** Credentials of an instance of ServiceNow. */
interface InstanceAccess {
  readonly apiKey?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly clientSecret?: string | undefined
  readonly refreshToken?: string | undefined
}

/** Collects the secrets of a load. */
export function secretsOf({ connecting: { target, proxy }, tables, remote, from }: WithSecrets): string[] {
  const { apiKey, username, password, key, url } = target
  const {
    apiKey: instanceKey,
    password: instancePassword,
    clientSecret,
    refreshToken,
    username: instanceUser = '',
  } = tables?.servicenow ?? {}
  return [
    ...knownSecrets({ apiKey, username, password, key, proxy }, proxy.environmentProxy?.toString(), url?.toString()),
    ...(from === undefined ? [] : secretsOf({ ...from, tables: undefined, remote: undefined })),
    ...remoteSecrets(remote?.addresses.values() ?? [], remote?.token),
    ...[instanceKey, instancePassword, clientSecret, refreshToken].flatMap(secret =>
      secret === undefined ? [] : secretForms(instanceUser, secret),
    ),
  ]
}

/** Collects the secrets in the URLs of inputs. */
export function remoteSecrets(sources: Iterable<SourceUrl>, token?: string): readonly string[] {
  // Names and messages hold none of them. So many are only looked for in what a server says.
  const found = [...sources]
    .slice(0, MOST_URLS)
    .flatMap(({ username = '', password, secrets }) => [
      ...secrets,
      ...(password === undefined ? [] : passwordForms(username, password)),
    ])
  return [...new Set([...found, ...(token === undefined ? [] : [token])])].filter(secret => secret.length >= shortest)
}

/** Collects the secrets in the URL of a queue, which may stand before its host or in its query. */
export function queueSecrets(url: string): readonly string[] {
  const { username, password, search } = new URL(url)
  const query = [...search.matchAll(IN_QUERY)].map(([all, name = '']) => all.slice(name.length))
  const written = [password, ...query].filter(secret => secret !== '')
  if (written.length === 0) return []
  return [...new Set([url, ...written.flatMap(secret => [secret, ...secretForms(decoded(username), decoded(secret))])])]
}

/** An encoded key is base64 of `id:key`. */
function apiKeyForms(apiKey: string): string[] {
  const [, key] = /^[\x21-\x7e]+?:([\x21-\x7e]+)$/.exec(Buffer.from(apiKey, 'base64').toString('latin1')) ?? []
  return key === undefined ? [apiKey] : [apiKey, key]
}

/** Returns a secret as it is, and as it is sent with a user name. */
export function secretForms(username: string, secret: string): readonly string[] {
  return passwordForms(username, secret).filter(form => form.length >= shortest)
}

function passwordForms(username: string, password: string): string[] {
  return [password, visible(password), encodeURIComponent(password), base64(`${username}:${password}`)]
}

/** A proxy may repeat a user name that it does not know. */
const LIKE_A_PASSWORD = /^(?=.*\d)(?=.*[a-z]).{10,}$/i

/** Returns the credentials in a proxy URL. Requests contain the decoded pair. */
function proxyForms(url: string): string[] {
  const userinfo = url.slice(0, Math.max(0, url.lastIndexOf('@'))).replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
  if (userinfo === '') return []
  const colon = userinfo.indexOf(':')
  const [username, password] = colon === -1 ? ['', userinfo] : [userinfo.slice(0, colon), userinfo.slice(colon + 1)]
  const sent = passwordForms(decoded(username), decoded(password))
  const swapped = LIKE_A_PASSWORD.test(username) ? passwordForms('', decoded(username)) : []
  return [userinfo, password, base64(userinfo), base64(decoded(userinfo)), ...sent, ...swapped]
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

interface Login {
  readonly apiKey?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** Users that every cluster has. */
const BUILT_IN = /^(elastic|kibana|kibana_system|logstash_system|beats_system|apm_system|remote_monitoring_user)$/

/** An encoded API key is longer: even its id has 20 characters. */
const SHORTEST_KEY = 40

/** Returns which credential is in the place of another one, as far as the credentials themselves show it. Never shows their values. */
export function misplacedIn({ apiKey, username = '', password = '' }: Login): string | undefined {
  if (apiKey !== undefined)
    return isEncodedKey(apiKey) ? undefined : 'The API key is not in its encoded form, which is base64 of ID:KEY'
  for (const [value, name] of [
    [username, 'user name'],
    [password, 'password'],
  ] as const)
    if (value.length >= SHORTEST_KEY && isEncodedKey(value))
      return `The ${name} is an encoded API key. Set it as ELASTICSEARCH_API_KEY, without user name and password`
  if (BUILT_IN.test(password) && !BUILT_IN.test(username))
    return 'The password is the name of a built-in user, so user name and password are probably swapped'
  return username !== '' && username === password ? 'The user name and the password are the same' : undefined
}

function isEncodedKey(apiKey: string): boolean {
  return /^[\x21-\x7e]+:[\x21-\x7e]+$/.test(Buffer.from(apiKey, 'base64').toString('latin1'))
}

/** Returns whether a value was pasted with the quotes around it, straight or typographic. */
export function isQuoted(value: string): boolean {
  return /^(["'`]).*\1$|^[“„‘‚«].*[”“’‘»]$/s.test(value)
}
