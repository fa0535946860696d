/** A policy of the hosting service's IP filter, and what its rules say. Pure. */
import { type Block, countAddresses, covers, parseSource, reservedFor } from './cidr.js'

export interface Rule {
  /** The service's own number of the rule; goes back with it when rules are written. */
  readonly id?: string
  /** An address or a CIDR block; of a private link its endpoint. */
  readonly source: string
  readonly description?: string
}

export interface Policy {
  readonly id: string
  readonly name: string
  /** As the service writes it. A policy can be attached to deployments of its region alone. */
  readonly region: string
  /** `ip`, a kind of private link, or another. */
  readonly type: string
  readonly description?: string
  /** Attaches to deployments that are created later. */
  readonly includeByDefault: boolean
  readonly rules: readonly Rule[]
}

/**
 * Whether it judges requests that come in. Once one that does is attached, whatever matches none of them is refused. Others
 * are about connections between clusters, or going out.
 */
export function isGuard({ type }: Policy): boolean {
  return ['ip', 'vpce', 'azure_private_endpoint', 'gcp_private_service_connect_endpoint'].includes(type)
}

export function coversAddress(policy: Policy, address: string): boolean {
  return blocksOf(policy).some(block => covers(block, address))
}

/** As many addresses of the internet as one organisation hardly has: those of a /8. */
const MANY = 2 ** 24

/** Whether it lets in so much of the internet that it guards nothing. */
export function isPermissive(policy: Policy): boolean {
  return countAddresses(blocksOf(policy).filter(block => reservedFor(block) === undefined)) >= MANY
}

/** Whether two sets of sources let in the same, whatever their order and notation. */
export function sameSources(one: readonly string[], other: readonly string[]): boolean {
  const [a, b] = [new Set(one.map(notation)), new Set(other.map(notation))]
  return a.size === b.size && [...a].every(source => b.has(source))
}

function notation(source: string): string {
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
