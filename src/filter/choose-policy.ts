import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'
import { coversAddress, type Policy, type Rule, sameSources } from './policy.js'

/**
 * Returns the policy with this id or name. Without either, returns the one with exactly `rules`. Pure. Throws
 * SluiceError FILTER_POLICY_UNKNOWN.
 */
export function findPolicy(
  policies: readonly Policy[],
  wanted: {
    readonly policy?: string | undefined
    readonly region?: string | undefined
    readonly rules: readonly Rule[]
  },
): Policy {
  const { policy: said, region, rules } = wanted
  if (said === undefined) {
    if (rules.length === 0) throw unknown('pass its name with --policy', policies)
    const plan = planPolicy(policies, { name: '', region, rules })
    if (plan.action === 'reuse') return plan.policy
    throw unknown('no policy holds exactly the two static addresses, so pass its name with --policy', policies)
  }
  const byId = policies.find(({ id }) => id === said)
  if (byId !== undefined) return byId
  const named = policies.filter(({ name }) => name === said)
  const inRegion = named.length > 1 && region !== undefined ? named.filter(one => one.region === region) : named
  const [found, ...more] = inRegion
  if (found === undefined) throw unknown(`none has the id or name '${said}'`, policies)
  if (more.length > 0) throw unknown(`${inRegion.length} policies have the name '${said}', so pass the id`, inRegion)
  return found
}

function unknown(problem: string, policies: readonly Policy[]): SluiceError {
  const known = policies.slice(0, 10).map(({ id, name }) => `${name} (${id})`)
  return fail('FILTER_POLICY_UNKNOWN', { problem, known: known.length === 0 ? 'none' : known })
}

/** The step that leads to a policy with the two rules. */
export type PolicyPlan =
  | { readonly action: 'reuse'; readonly policy: Policy }
  /** A policy of that name lacks these rules. Its other rules would stay. */
  | { readonly action: 'extend'; readonly policy: Policy; readonly missing: readonly Rule[] }
  | { readonly action: 'create' }

/**
 * Takes a policy with the same rules, whatever its name, and prefers the one with the name. Extends a policy with the
 * same name and other rules. Pure. `region` undefined: any.
 */
export function planPolicy(
  policies: readonly Policy[],
  wanted: { readonly name: string; readonly region?: string | undefined; readonly rules: readonly Rule[] },
): PolicyPlan {
  const { name, region, rules } = wanted
  const usable = policies.filter(policy => policy.type === 'ip' && (region === undefined || policy.region === region))
  const sources = rules.map(({ source }) => source)
  const equal = usable.filter(policy =>
    sameSources(
      policy.rules.map(({ source }) => source),
      sources,
    ),
  )
  const policy = equal.find(one => one.name === name) ?? equal[0]
  if (policy !== undefined) return { action: 'reuse', policy }
  const named = usable.find(one => one.name === name)
  if (named === undefined) return { action: 'create' }
  const missing = rules.filter(({ source }) => !coversAddress(named, source.replace(/\/32$/, '')))
  return missing.length === 0 ? { action: 'reuse', policy: named } : { action: 'extend', policy: named, missing }
}
