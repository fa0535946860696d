import { isIPv6 } from 'node:net'

/** Host without brackets, and port. */
interface Address {
  readonly host: string
  readonly port: number
}

/** Returns whether two URLs lead to one port, as far as it shows without resolving names. */
export function isSameAddress(one: Address, other: Address): boolean {
  return one.port === other.port && canonical(one.host) === canonical(other.host)
}

/** Drops case, the dot of the root, and the many spellings of an IP address. */
function canonical(host: string): string {
  const name = host.replace(/\.$/, '')
  const url = `http://${isIPv6(name) ? `[${name}]` : name}`
  return URL.canParse(url) ? new URL(url).hostname : name.toLowerCase()
}
