import { randomBytes } from 'node:crypto'
import { BlockList, isIPv4 } from 'node:net'

/** A network IP filter policy, created at organisation level. */
export interface Policy {
  readonly id: string
  readonly name: string
  /** IPv4 addresses and CIDR blocks. */
  readonly rules: readonly string[]
  /** Descriptions in the order of the rules, empty for a rule without one. */
  readonly descriptions: readonly string[]
  readonly description: string
  /** The policy can only be attached to deployments of this region. */
  readonly region: string
  /** Attaches to deployments that are created later, and to no other. */
  readonly includeByDefault: boolean
  /** Deployments of the policy. Empty for `created-unattached`. */
  readonly deployments: readonly string[]
}

export type NewPolicy = {
  readonly name: string
  readonly rules: readonly string[]
  readonly descriptions?: readonly string[]
  readonly description?: string
  /** Default: that of the lab's deployments. */
  readonly region?: string
  readonly includeByDefault?: boolean
}

/** Most sources of a policy, and most policies, at the hosting service. */
const MOST_SOURCES = 128
const MOST_POLICIES = 1024

/** The region of every deployment of the lab. */
export const labRegion = 'us-east-1'

/** A request that the administrator got wrong. `code`: `not-found` or `invalid`. */
export class PolicyError extends Error {
  readonly code: 'not-found' | 'invalid'
  constructor(code: 'not-found' | 'invalid', message: string) {
    super(message)
    this.code = code
  }
}

interface Kept {
  readonly policy: Omit<Policy, 'deployments'>
  readonly matches: BlockList
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
  create(policy: NewPolicy): Policy {
    if (this.#policies.size >= MOST_POLICIES) throw new PolicyError('invalid', `more than ${MOST_POLICIES} policies`)
    const id = randomBytes(16).toString('hex')
    this.#policies.set(id, keep(id, policy))
    return this.read(id)
  }

  /** Replaces the contents of a policy. It stays attached. */
  replace(id: string, policy: NewPolicy): Policy {
    this.#kept(id)
    this.#policies.set(id, keep(id, policy))
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

  /** Replaces the whole list of rules. The policy stays attached. */
  replaceRules(id: string, rules: readonly string[]): Policy {
    return this.replace(id, { ...this.#kept(id).policy, rules, descriptions: [] })
  }

  attach(id: string, deployment: string): Policy {
    const { region } = this.#kept(id).policy
    const attached = this.#attachedTo(deployment)
    if (region !== labRegion) {
      throw new PolicyError('invalid', `a policy of ${region} cannot be attached to a deployment of ${labRegion}`)
    }
    attached.add(id)
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

  /** Returns the ids of policies of a deployment. Undefined if the deployment does not exist. */
  attachedTo(deployment: string): readonly string[] | undefined {
    const attached = this.#attached.get(deployment)
    return attached && [...attached]
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

function keep(id: string, policy: NewPolicy): Kept {
  const { name, rules, includeByDefault = false, description = '', region = labRegion } = policy
  const descriptions = rules.map((_, at) => policy.descriptions?.[at] ?? '')
  return {
    policy: { id, name, rules: [...rules], descriptions, description, region, includeByDefault },
    matches: compile(rules),
  }
}

function compile(rules: readonly string[]): BlockList {
  if (rules.length === 0) throw new PolicyError('invalid', 'a policy needs at least one rule')
  if (rules.length > MOST_SOURCES) throw new PolicyError('invalid', `more than ${MOST_SOURCES} sources`)
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
