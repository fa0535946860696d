import { BlockList, isIP, isIPv4 } from 'node:net'
import { addressOf } from './destination.js'

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
