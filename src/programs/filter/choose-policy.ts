/** Chooses the policy that a command means. Pure. */
import { fail, SluiceError } from '../../base/failure/failure.js'
import { coversAddress, type Policy, type Rule, sameSources } from './policy.js'

export interface WantedPolicy {
  readonly name: string
  /** Undefined if any region will do. */
  readonly region?: string | undefined
  readonly rules: readonly Rule[]
  /** Attach it to what is created later in its region. */
  readonly includeByDefault?: boolean
}

/**
 * Returns the policy with this id or name. Without either, returns the one with exactly `rules`.
 * @throws SluiceError FILTER_POLICY_UNKNOWN
 */
export function findPolicy(
  policies: readonly Policy[],
  {
    policy: wanted,
    region,
    rules,
  }: Omit<WantedPolicy, 'name' | 'includeByDefault'> & { readonly policy?: string | undefined },
): Policy {
  if (wanted === undefined) {
    if (rules.length === 0) throw unknown('pass its name with --policy', policies)
    const plan = planPolicy(policies, { name: '', region, rules })
    if (plan.action === 'reuse') return plan.policy
    throw unknown(
      'no policy holds exactly the two static addresses, so pass the name of a policy with --policy',
      policies,
    )
  }
  const byId = policies.find(({ id }) => id === wanted)
  if (byId !== undefined) return byId
  const named = policies.filter(({ name }) => name === wanted)
  const inRegion = named.length > 1 && region !== undefined ? named.filter(one => one.region === region) : named
  const [found, ...more] = inRegion
  if (found === undefined) throw unknown(`none has the id or name '${wanted}'`, policies)
  if (more.length > 0) throw unknown(`${inRegion.length} policies have the name '${wanted}', so pass the id`, inRegion)
  return found
}

function unknown(problem: string, policies: readonly Policy[]): SluiceError {
  const known = policies.slice(0, 10).map(({ id, name }) => `${name} (${id})`)
  return fail('FILTER_POLICY_UNKNOWN', { problem, known: known.length === 0 ? 'none' : known })
}

type PolicyPlan =
  | { readonly action: 'reuse'; readonly policy: Policy }
  /** A policy of that name lacks these rules. Its other rules would stay. */
  | { readonly action: 'extend'; readonly policy: Policy; readonly missing: readonly Rule[] }
  | { readonly action: 'create' }

/** Reuses a policy with the same rules, preferably the one with the name. Extends one with the name and other rules. */
export function planPolicy(policies: readonly Policy[], { name, region, rules }: WantedPolicy): PolicyPlan {
  const usable = policies.filter(policy => policy.type === 'ip' && (region === undefined || policy.region === region))
  const equal = usable.filter(policy => sameSources(policy.rules, rules))
  const policy = equal.find(one => one.name === name) ?? equal[0]
  if (policy !== undefined) return { action: 'reuse', policy }
  const named = usable.find(one => one.name === name)
  if (named === undefined) return { action: 'create' }
  const missing = rules.filter(({ source }) => !coversAddress(named, source.replace(/\/32$/, '')))
  return missing.length === 0 ? { action: 'reuse', policy: named } : { action: 'extend', policy: named, missing }
}
