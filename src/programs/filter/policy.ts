/** A policy of the hosting service's IP filter, and what its rules say. Pure. */
import { type Block, countAddresses, covers, parseSource, reservedFor } from './cidr.js'
import { invalid } from '../../options/option-checks.js'

export interface Rule {
  /** The service's own number of the rule. It is sent back with the rule. */
  readonly id?: string
  /** An address or a CIDR block. For a private link, its endpoint. */
  readonly source: string
  readonly description?: string
}

export interface Policy {
  readonly id: string
  readonly name: string
  /** In the service's spelling. A policy can only be attached to deployments of its region. */
  readonly region: string
  /** `ip`, a kind of private link, or another. */
  readonly type: string
  readonly description?: string
  /** Attaches to deployments that are created later. */
  readonly includeByDefault: boolean
  readonly rules: readonly Rule[]
}

/** Returns whether the policy judges incoming requests. Others concern outgoing ones, or those between clusters. */
export function isGuard({ type }: Policy): boolean {
  return ['ip', 'vpce', 'azure_private_endpoint', 'gcp_private_service_connect_endpoint'].includes(type)
}

export function coversAddress(policy: Policy, address: string): boolean {
  return blocksOf(policy).some(block => covers(block, address))
}

/** The addresses of a /8: more than any one organisation has. */
const MANY = 2 ** 24

/** Returns whether the policy accepts so much of the internet that it guards nothing. */
export function isPermissive(policy: Policy): boolean {
  return countAddresses(blocksOf(policy).filter(block => reservedFor(block) === undefined)) >= MANY
}

/** Returns whether two sets of rules accept the same sources, whatever their order and notation. */
export function sameSources(one: readonly Rule[], other: readonly Rule[]): boolean {
  const [a, b] = [new Set(one.map(notation)), new Set(other.map(notation))]
  return a.size === b.size && [...a].every(source => b.has(source))
}

function notation({ source }: Rule): string {
  const block = parseSource(source)
  return 'problem' in block ? source : `${block.first}/${block.bits}`
}

function blocksOf({ type, rules }: Policy): Block[] {
  if (type !== 'ip') return []
  return rules.flatMap(({ source }) => {
    const block = parseSource(source)
    return 'problem' in block ? [] : [block]
  })
}

/**
 * Makes one /32 rule for each static address, and warns about addresses that look wrong. `origin`: the source of the
 * addresses, for messages. `isLocal`: the service runs on this machine, so loopback addresses are right.
 * @throws SluiceError OPTION_INVALID for DNS names, IPv6 addresses, blocks, and equal addresses
 */
export function staticRules(
  addresses: readonly string[],
  { origin, isLocal = false }: { readonly origin: string; readonly isLocal?: boolean },
): { readonly rules: readonly Rule[]; readonly warnings: readonly string[] } {
  if (new Set(addresses).size !== 2)
    throw invalid(origin, 'does not contain the two addresses in the dashboard of your proxy')
  const warnings: string[] = []
  const rules = addresses.map((address, at) => {
    const block = parseSource(address)
    if ('problem' in block) throw invalid(origin, `'${address}' ${block.problem}`)
    if (address.includes('/')) throw invalid(origin, `'${address}' is an address range. Pass two single addresses`)
    const use = reservedFor(block)
    if (use !== undefined && !(use === 'loopback' && isLocal)) {
      warnings.push(
        `${address} is a ${use} address, which does not exist on the internet. Copy the pair from the dashboard of your proxy`,
      )
    }
    return { source: `${address}/32`, description: `static address ${at + 1} of 2` }
  })
  return { rules, warnings }
}
