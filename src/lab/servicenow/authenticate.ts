import type { IncomingMessage } from 'node:http'
import type { Platform } from './platform.js'

/** Returns the user of a request. Undefined if its credentials are missing or wrong. */
export function authenticate(
  { access, apiKeys, registry, users }: Platform,
  request: IncomingMessage,
): string | undefined {
  const key = request.headers['x-sn-apikey']
  if (typeof key === 'string') {
    const username = apiKeys.get(key)
    return username !== undefined && users.mayLogIn(username) ? username : undefined
  }
  const [, scheme = '', credentials = ''] = /^(\S+) +(\S+)$/.exec(request.headers.authorization ?? '') ?? []
  if (scheme.toLowerCase() === 'bearer') return registry.access(credentials)?.username
  if (scheme.toLowerCase() !== 'basic' || !access.allowsBasic) return undefined
  const decoded = Buffer.from(credentials, 'base64').toString()
  const colon = decoded.indexOf(':')
  const username = decoded.slice(0, Math.max(colon, 0))
  return users.isPassword(username, decoded.slice(colon + 1)) ? username : undefined
}
