import type { AdminApi } from './admin-api.js'
import { type Confirm, confirmed } from './confirmed.js'
import { judgeGuard } from './judge-guard.js'
import type { Policy } from './policy.js'

interface Attachment {
  readonly policy: Policy
  /** Its id. */
  readonly deployment: string
  readonly staticIps?: readonly string[] | undefined
}

export interface Attached {
  /** False: it was as it should be before. */
  readonly isChanged: boolean
  /** Policies that are attached now. */
  readonly attached: readonly Policy[]
}

/**
 * Attaches a policy to a deployment, beside the attached ones. From the first policy on, requests that match none are
 * refused. Calls `confirm` first if a static address would be refused.
 *
 * @throws SluiceError FILTER_UNCONFIRMED, and errors of the API
 */
export async function attachPolicy(api: AdminApi, wanted: Attachment, confirm: Confirm): Promise<Attached> {
  const { policy, deployment, staticIps } = wanted
  const before = await api.attachedTo(deployment)
  if (before.some(({ id }) => id === policy.id)) return { isChanged: false, attached: before }
  const refused = refusedAfter({ deployment, staticIps }, [...before, policy])
  const isNew = refusedAfter({ deployment, staticIps }, before).length < refused.length
  if (isNew) {
    await confirmed(
      {
        what: `attach the policy ${policy.name} to ${deployment}`,
        difference: [...before.map(({ name }) => `  ${name}`), `+ ${policy.name}`],
        consequence: `no policy would allow ${refused.join(' and ')}, and Elastic Cloud would refuse loads through the proxy`,
      },
      confirm,
    )
  }
  const isChanged = await api.attach(policy.id, deployment)
  return { isChanged, attached: await api.attachedTo(deployment) }
}

/**
 * Detaches a policy. Calls `confirm` first if it is the last one, which opens the deployment to the internet, or if
 * the other policies refuse a static address that it accepted.
 *
 * @throws SluiceError FILTER_UNCONFIRMED, and errors of the API
 */
export async function detachPolicy(api: AdminApi, wanted: Attachment, confirm: Confirm): Promise<Attached> {
  const { policy, deployment, staticIps } = wanted
  const before = await api.attachedTo(deployment)
  if (!before.some(({ id }) => id === policy.id)) return { isChanged: false, attached: before }
  const after = before.filter(({ id }) => id !== policy.id)
  const refused = refusedAfter({ deployment, staticIps }, after)
  const consequence = judgeGuard({ deployment, attached: after }).isOpen
    ? 'no policy would be left, and the deployment would be open to the whole internet'
    : refused.length > refusedAfter({ deployment, staticIps }, before).length
      ? `no policy would allow ${refused.join(' and ')}, and Elastic Cloud would refuse loads through the proxy`
      : undefined
  if (consequence !== undefined) {
    await confirmed(
      {
        what: `detach the policy ${policy.name} from ${deployment}`,
        difference: [...after.map(({ name }) => `  ${name}`), `- ${policy.name}`],
        consequence,
      },
      confirm,
    )
  }
  const isChanged = await api.detach(policy.id, deployment)
  return { isChanged, attached: await api.attachedTo(deployment) }
}

/** The static addresses that would be refused. */
function refusedAfter(where: Omit<Attachment, 'policy'>, attached: readonly Policy[]): string[] {
  const { isOpen, staticIps } = judgeGuard({ ...where, attached })
  return isOpen ? [] : staticIps.filter(({ policies }) => policies.length === 0).map(({ address }) => address)
}
