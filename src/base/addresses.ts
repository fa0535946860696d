/** Addresses as people write them: of a cluster, to listen on, and where a tunnel leads. */
import { isIP, isIPv6 } from 'node:net'
import { isQuoted } from './secrets.js'
import { type Failure, failure } from './failure/failure.js'

/** The parts of a cluster URL, or its problem. Messages never repeat the credentials. */
type ClusterUrl =
  | { readonly url: string; readonly username?: string; readonly password?: string }
  | { readonly problem: string }

/** Splits a cluster URL into the URL without credentials, and the credentials, if any. */
export function readClusterUrl(given: string): ClusterUrl {
  const text = given.trim()
  if (isQuoted(text)) return { problem: 'has quotes around it. Remove the quotes' }
  if (cloudUrl(text) !== undefined)
    return { problem: 'is a cloud id. Pass it with --cloud-id (ELASTICSEARCH_CLOUD_ID)' }
  if (/\s/.test(text))
    return { problem: 'contains whitespace. Write https://HOST:PORT, and a space in credentials as %20' }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
  const host = text.slice(text.lastIndexOf('@') + 1)
  if (scheme === undefined) {
    // Other text may be a user and a password without a host.
    if (!/^[a-z0-9.-]+(:\d{1,5})?(\/[^?#]*)?$/i.test(host)) return { problem: 'has no scheme. Write https://HOST:PORT' }
    return { problem: `'${host}' has no scheme. Write https://${host}` }
  }
  if (scheme !== 'https' && scheme !== 'http') return { problem: `the scheme is ${scheme}://, not https:// or http://` }
  // The parser would take the first part of a path for the host, and a backslash for a slash.
  if (/^[^:]+:\/\/[/\\]/.test(text)) return { problem: 'has no host after its two slashes. Write https://HOST:PORT' }
  if (text.includes('\\')) return { problem: 'has a backslash. Write https://HOST:PORT, and \\ in credentials as %5C' }
  if (!isWebAddress(text)) return { problem: 'is not a URL. Write https://HOST:PORT' }
  const url = new URL(text)
  if (/[?#]/.test(text)) return { problem: 'has a query or fragment. Write only https://HOST:PORT' }
  // The parser ends the host at the first slash, so that a password with one would become part of the path.
  if (url.pathname.includes('@'))
    return { problem: 'has an @ after its host. In credentials, write / as %2F and @ as %40' }
  const page = pageOf(url)
  if (page !== undefined) return { problem: `${page}. Copy the Elasticsearch endpoint from the Elastic Cloud console` }
  const { username, password } = url
  url.username = ''
  url.password = ''
  const bare = url.href.replace(/\/$/, '')
  if (username === '' && password === '') return { url: bare }
  const decoded = { username: decode(username), password: decode(password) }
  if (decoded.username === undefined || decoded.password === undefined) {
    return { problem: 'contains credentials with a % that encodes nothing. Set --username and ELASTICSEARCH_PASSWORD' }
  }
  return { url: bare, username: decoded.username, password: decoded.password }
}

/** Says which page for people a URL leads to, if it shows that. */
function pageOf({ hostname, pathname }: URL): string | undefined {
  if (/^cloud\.elastic\.co$/i.test(hostname)) return 'leads to the console of Elastic Cloud'
  return /^(\/s\/[^/]+)?\/app(\/|$)/.test(pathname) ? 'leads to a page of Kibana' : undefined
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * Returns the cluster URL inside a cloud id. After its first colon a cloud id has base64 of `host[:port]$uuid[$…]`.
 * Undefined if the text is no cloud id, or the deployment has no Elasticsearch.
 */
export function cloudUrl(cloudId: string): string | undefined {
  const encoded = cloudId.slice(cloudId.indexOf(':') + 1)
  if (!cloudId.includes(':') || !/^[A-Za-z0-9+/]+=*$/.test(encoded)) return undefined
  const [parent = '', uuid = ''] = Buffer.from(encoded, 'base64').toString('utf8').split('$')
  const [, domain, port = '443'] = /^([a-z0-9.-]+)(?::(\d{1,5}))?$/i.exec(parent) ?? []
  if (domain === undefined || !/^[a-z0-9-]+$/i.test(uuid)) return undefined
  const url = `https://${uuid}.${domain}:${port}`
  return URL.canParse(url) ? url : undefined
}

/**
 * Whether a text is an http or https URL with a host of its own. Node's parser repairs what it should refuse: it takes
 * `https:///path/` for the host `path`, and `http:host` for a URL.
 */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^/\\?#\s]\S*$/i.test(text) && URL.canParse(text)
}

/** The URLs in a list with commas between them. A password may hold a comma itself: the next URL begins with its scheme. */
export function nodeUrls(list: string | undefined): readonly string[] {
  return (list ?? '')
    .split(/,(?=\s*[a-z][a-z0-9+.-]*:\/\/)/i)
    .map(url => url.trim())
    .filter(url => url !== '')
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Reads `ADDRESS:PORT`, `[IPV6]:PORT`, or `PORT` on 127.0.0.1. */
export function listenAddressIn(text: string): ListenAddress | undefined {
  const [, v6, name = '127.0.0.1', port = ''] = /^(?:(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):)?(\d{1,5})$/i.exec(text) ?? []
  return port === '' || Number(port) > 65_535 ? undefined : { host: v6 ?? name, port: Number(port) }
}

/** Returns in words why the system does not listen there, if there are words for it. */
export function listenProblem(error: unknown): string | undefined {
  return problems[(error as NodeJS.ErrnoException).code ?? '']
}

const problems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program. Stop it, or pass another port',
  EACCES: 'is a port that this user cannot open. Pass a port above 1023',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is a name that cannot be resolved',
}

/** Where a tunnel leads: the cluster, the ServiceNow instance, or any host and port behind the proxy. */
export interface TunnelEnd {
  readonly to: 'cluster' | 'servicenow' | { readonly host: string; readonly port: number }
  /** The port of this machine that leads there. 0: any free port. Absent: the user asked for none. */
  readonly local?: number
}

/** Returns undefined if the text names no destination. */
export function readDestination(text: string): TunnelEnd | undefined {
  const [, local, name = ''] = /^(?:(\d{1,5}):)?(.+)$/.exec(text) ?? []
  const to = targetIn(name)
  if (to === undefined || !isPort(Number(local ?? 0))) return undefined
  return local === undefined ? { to } : { to, local: Number(local) }
}

function targetIn(name: string): TunnelEnd['to'] | undefined {
  if (name === 'cluster' || name === 'servicenow') return name
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([a-z0-9._-]+)):(\d{1,5})$/i.exec(name) ?? []
  const host = (bracketed ?? plain ?? '').toLowerCase()
  const port = Number(digits)
  if (port === 0 || !isPort(port)) return undefined
  // A number before the colon would be a local port without a target.
  const isHost = bracketed === undefined ? /[a-z.]/.test(host) : isIPv6(bracketed)
  return isHost ? { host, port } : undefined
}

function isPort(port: number): boolean {
  return port >= 0 && port <= 65_535
}

/** host:port as CONNECT wants it, an IPv6 host in brackets. */
export function authorityOf(url: URL): string {
  return `${url.hostname}:${addressOf(url).port}`
}

/** Host without brackets, and the port in effect. */
export function addressOf(url: URL): { host: string; port: number } {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port }
}

/** Names addresses that are not the dashboard's. */
export function nameStrangers(
  seen: Readonly<Record<string, number>>,
  expected: readonly string[] = [],
): Failure | undefined {
  const strangers = Object.keys(seen).filter(address => expected.length > 0 && !expected.includes(address))
  return strangers.length === 0 ? undefined : failure('EGRESS_UNEXPECTED', { seen: strangers, expected })
}

/** Returns whether a host of a URL is this machine itself. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '')
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}

/** Returns the URL of a cluster as others may see it: without its login and a last slash, so that the same cluster has the same text. */
export function clusterPlace(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/+$/, '')
}
