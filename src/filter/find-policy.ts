import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'
import { planPolicy } from './plan-policy.js'
import type { Policy, Rule } from './policy.js'

/**
 * The policy that is meant: by id, by name, or without either the one that holds exactly `rules`. Pure.
 * Throws SluiceError FILTER_POLICY_UNKNOWN.
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
