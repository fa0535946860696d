import type { AdminApi } from './admin-api.js'
import { type Confirm, confirmed } from './confirmed.js'
import { planPolicy } from './choose-policy.js'
import { type Policy, type Rule, sameSources } from './policy.js'
import { fail } from '../failure/fail.js'

export interface CreatedPolicy {
  readonly action: 'created' | 'reused' | 'extended'
  readonly policy: Policy
}

/**
 * Sees to it that a policy with these rules exists, attached to nothing that it was not attached to before. Repeated, it changes
 * nothing. A policy of that name with other rules keeps them: what is missing is added, once `confirm` says so.
 *
 * @throws SluiceError FILTER_UNCONFIRMED, FILTER_CHANGED_MEANWHILE, OPTION_INVALID without a region, and what the API throws
 */
export async function createPolicy(
  api: AdminApi,
  wanted: { readonly name: string; readonly region?: string | undefined; readonly rules: readonly Rule[] },
  confirm: Confirm,
): Promise<CreatedPolicy> {
  const plan = planPolicy(await api.policies(), wanted)
  switch (plan.action) {
    case 'reuse':
      return { action: 'reused', policy: plan.policy }
    case 'extend':
      return { action: 'extended', policy: await addRules(api, plan.policy, plan.missing, confirm) }
    case 'create':
      return { action: 'created', policy: await create(api, wanted) }
  }
}

async function create(
  api: AdminApi,
  { name, region, rules }: { name: string; region?: string | undefined; rules: readonly Rule[] },
): Promise<Policy> {
  if (region === undefined) {
    const problem = 'the region of the new policy is unknown: set --region or --deployment'
    throw fail('OPTION_INVALID', { option: '--region', problem })
  }
  return await api.policy(await api.create({ name, region, rules }))
}

/**
 * The API replaces all rules at once. So they are read again right before, to keep rules that others added meanwhile.
 */
async function addRules(api: AdminApi, policy: Policy, missing: readonly Rule[], confirm: Confirm): Promise<Policy> {
  await confirmed(
    {
      what: `add ${missing.map(({ source }) => source).join(' and ')} to the policy ${policy.name}`,
      difference: [...policy.rules.map(rule => `  ${lineOf(rule)}`), ...missing.map(rule => `+ ${lineOf(rule)}`)],
      consequence:
        'the policy keeps its other rules, and the change counts for every deployment that it is attached to',
    },
    confirm,
  )
  const current = await api.policy(policy.id)
  if (!isSame(policy, current)) {
    throw fail('FILTER_CHANGED_MEANWHILE', { policy: policy.name, id: policy.id })
  }
  await api.replace({ ...current, rules: [...current.rules, ...missing] })
  return await api.policy(policy.id)
}

function lineOf({ source, description }: Rule): string {
  return description === undefined ? source : `${source}  ${description}`
}

function isSame(one: Policy, other: Policy): boolean {
  const [a, b] = [one, other].map(({ rules }) => rules.map(({ source }) => source))
  return sameSources(a ?? [], b ?? [])
}
