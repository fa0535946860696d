import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { fail, SluiceError } from '../../base/failure/failure.js'
import { addressOf } from '../../base/addresses.js'
import { parseProxyUrl, type ProxyUrl } from './proxy-url.js'

/** A proxy URL as it was given. */
interface GivenProxy {
  readonly value: string
  /** The source of the URL: `STATIC_PROXY_URL`, `--proxy`. */
  readonly origin: string
}

export interface ChosenProxy {
  /** Undefined to connect directly. */
  readonly proxy?: ProxyUrl
  /** The deciding setting: the origin of the proxy URL, `--direct`, `NO_PROXY`, or `default` without a proxy. */
  readonly origin: string
  /** Facts that may surprise the user, in sentences without secrets. */
  readonly notes: readonly string[]
  /** Why Sluice uses no proxy although the options ask for one. Absent with `direct`. */
  readonly unused?: string
}

/**
 * Chooses the proxy for a target. A static proxy (`proxy`) is never skipped silently. NO_PROXY applies only to the environment's
 * general proxy (HTTPS_PROXY), and only `direct` turns both off. The URL of a skipped proxy is not read.
 * @throws SluiceError PROXY_URL_INVALID, PROXY_NOT_USED, CLUSTER_URL_IS_PROXY
 */
export function chooseProxy(options: {
  readonly target: URL
  readonly proxy?: GivenProxy | undefined
  readonly environmentProxy?: GivenProxy | undefined
  readonly noProxy?: string | undefined
  readonly direct?: boolean
  readonly requireProxy?: boolean
}): ChosenProxy {
  const { target, proxy, environmentProxy } = options
  const given = proxy ?? environmentProxy
  if (options.direct === true) {
    if (options.requireProxy === true) throw notUsed('--require-proxy and --direct contradict each other')
    return {
      origin: '--direct',
      notes: given === undefined ? [] : [`Sluice ignores ${given.origin}, because --direct is set`],
    }
  }
  if (given === undefined) {
    if (options.requireProxy === true) throw notUsed('--require-proxy is set, but no proxy is set')
    return { origin: 'default', notes: [] }
  }
  const entry = noProxyEntry(options.noProxy ?? '', target)
  if (entry !== undefined && proxy === undefined) {
    if (options.requireProxy === true)
      throw notUsed(`--require-proxy is set, but NO_PROXY ("${entry}") excludes ${target.host} from ${given.origin}`)
    const skipped = `Sluice ignores ${given.origin}, since NO_PROXY ("${entry}") covers ${target.host}`
    return { origin: 'NO_PROXY', notes: [skipped], unused: skipped }
  }
  const parsed = parseProxyUrl(given.value, given.origin)
  if (isSameAddress(addressOf(target), parsed)) {
    throw fail('CLUSTER_URL_IS_PROXY', { url: target.origin })
  }
  if (entry !== undefined) throw notUsed(`NO_PROXY ("${entry}") covers ${target.host}, although ${given.origin} is set`)
  return { proxy: parsed, origin: given.origin, notes: [] }
}

function notUsed(problem: string): SluiceError {
  return fail('PROXY_NOT_USED', { problem })
}

/** Returns whether two URLs lead to one port. Does not resolve names. */
function isSameAddress(one: ReturnType<typeof addressOf>, other: ReturnType<typeof addressOf>): boolean {
  return one.port === other.port && canonical(one.host) === canonical(other.host)
}

/** Drops case, the dot of the root, and the many spellings of an IP address. */
function canonical(host: string): string {
  const name = host.replace(/\.$/, '')
  const url = `http://${isIPv6(name) ? `[${name}]` : name}`
  return URL.canParse(url) ? new URL(url).hostname : name.toLowerCase()
}

/**
 * Returns the entry of a NO_PROXY list that covers the target, if one does. Commas or spaces separate entries: `*`, a
 * host, which covers its subdomains too (`.host` and `*.host` mean the same), an IPv4 or IPv6 address, or a CIDR
 * block. Entries other than `*` and CIDR may have a `:port`. Names are compared as written. Nothing is resolved.
 */
export function noProxyEntry(noProxy: string, target: URL): string | undefined {
  const { host, port } = addressOf(target)
  return noProxy
    .split(/[\s,]+/)
    .find(entry => entry !== '' && covers(entry, host.toLowerCase().replace(/\.$/, ''), port))
}

function covers(entry: string, host: string, port: number): boolean {
  if (entry === '*') return true
  if (entry.includes('/')) return blockCovers(entry, host)
  const { name, only } = splitPort(entry)
  if (only !== undefined && only !== port) return false
  if (isIP(name) !== 0 || isIP(host) !== 0) return isIP(name) !== 0 && addressCovers(name, host)
  const suffix = name
    .replace(/^\*?\./, '')
    .replace(/\.$/, '')
    .toLowerCase()
  return suffix !== '' && (host === suffix || host.endsWith(`.${suffix}`))
}

function splitPort(entry: string): { name: string; only?: number } {
  if (isIP(entry) !== 0) return { name: entry }
  const [, bracketed, name = '', port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? []
  return { name: bracketed ?? name, ...(port === undefined ? {} : { only: Number(port) }) }
}

function addressCovers(address: string, host: string): boolean {
  const list = new BlockList()
  list.addAddress(address, familyOf(address))
  return isIP(host) !== 0 && list.check(host, familyOf(host))
}

function blockCovers(block: string, host: string): boolean {
  const [network = '', prefix = ''] = block.split('/')
  const widest = isIPv4(network) ? 32 : 128
  if (isIP(network) === 0 || isIP(host) === 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > widest) return false
  const list = new BlockList()
  list.addSubnet(network, Number(prefix), familyOf(network))
  return list.check(host, familyOf(host))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}
