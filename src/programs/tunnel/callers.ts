/** Separates callers on this machine from web pages, and callers that know the token from others. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isLoopback } from '../../base/addresses.js'

/**
 * Returns whether a program of this machine sent the request to a name of this machine. A web page can send requests to any address of the
 * machine that shows it. The browser then names the page as origin, or the page's own name as host.
 */
export function isOfThisMachine(headers: IncomingHttpHeaders): boolean {
  const { host = '', origin } = headers
  return isLoopback(withoutPort(host)) && isLocalOrigin(origin) && headers['sec-fetch-site'] !== 'cross-site'
}

function isLocalOrigin(origin: string | undefined): boolean {
  return origin === undefined || (URL.canParse(origin) && isLoopback(new URL(origin).hostname))
}

function withoutPort(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '')
}

/** Returns a check of the headers Authorization and Proxy-Authorization: one of their usual forms holds the token. */
export function tokenGuard(token: string): (header: string | undefined) => boolean {
  const wanted = digest(token)
  return header => secretsIn(header ?? '').some(secret => timingSafeEqual(digest(secret), wanted))
}

/** Tools send a secret as a password, as a bearer token or as an API key. */
function secretsIn(header: string): readonly string[] {
  const [, scheme = '', value = ''] = /^(\w+) +(\S+)$/.exec(header) ?? []
  if (/^(bearer|apikey)$/i.test(scheme)) return [value, passwordIn(value)]
  return /^basic$/i.test(scheme) ? [passwordIn(value)] : []
}

function passwordIn(encoded: string): string {
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
