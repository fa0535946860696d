import type { ClusterAccess } from '../../options/cluster-access.js'

/**
 * Collects every secret of a command in every form that output could contain: as given, decoded, and as sent. Leaves
 * out shorter secrets, because any text contains them.
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

/** Returns a secret as it is, and as it is sent with a user name. */
export function secretForms(username: string, secret: string): readonly string[] {
  return passwordForms(username, secret).filter(form => form.length >= shortest)
}

function passwordForms(username: string, password: string): string[] {
  return [password, encodeURIComponent(password), base64(`${username}:${password}`)]
}

/** Returns the credentials in a proxy URL. Requests contain the decoded pair. */
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
