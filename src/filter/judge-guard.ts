/** Judges what is attached to a deployment, before anything is tried. Pure. */
import { failure } from '../failure/failure.js'
import { type FilterFinding, finding } from './finding.js'
import { type Policy, coversAddress, isGuard, isPermissive } from './policy.js'

export interface Guarded {
  /** The deployment's id. */
  readonly deployment: string
  readonly attached: readonly Policy[]
  /** The dashboard's pair. */
  readonly staticIps?: readonly string[] | undefined
  /** Where this machine's own requests come from, without the proxy. */
  readonly ownAddress?: string | undefined
}

export interface Guard {
  /** Nothing that judges requests is attached: everybody may connect. */
  readonly isOpen: boolean
  /** Each static address, and the attached policies that let it in, by name. */
  readonly staticIps: readonly { readonly address: string; readonly policies: readonly string[] }[]
  /** What is to be expected of requests: undefined where nobody can say. */
  readonly expected: { readonly through: boolean | undefined; readonly direct: boolean }
  readonly findings: readonly FilterFinding[]
}

export function judgeGuard({ deployment, attached, staticIps = [], ownAddress }: Guarded): Guard {
  const guards = attached.filter(isGuard)
  const isOpen = guards.length === 0
  const namesOf = (address: string) => guards.filter(one => coversAddress(one, address)).map(({ name }) => name)
  const addresses = staticIps.map(address => ({ address, policies: namesOf(address) }))
  const missing = addresses.filter(({ policies }) => policies.length === 0).map(({ address }) => address)
  const permissive = guards.filter(isPermissive)
  const ownGuards =
    ownAddress === undefined || staticIps.includes(ownAddress)
      ? []
      : guards.filter(one => !isPermissive(one) && coversAddress(one, ownAddress))

  return {
    isOpen,
    staticIps: addresses,
    expected: {
      through: isOpen || (staticIps.length === 0 ? undefined : missing.length === 0),
      direct: isOpen || (ownAddress === undefined ? permissive.length > 0 : namesOf(ownAddress).length > 0),
    },
    findings: [
      ...(isOpen ? [finding(failure('FILTER_NOT_ATTACHED', { deployment }), 'error')] : []),
      ...(!isOpen && missing.length > 0
        ? [finding(failure('FILTER_MISSES_ADDRESS', { deployment, addresses: missing }), 'error')]
        : []),
      ...permissive.map(policy => finding(tooPermissive(deployment, policy, guards), 'error')),
      ...ownGuards.map(({ id, name }) =>
        finding(
          failure('FILTER_COVERS_CLIENT', {
            cluster: deployment,
            observed: `the attached policy ${name} allows ${ownAddress ?? ''}`,
            policy: name,
            id,
            address: ownAddress ?? '',
          }),
          'warning',
        ),
      ),
    ],
  }
}

function tooPermissive(deployment: string, { id, name, rules }: Policy, guards: readonly Policy[]) {
  const others = guards.filter(one => one.id !== id).map(one => one.name)
  return failure('FILTER_TOO_PERMISSIVE', {
    deployment,
    policy: name,
    id,
    sources: rules.map(({ source }) => source).slice(0, 5),
    beside:
      others.length === 0
        ? 'no other policy is attached'
        : `the other attached policies (${others.join(', ')}) have no effect`,
  })
}
