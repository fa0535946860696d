import { staticPair } from '../egress.js'
import type { NewPolicy, Policies } from './policies.js'

/** How the static pair is registered at the cluster. */
export const registers = ['both', 'first', 'second', 'none', 'unattached', 'everyone', 'both+everyone'] as const
export type Register = (typeof registers)[number]

const [first, second] = staticPair
const pair: NewPolicy = { name: 'static pair', rules: [`${first}/32`, `${second}/32`] }
const everyone: NewPolicy = { name: 'everyone', rules: ['0.0.0.0/0'] }

const presets: Record<Register, { readonly attached: readonly NewPolicy[]; readonly created?: readonly NewPolicy[] }> =
  {
    both: { attached: [pair] },
    first: { attached: [{ name: 'first address', rules: [`${first}/32`] }] },
    second: { attached: [{ name: 'second address', rules: [`${second}/32`] }] },
    // An address of the documentation range (RFC 5737): a rule is attached, and no client matches it.
    none: { attached: [{ name: 'somebody else', rules: ['203.0.113.7/32'] }] },
    unattached: { attached: [], created: [pair] },
    everyone: { attached: [everyone] },
    'both+everyone': { attached: [pair, everyone] },
  }

/** Replaces every policy of the organisation with a preset, attached to one deployment. */
export function register(policies: Policies, which: Register, deployment: string): void {
  for (const { id } of policies.list()) policies.delete(id)
  const { attached, created = [] } = presets[which]
  for (const policy of attached) policies.attach(policies.create(policy).id, deployment)
  for (const policy of created) policies.create(policy)
}
