/** Arithmetic on blocks of IPv4 addresses, as rules of a policy write them. Pure. */
import { isIPv4, isIPv6 } from 'node:net'

export interface Block {
  /** Its first address, as a number. */
  readonly first: number
  /** Length of the prefix, 0 to 32. */
  readonly bits: number
}

/** Reads an address or a CIDR block. Bits behind the prefix do not count. */
export function parseSource(source: string): Block | { readonly problem: string } {
  const [address = '', prefix = '32', ...rest] = source.split('/')
  if (!isIPv4(address)) return { problem: whatItIs(address) }
  const bits = Number(prefix)
  if (rest.length > 0 || !/^\d{1,2}$/.test(prefix) || bits > 32) return { problem: 'has no prefix from /0 to /32' }
  const number = toNumber(address)
  return { first: number - (number % sizeOf(bits)), bits }
}

export function covers({ first, bits }: Block, address: string): boolean {
  const number = toNumber(address)
  return number >= first && number < first + sizeOf(bits)
}

/** Counts the addresses in at least one of the blocks. */
export function countAddresses(blocks: readonly Block[]): number {
  let count = 0
  let counted = 0
  for (const { first, bits } of blocks.toSorted((a, b) => a.first - b.first)) {
    const end = first + sizeOf(bits)
    count += Math.max(0, end - Math.max(first, counted))
    counted = Math.max(counted, end)
  }
  return count
}

/** Names the use of a reserved block, which never reaches the internet. Returns undefined for other blocks. */
export function reservedFor(block: Block): string | undefined {
  return Object.keys(uses).find(use =>
    uses[use]?.some(source => {
      const range = parseSource(source)
      return !('problem' in range) && isWithin(block, range)
    }),
  )
}

/** RFC 6890. */
const uses: Readonly<Record<string, readonly string[]>> = {
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  'carrier-internal': ['100.64.0.0/10'],
  loopback: ['127.0.0.0/8'],
  'link-local': ['169.254.0.0/16'],
  documentation: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
  benchmarking: ['198.18.0.0/15'],
  multicast: ['224.0.0.0/4'],
  reserved: ['0.0.0.0/8', '192.0.0.0/24', '240.0.0.0/4'],
}

function isWithin(inner: Block, outer: Block): boolean {
  return inner.first >= outer.first && inner.first + sizeOf(inner.bits) <= outer.first + sizeOf(outer.bits)
}

function sizeOf(bits: number): number {
  return 2 ** (32 - bits)
}

function toNumber(address: string): number {
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0)
}

function whatItIs(text: string): string {
  if (isIPv6(text)) return 'is an IPv6 address. IP filters accept only IPv4 addresses'
  if (/[a-z]/i.test(text)) return 'is a name. IP filters accept addresses, not DNS names'
  return 'is not an IPv4 address'
}
