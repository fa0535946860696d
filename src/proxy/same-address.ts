import { isIPv6 } from 'node:net'

/** Host without brackets, and port. */
interface Address {
  readonly host: string
  readonly port: number
}

/** Whether two URLs lead to one port, as far as that can be told without resolving a name. */
export function isSameAddress(one: Address, other: Address): boolean {
  return one.port === other.port && canonical(one.host) === canonical(other.host)
}

/** Without case, the dot of the root, and the many ways to write one IP address. */
function canonical(host: string): string {
  const name = host.replace(/\.$/, '')
  const url = `http://${isIPv6(name) ? `[${name}]` : name}`
  return URL.canParse(url) ? new URL(url).hostname : name.toLowerCase()
}
