import { randomBytes } from 'node:crypto'
import { BlockList, isIPv4 } from 'node:net'

/** A network IP filter policy, created at organisation level. */
export interface Policy {
  readonly id: string
  readonly name: string
  /** IPv4 addresses and CIDR blocks. */
  readonly rules: readonly string[]
  /** Attaches to deployments that are created later, and to no other. */
  readonly includeByDefault: boolean
  /** The deployments that it is attached to; empty for `created-unattached`. */
  readonly deployments: readonly string[]
}

export type NewPolicy = {
  readonly name: string
  readonly rules: readonly string[]
  readonly includeByDefault?: boolean
}

/** A request that the administrator got wrong. `code`: `not-found` or `invalid`. */
export class PolicyError extends Error {
  readonly code: 'not-found' | 'invalid'
  constructor(code: 'not-found' | 'invalid', message: string) {
    super(message)
    this.code = code
  }
}

interface Kept {
  policy: Omit<Policy, 'deployments'>
  matches: BlockList
}

/** The organisation's policies, its deployments, and which is attached to which. */
export class Policies {
  #policies = new Map<string, Kept>()
  #attached = new Map<string, Set<string>>()

  /** A new deployment, with the default policies attached. */
  addDeployment(deployment: string): void {
    const defaults = [...this.#policies.values()].filter(({ policy }) => policy.includeByDefault)
    this.#attached.set(deployment, new Set(defaults.map(({ policy }) => policy.id)))
  }

  /** Creates a policy, attached to nothing. Throws PolicyError for a rule that is neither an address nor a CIDR block. */
  create({ name, rules, includeByDefault = false }: NewPolicy): Policy {
    const id = randomBytes(16).toString('hex')
    this.#policies.set(id, { policy: { id, name, rules: [...rules], includeByDefault }, matches: compile(rules) })
    return this.read(id)
  }

  read(id: string): Policy {
    const { policy } = this.#kept(id)
    const deployments = [...this.#attached].filter(([, attached]) => attached.has(id)).map(([deployment]) => deployment)
    return { ...policy, deployments }
  }

  list(): Policy[] {
    return [...this.#policies.keys()].map(id => this.read(id))
  }

  /** Replaces the whole list of rules; what is attached stays attached. */
  replaceRules(id: string, rules: readonly string[]): Policy {
    const kept = this.#kept(id)
    kept.matches = compile(rules)
    kept.policy = { ...kept.policy, rules: [...rules] }
    return this.read(id)
  }

  attach(id: string, deployment: string): Policy {
    this.#kept(id)
    this.#attachedTo(deployment).add(id)
    return this.read(id)
  }

  detach(id: string, deployment: string): Policy {
    this.#kept(id)
    this.#attachedTo(deployment).delete(id)
    return this.read(id)
  }

  /** Detaches it everywhere, and forgets it. */
  delete(id: string): void {
    this.#kept(id)
    this.#policies.delete(id)
    for (const attached of this.#attached.values()) attached.delete(id)
  }

  /** Whether a request from this address may pass: yes while nothing is attached, else when any attached policy matches. */
  allows(deployment: string, address: string): boolean {
    const attached = this.#attachedTo(deployment)
    if (attached.size === 0) return true
    for (const id of attached) if (this.#kept(id).matches.check(address)) return true
    return false
  }

  #kept(id: string): Kept {
    const kept = this.#policies.get(id)
    if (!kept) throw new PolicyError('not-found', `no such policy: ${id}`)
    return kept
  }

  #attachedTo(deployment: string): Set<string> {
    const attached = this.#attached.get(deployment)
    if (!attached) throw new PolicyError('not-found', `no such deployment: ${deployment}`)
    return attached
  }
}

function compile(rules: readonly string[]): BlockList {
  if (rules.length === 0) throw new PolicyError('invalid', 'a policy needs at least one rule')
  const list = new BlockList()
  for (const rule of rules) {
    const [address = '', prefix, ...rest] = rule.split('/')
    const bits = prefix === undefined ? 32 : Number(prefix)
    const isRule = isIPv4(address) && rest.length === 0 && /^\d{1,2}$/.test(prefix ?? '32') && bits <= 32
    if (!isRule) {
      throw new PolicyError(
        'invalid',
        `${rule} is neither an IPv4 address nor a CIDR block; DNS names are not supported`,
      )
    }
    list.addSubnet(address, bits, 'ipv4')
  }
  return list
}
