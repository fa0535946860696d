/** Judges what is attached to a deployment, before anything is tried. Pure. */
import { type Evidence, explain, failure, type Failure, type FailureCode } from '../../base/failure/failure.js'
import { coversAddress, isGuard, isPermissive, type Policy } from './policy.js'

export interface Guarded {
  readonly deployment: string
  readonly attached: readonly Policy[]
  /** The dashboard's pair. */
  readonly staticIps?: readonly string[] | undefined
  /** The address of this machine's own requests, without the proxy. */
  readonly ownAddress?: string | undefined
}

export interface Guard {
  /** No policy judges requests, so everybody may connect. */
  readonly isOpen: boolean
  /** Each static address, and the attached policies that accept it, by name. */
  readonly staticIps: readonly { readonly address: string; readonly policies: readonly string[] }[]
  readonly refused: readonly string[]
  /** Whether requests will be accepted. Undefined: unknown. */
  readonly expected: { readonly through: boolean | undefined; readonly direct: boolean }
  readonly findings: readonly FilterFinding[]
}

export function judgeGuard({ deployment, attached, staticIps = [], ownAddress }: Guarded): Guard {
  const guards = attached.filter(isGuard)
  const isOpen = guards.length === 0
  const namesOf = (address: string) => guards.filter(one => coversAddress(one, address)).map(({ name }) => name)
  const addresses = staticIps.map(address => ({ address, policies: namesOf(address) }))
  const missing = addresses.filter(({ policies }) => policies.length === 0).map(({ address }) => address)
  const refused = isOpen ? [] : missing
  const permissive = guards.filter(isPermissive)
  const ownGuards =
    ownAddress === undefined || staticIps.includes(ownAddress)
      ? []
      : guards.filter(one => !isPermissive(one) && coversAddress(one, ownAddress))

  return {
    isOpen,
    staticIps: addresses,
    refused,
    expected: {
      through: isOpen || (staticIps.length === 0 ? undefined : missing.length === 0),
      direct: isOpen || (ownAddress === undefined ? permissive.length > 0 : namesOf(ownAddress).length > 0),
    },
    findings: [
      ...(isOpen ? [filterFinding(failure('FILTER_NOT_ATTACHED', { deployment }), 'error')] : []),
      ...(refused.length > 0
        ? [filterFinding(failure('FILTER_MISSES_ADDRESS', { deployment, addresses: refused }), 'error')]
        : []),
      ...permissive.map(policy => filterFinding(tooPermissive(deployment, policy, guards), 'error')),
      ...ownGuards.map(({ id, name }) => {
        const address = ownAddress ?? ''
        const observed = `the attached policy ${name} allows ${address}`
        const evidence = { cluster: deployment, observed, policy: name, id, address }
        return filterFinding(failure('FILTER_COVERS_CLIENT', evidence), 'warning')
      }),
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
        ? 'and no other policy is attached'
        : `so the other attached policies (${others.join(', ')}) have no effect`,
  })
}

/** Something about how a deployment is guarded that a person should change (`error`), or know (`warning`). */
export interface FilterFinding {
  readonly code: FailureCode
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly evidence: Evidence
  readonly advice: readonly string[]
}

export function filterFinding(
  { code, message, evidence }: Failure,
  severity: FilterFinding['severity'],
): FilterFinding {
  return { code, severity, message, evidence, advice: explain(code).fixes }
}
