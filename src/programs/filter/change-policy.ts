/** Creates, extends, attaches and detaches policies. Asks a person before a change that may surprise. */
import { fail } from '../../base/failure/failure.js'
import type { AdminApi } from './admin-api.js'
import { planPolicy, type WantedPolicy } from './choose-policy.js'
import { judgeGuard } from './judge-guard.js'
import { type Policy, type Rule, sameSources } from './policy.js'

export interface PolicyChange {
  /** The change, as a sentence without its end: `add 2 rules to the policy static pair`. */
  readonly what: string
  /** Lines that begin with `+`, `-` or a blank. */
  readonly difference: readonly string[]
  readonly consequence: string
}

/** Resolves to true if the change may be made. Undefined: there is no terminal to ask on. */
export type Confirm = (change: PolicyChange) => Promise<boolean | undefined>

async function confirmed(change: PolicyChange, confirm: Confirm): Promise<void> {
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
  const { includeByDefault = false } = wanted
  if (plan.action === 'reuse') {
    const { policy } = plan
    if (!includeByDefault || policy.includeByDefault) return { action: 'reused', policy }
    await confirmDefault(api, policy, confirm)
    await api.replace({ ...(await unchanged(api, policy)), includeByDefault })
    return { action: 'extended', policy: await api.policy(policy.id) }
  }
  if (plan.action === 'extend') {
    if (includeByDefault && !plan.policy.includeByDefault) await confirmDefault(api, plan.policy, confirm)
    return { action: 'extended', policy: await addRules(api, plan, includeByDefault, confirm) }
  }
  const { region } = wanted
  if (region === undefined) {
    const problem = `the region of the new policy is unknown. Set --region or --${api.noun}`
    throw fail('OPTION_INVALID', { option: '--region', problem })
  }
  if (includeByDefault) await confirmDefault(api, { ...wanted, region }, confirm)
  return { action: 'created', policy: await api.policy(await api.create({ ...wanted, region, includeByDefault })) }
}

/** A default policy also guards what other people create. */
async function confirmDefault(
  { noun }: AdminApi,
  { name, region }: Pick<Policy, 'name' | 'region'>,
  confirm: Confirm,
): Promise<void> {
  const what = `make ${name} the default for new ${noun}s in ${region}`
  const consequence = `every ${noun} that anybody in the organisation creates there later refuses all other addresses`
  await confirmed({ what, difference: [`+ attached to each new ${noun}`], consequence }, confirm)
}

/** Reads a policy again, and checks that its rules are still the same. */
async function unchanged(api: AdminApi, { id, name, rules }: Policy): Promise<Policy> {
  const current = await api.policy(id)
  if (sameSources(rules, current.rules)) return current
  throw fail('FILTER_CHANGED_MEANWHILE', { policy: name, id })
}

/** The API replaces all rules at once. So Sluice reads them again first, to keep rules that others added meanwhile. */
async function addRules(
  api: AdminApi,
  { policy, missing }: { readonly policy: Policy; readonly missing: readonly Rule[] },
  isDefault: boolean,
  confirm: Confirm,
): Promise<Policy> {
  await confirmed(
    {
      what: `add ${missing.map(({ source }) => source).join(' and ')} to the policy ${policy.name}`,
      difference: [...policy.rules.map(rule => `  ${lineOf(rule)}`), ...missing.map(rule => `+ ${lineOf(rule)}`)],
      consequence: `the policy keeps its other rules, and the change applies to every ${api.noun} that it is attached to`,
    },
    confirm,
  )
  const current = await unchanged(api, policy)
  const includeByDefault = current.includeByDefault || isDefault
  await api.replace({ ...current, includeByDefault, rules: [...current.rules, ...missing] })
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
 * Attaches a policy to a deployment or project, beside the attached ones, or detaches it. From the first policy on, Elastic Cloud
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
      ? `no policy would be left, and the ${api.noun} would be open to the whole internet`
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
