/**
 * A proxy: its URL as the user wrote it, and the bytes of the connections to it. Node's URL parser repairs URLs that it should refuse: an
 * unencoded `@` or `#` in a password silently moves the host. So this file takes the text apart itself, and its messages show none of it.
 */
import { isIPv6, type Socket } from 'node:net'
import { domainToASCII } from 'node:url'
import { fail } from '../../base/failure/failure.js'
import { isQuoted } from '../../base/secrets.js'

/** `socks5s` is SOCKS5 inside TLS. */
export type ProxyScheme = 'http' | 'https' | 'socks5' | 'socks5s'

export interface ProxyUrl {
  readonly scheme: ProxyScheme
  /** Lower case. An IPv6 address has no brackets. */
  readonly host: string
  readonly port: number
  /** Percent-decoded. */
  readonly username?: string | undefined
  /** Percent-decoded. */
  readonly password?: string | undefined
  /** scheme://host:port, never credentials: the only form that may be shown. */
  readonly display: string
}

/**
 * @param origin source of the text, for the message: `STATIC_PROXY_URL`, `--proxy`
 * @throws SluiceError PROXY_URL_INVALID, which never shows the credentials
 */
export function parseProxyUrl(text: string, origin: string): ProxyUrl {
  const refuse = (problem: string): never => {
    throw fail('PROXY_URL_INVALID', { origin, problem })
  }
  if (text === '') refuse('is empty')
  if (isQuoted(text)) refuse('has quotes around it. Remove the quotes')
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\s\u0000-\u001f\u007f]/.test(text)) refuse('contains whitespace or a control character')

  const { scheme, rest } = splitScheme(text, refuse)
  if (/^[/\\]/.test(rest)) refuse('has an empty host. Write the host after the two slashes')
  const at = rest.lastIndexOf('@')
  const credentials = at < 0 ? {} : readCredentials(rest.slice(0, at), scheme, refuse)
  const { host, port } = readAddress(rest.slice(at + 1), scheme, refuse)
  const misfit = portMisfit(scheme, port)
  if (misfit !== undefined) refuse(misfit)
  return { scheme, host, port, ...credentials, display: `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}` }
}

type Refuse = (problem: string) => never

const schemes: Readonly<Record<string, ProxyScheme>> = {
  http: 'http',
  https: 'https',
  socks: 'socks5',
  socks5: 'socks5',
  socks5h: 'socks5',
  socks5s: 'socks5s',
  'socks5+tls': 'socks5s',
}

function splitScheme(text: string, refuse: Refuse): { scheme: ProxyScheme; rest: string } {
  const [, name, rest] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(text) ?? []
  if (name === undefined || rest === undefined) {
    return refuse('has no scheme. It must begin with http://, https://, socks5:// or socks5s://')
  }
  const scheme = schemes[name.toLowerCase()]
  if (scheme !== undefined) return { scheme, rest }
  if (/^socks4a?$/i.test(name)) return refuse('asks for SOCKS4, which has no passwords. Use socks5://')
  return refuse('has an unknown scheme. It must be http://, https://, socks5:// or socks5s://')
}

function readCredentials(
  userinfo: string,
  scheme: ProxyScheme,
  refuse: Refuse,
): { username?: string; password?: string | undefined } {
  const bare = /[@/?#]/.exec(userinfo)?.[0]
  if (bare === '@') refuse('has more than one "@". Write the one in the username or password as %40')
  if (bare !== undefined) {
    refuse(`has an unencoded "${bare}" in the username or password. Write it as ${encodeURIComponent(bare)}`)
  }
  if (/%(?![0-9a-f]{2})/i.test(userinfo)) {
    refuse('has a "%" in the username or password that does not begin an escape such as %40. Write it as %25')
  }
  if (userinfo === '') return {}
  const colon = userinfo.indexOf(':')
  const username = decode(colon < 0 ? userinfo : userinfo.slice(0, colon), refuse)
  const password = colon < 0 ? undefined : decode(userinfo.slice(colon + 1), refuse)
  if (scheme === 'socks5' || scheme === 'socks5s') {
    if (Buffer.byteLength(username) > 255) refuse('has a username of more than 255 bytes, which SOCKS5 cannot carry')
    if (Buffer.byteLength(password ?? '') > 255)
      refuse('has a password of more than 255 bytes, which SOCKS5 cannot carry')
  } else if (username.includes(':')) {
    refuse('has a ":" in the username, which HTTP Basic authentication cannot carry')
  }
  return { username, password }
}

function decode(text: string, refuse: Refuse): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return refuse('has an escape in the username or password that is not UTF-8')
  }
}

