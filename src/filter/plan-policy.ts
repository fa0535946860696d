import { type Policy, type Rule, coversAddress, sameSources } from './policy.js'

/** What has to be done so that a policy with the two rules exists. */
export type PolicyPlan =
  | { readonly action: 'reuse'; readonly policy: Policy }
  /** One of that name holds other rules: these are missing, the others would stay. */
  | { readonly action: 'extend'; readonly policy: Policy; readonly missing: readonly Rule[] }
  | { readonly action: 'create' }

/**
 * A policy of the same rules is taken, whatever its name; among several the one of that name. One of the same name with other
 * rules is added to. Pure. `region` undefined: any.
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
