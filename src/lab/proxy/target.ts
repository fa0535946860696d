import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** The target that a client names, judged by the proxy. */
export type Target =
  | { readonly host: string; readonly port: number }
  /**
   * `forbidden`: the lab only connects to this machine. `unknown`: no such name. `unreachable`: not from an IPv4
   * address.
   */
  | { readonly refused: 'forbidden' | 'unknown' | 'unreachable' }

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')

/** Resolves as the proxy: `localhost` and names below it, and no other, so that no query leaves this machine. */
export function resolveTarget(host: string, port: number): Target {
  if (port < 1 || port > 65_535) return { refused: 'unreachable' }
  if (isIPv4(host)) return loopback.check(host) ? { host, port } : { refused: 'forbidden' }
  if (isIPv6(host)) {
    const mapped = mappedAddress(host)
    return mapped === undefined ? { refused: 'unreachable' } : resolveTarget(mapped, port)
  }
  return /^(?:[^.]+\.)*localhost\.?$/i.test(host) ? { host: '127.0.0.1', port } : { refused: 'unknown' }
}

/** Splits `host:port`. An IPv6 host is in brackets. */
export function splitAuthority(authority: string): { host: string; port: number } | undefined {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/@]+)):(\d{1,5})$/.exec(authority)
  const host = parts?.[1] ?? parts?.[2]
  return host === undefined ? undefined : { host, port: Number(parts?.[3]) }
}

/** Returns the IPv4 address inside an IPv6 address (RFC 4291, section 2.5.5.2), in any spelling. */
function mappedAddress(address: string): string | undefined {
  const canonical = new URL(`http://[${address}]`).hostname
  const groups = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(canonical)?.slice(1)
  return groups?.flatMap(group => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]).join('.')
}
