/** Creates, extends, attaches and detaches policies. Asks a person before a change that may surprise. */
import { fail } from '../failure/failure.js'
import type { AdminApi } from './admin-api.js'
import { planPolicy, type WantedPolicy } from './choose-policy.js'
import { judgeGuard } from './judge-guard.js'
import { type Policy, type Rule, sameSources } from './policy.js'

export interface Change {
  /** The change, as a sentence without its end: `add 2 rules to the policy static pair`. */
  readonly what: string
  /** Lines that begin with `+`, `-` or a blank. */
  readonly difference: readonly string[]
  readonly consequence: string
}

/** True: do it. False, or undefined because nobody can answer: do not. */
export type Confirm = (change: Change) => Promise<boolean | undefined>

async function confirmed(change: Change, confirm: Confirm): Promise<void> {
  if ((await confirm(change)) !== true) throw fail('FILTER_UNCONFIRMED', { ...change })
}

/**
 * Makes sure that a policy with these rules exists, and attaches it to nothing. Repeated, it changes nothing. A policy
 * of that name with other rules keeps them: Sluice adds the missing ones after `confirm`.
 *
 * @throws SluiceError FILTER_UNCONFIRMED, FILTER_CHANGED_MEANWHILE, OPTION_INVALID without a region, and errors of the API
 */
export async function createPolicy(
  api: AdminApi,
  wanted: WantedPolicy,
  confirm: Confirm,
): Promise<{ readonly action: 'created' | 'reused' | 'extended'; readonly policy: Policy }> {
  const plan = planPolicy(await api.policies(), wanted)
  if (plan.action === 'reuse') return { action: 'reused', policy: plan.policy }
  if (plan.action === 'extend') {
    return { action: 'extended', policy: await addRules(api, plan.policy, plan.missing, confirm) }
  }
  const { region } = wanted
  if (region === undefined) {
    const problem = 'the region of the new policy is unknown. Set --region or --deployment'
    throw fail('OPTION_INVALID', { option: '--region', problem })
  }
  return { action: 'created', policy: await api.policy(await api.create({ ...wanted, region })) }
}

/** The API replaces all rules at once. So Sluice reads them again first, to keep rules that others added meanwhile. */
async function addRules(api: AdminApi, policy: Policy, missing: readonly Rule[], confirm: Confirm): Promise<Policy> {
  await confirmed(
    {
      what: `add ${missing.map(({ source }) => source).join(' and ')} to the policy ${policy.name}`,
      difference: [...policy.rules.map(rule => `  ${lineOf(rule)}`), ...missing.map(rule => `+ ${lineOf(rule)}`)],
      consequence:
        'the policy keeps its other rules, and the change applies to every deployment that it is attached to',
    },
    confirm,
  )
  const current = await api.policy(policy.id)
  if (!sameSources(policy.rules, current.rules)) {
    throw fail('FILTER_CHANGED_MEANWHILE', { policy: policy.name, id: policy.id })
  }
  await api.replace({ ...current, rules: [...current.rules, ...missing] })
  return await api.policy(policy.id)
}

function lineOf({ source, description }: Rule): string {
  return description === undefined ? source : `${source}  ${description}`
}

interface Attachment {
  readonly policy: Policy
  /** Its id. */
  readonly deployment: string
  readonly staticIps?: readonly string[] | undefined
}

/**
 * Attaches a policy to a deployment, beside the attached ones, or detaches it. From the first policy on, Elastic Cloud
 * refuses requests that match none. Calls `confirm` first if it would refuse a static address, or if no policy is left,
 * which opens the deployment to the internet. Returns all attached policies, and whether something changed.
 *
 * @throws SluiceError FILTER_UNCONFIRMED, and errors of the API
 */
export async function changeAttachment(
  api: AdminApi,
  act: 'attach' | 'detach',
  { policy, deployment, staticIps }: Attachment,
  confirm: Confirm,
): Promise<{ readonly isChanged: boolean; readonly attached: readonly Policy[] }> {
  const before = await api.attachedTo(deployment)
  const others = before.filter(({ id }) => id !== policy.id)
  const isAttached = others.length < before.length
  if (isAttached === (act === 'attach')) return { isChanged: false, attached: before }
  const guard = (attached: readonly Policy[]) => judgeGuard({ deployment, staticIps, attached })
  const { isOpen, refused } = guard(act === 'attach' ? [...others, policy] : others)
  const consequence =
    act === 'detach' && isOpen
      ? 'no policy would be left, and the deployment would be open to the whole internet'
      : refused.length > guard(before).refused.length
        ? `no policy would allow ${refused.join(' and ')}, and Elastic Cloud would refuse loads through the proxy`
        : undefined
  if (consequence !== undefined) {
    const [step, sign] = act === 'attach' ? ['to', '+'] : ['from', '-']
    const what = `${act} the policy ${policy.name} ${step} ${deployment}`
    const difference = [...others.map(({ name }) => `  ${name}`), `${sign} ${policy.name}`]
    await confirmed({ what, difference, consequence }, confirm)
  }
  const isChanged = await api[act](policy.id, deployment)
  return { isChanged, attached: await api.attachedTo(deployment) }
}
