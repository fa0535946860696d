import type { ClusterAccess } from '../../options/cluster-access.js'

/**
 * Every secret of a command in every form in which something could repeat it: as it was given, decoded, and as it is sent.
 * Shorter ones than this many characters are left out: they would be found in any text.
 */
const shortest = 3

export function knownSecrets(
  access: ClusterAccess,
  ...otherProxies: readonly (string | undefined)[]
): readonly string[] {
  const { apiKey, username, password, key, proxy } = access
  const forms = [
    ...(apiKey === undefined ? [] : apiKeyForms(apiKey)),
    ...(password === undefined ? [] : passwordForms(username ?? '', password)),
    ...(key === undefined ? [] : [key]),
    ...[proxy?.url, ...otherProxies].flatMap(url => (url === undefined ? [] : proxyForms(url))),
  ]
  return [...new Set(forms)].filter(form => form.length >= shortest)
}

/** An encoded key is base64 of `id:key`. */
function apiKeyForms(apiKey: string): string[] {
  const [, key] = /^[\x21-\x7e]+?:([\x21-\x7e]+)$/.exec(Buffer.from(apiKey, 'base64').toString('latin1')) ?? []
  return key === undefined ? [apiKey] : [apiKey, key]
}

/** A secret by itself, and as it is sent with a user name. */
export function secretForms(username: string, secret: string): readonly string[] {
  return passwordForms(username, secret).filter(form => form.length >= shortest)
}

function passwordForms(username: string, password: string): string[] {
  return [password, encodeURIComponent(password), base64(`${username}:${password}`)]
}

/** The credentials in a proxy URL. What is sent is the decoded pair. */
function proxyForms(url: string): string[] {
  const userinfo = url.slice(0, Math.max(0, url.lastIndexOf('@'))).replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
  if (userinfo === '') return []
  const colon = userinfo.indexOf(':')
  const [username, password] = colon === -1 ? ['', userinfo] : [userinfo.slice(0, colon), userinfo.slice(colon + 1)]
  const sent = passwordForms(decoded(username), decoded(password))
  return [userinfo, password, base64(userinfo), base64(decoded(userinfo)), ...sent]
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