function readAddress(text: string, scheme: ProxyScheme, refuse: Refuse): { host: string; port: number } {
  const address = text.replace(/\/$/, '')
  if (/[/?#]/.test(address)) refuse('has a path, a query or a fragment. It must end with the port')
  if (!address.startsWith('[') && address.split(':').length > 2) {
    refuse('has more than one ":" after the credentials. Write an IPv6 address in brackets, and an "@" before the host')
  }
  const [, bracketed, name, portText] =
    /^(?:\[([^\]]*)\]|([^:[]*))(?::(.*))?$/.exec(address) ?? refuse('has an invalid host name')
  if (bracketed === '' || (bracketed === undefined && name === '')) refuse('has an empty host')
  if (portText === undefined || portText === '') refuse(`has no port. ${usualPort[scheme]}`)
  if (!/^\d{1,5}$/.test(portText ?? '') || Number(portText) < 1 || Number(portText) > 65_535) {
    refuse('has a port that is not a number from 1 to 65535 (is the "@" before the host missing?)')
  }
  const host = bracketed === undefined ? domainToASCII(name ?? '') : bracketed.toLowerCase()
  if (/^(undefined|null|none|nan|nil)$/.test(host))
    refuse(`has the host "${host}". The variable that should hold the host was empty when the URL was built`)
  if (bracketed === undefined ? !/^[a-z0-9._-]+$/.test(host) : !isIPv6(host)) refuse('has an invalid host name')
  return { host, port: Number(portText) }
}

const usualPort: Readonly<Record<ProxyScheme, string>> = {
  http: 'QuotaGuard uses 9293 for http://',
  https: 'QuotaGuard uses 9294 for https://',
  socks5: 'The usual port for socks5:// is 1080',
  socks5s: 'Copy it from the dashboard of your proxy',
}

/** Ports that belong to another protocol than the scheme says: these never work, and time out or fail obscurely. */
function portMisfit(scheme: ProxyScheme, port: number): string | undefined {
  const socks = scheme === 'socks5' || scheme === 'socks5s'
  if (port === 1080 && !socks) {
    return `says ${scheme}:// with port 1080, which is SOCKS5. Use port ${scheme === 'http' ? 9293 : 9294}, or socks5://`
  }
  if (port === 9293 && socks) return 'says socks5:// with port 9293, which is HTTP. Use port 1080, or http://'
  if (port === 9294 && socks) return 'says socks5:// with port 9294, which is HTTP over TLS. Use port 1080, or https://'
  if (port === 9293 && scheme === 'https')
    return 'says https:// with port 9293, which is plain HTTP. Use http://, or port 9294'
  if (port === 9294 && scheme === 'http') return 'says http:// with port 9294, which expects TLS. Use https://'
  return undefined
}

/** Bytes on the wire of all connections to the first hop (the proxy, if there is one), TLS and handshakes included. */
export interface Traffic {
  /** TCP connections that were established. */
  readonly connections: number
  readonly bytesSent: number
  readonly bytesReceived: number
}

/** Counts what sockets carry, so that a metered proxy can be accounted for. */
export class TrafficMeter implements Traffic {
  connections = 0
  #sentByClosed = 0
  #receivedByClosed = 0
  readonly #open = new Set<Socket>()

  /** Takes a raw TCP socket that has just connected. */
  watch(socket: Socket): void {
    this.connections += 1
    this.#open.add(socket)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#sentByClosed += socket.bytesWritten
      this.#receivedByClosed += socket.bytesRead
    })
  }

  get bytesSent(): number {
    let sum = this.#sentByClosed
    for (const socket of this.#open) sum += socket.bytesWritten
    return sum
  }

  get bytesReceived(): number {
    let sum = this.#receivedByClosed
    for (const socket of this.#open) sum += socket.bytesRead
    return sum
  }
}

const accounts = new Map<string, TrafficMeter>()

/** Returns the traffic of this process through an account of a proxy. */
export function trafficThrough(account: string): TrafficMeter {
  const meter = accounts.get(account) ?? new TrafficMeter()
  accounts.set(account, meter)
  return meter
}

/** Returns who pays for the traffic of a proxy: its user, whatever the port, the scheme and the password. */
export function accountOf({ username, host, port }: ProxyUrl): string {
  return username === undefined ? `${host}:${port}` : `user ${username}`
}
