/** Names the first thing to do, and the rules for the cluster's IP filter, with what the probes saw. Pure. */
import { explain, fixesFor } from '../../base/failure/failure.js'
import type { Facts } from '../../route/examine/facts.js'
import type { Finding, PolicyNeeded } from './report.js'

const BOTH = 'both static addresses in the dashboard of your proxy'
const withProxy = 'Set STATIC_PROXY_URL, so that connections leave from the static addresses.'
const withoutDirect =
  'Remove --direct, so that connections go through the proxy. Or allow the address of this machine too.'

type Step = (finding: Finding, facts: Facts, rules: string) => string | undefined

/** The step for findings whose own fixes would say less. */
const steps: Partial<Record<Finding['code'], Step>> = {
  EGRESS_NOT_ALLOWED: (_, facts, rules) =>
    facts.proxy === undefined
      ? withoutProxy(facts)
      : `Add ${rules} to one IP filter policy, attach it to ${deploymentOf(facts)}, and run \`sluice doctor\` again.`,
  EGRESS_PARTLY_ALLOWED: ({ evidence }, facts, rules) =>
    `Add ${missing(evidence['addresses'], rules, asRule)} to the policy that is attached to ${deploymentOf(facts)}, and run \`sluice doctor\` again.`,
  FILTER_NOT_ENFORCED: (_, facts, rules) =>
    `Attach a policy with ${rules} to ${deploymentOf(facts)}. Detach or narrow every other policy that allows this machine, unless you allow it on purpose.`,
  CLUSTER_PRIVILEGE_MISSING: finding => {
    const { missing: privileges, index } = finding.evidence
    if (typeof privileges !== 'object') return ownFix(finding)
    return `Grant ${privileges.join(' and ')} on ${String(index)} to the API key or role.`
  },
  SERVICENOW_ADDRESS_REFUSED: (_, facts) =>
    facts.instance?.proxy === undefined
      ? withoutProxy(facts)
      : `Ask an administrator of ${facts.instance.url} to allow ${pair(facts)}, in IP Address Access Control or in the access policy of the Table API. Then run \`sluice doctor\` again.`,
  SERVICENOW_TOKEN_REFUSED: ({ evidence }, facts) => tokenFix(evidence['grant'], facts),
  SERVICENOW_PARTLY_ALLOWED: ({ evidence }, facts) =>
    `Ask an administrator of ${facts.instance?.url ?? 'the instance'} to allow ${missing(evidence['addresses'], pair(facts))} like the other address, and run \`sluice doctor\` again.`,
  // The first is to ask the doctor.
  CLUSTER_TIMEOUT: ({ code }) => explain(code).fixes[1],
  PROXY_CERT_INVALID: certificateFix,
  CLUSTER_CERT_INVALID: certificateFix,
  SERVICENOW_CERT_INVALID: certificateFix,
}

/** The step for an optional check that failed, whatever its code. */
const ofAsked: ReadonlyMap<unknown, string> = new Map([
  ['address check', 'Correct IP_CHECK_URL (--ip-check-url), or unset it. A load needs no address check.'],
  [
    'one node',
    'Compare this URL of --nodes with the dashboard of your proxy. If the node is down, contact the support of your proxy.',
  ],
])

export function nextStep([first]: readonly Finding[], facts: Facts): string | undefined {
  if (first === undefined || first.severity === 'info') return undefined
  const asked = ofAsked.get(first.evidence['asked'])
  if (asked !== undefined) return asked
  const rules = policyNeeded(facts)?.rules.join(' and ') ?? `${BOTH}, each as /32`
  return (steps[first.code] ?? ownFix)(first, facts, rules)
}

function ownFix({ code, message }: Finding): string | undefined {
  return fixesFor(code, message)[0]
}

function withoutProxy({ isDirect }: Facts): string {
  return isDirect === true ? withoutDirect : withProxy
}

function deploymentOf({ cluster }: Facts): string {
  return `the deployment of ${cluster}`
}

/** The fixes of both stand in the order of the problems: by whom, for whom, and when. */
function certificateFix({ code, evidence, message }: Finding): string | undefined {
  const { fixes } = explain(code)
  // A fix of their own, which stands last.
  if (['incomplete', 'authority expired', 'intercepted'].includes(String(evidence['certificate'])))
    return fixesFor(code, message).at(-1)
  const [authority, name, time] = code !== 'PROXY_CERT_INVALID' ? fixes : [fixes[1], fixes[0], fixes[2]]
  const { certificate } = evidence
  if (certificate === 'name' || certificate === 'proxy') return name
  return certificate === 'expired' || certificate === 'early' ? time : authority
}

function missing(addresses: Finding['evidence'][string], all: string, written = (address: string) => address): string {
  const known = typeof addresses === 'object' ? addresses.filter(address => /^[\d.]+$/.test(address)) : []
  return known.length === 0 ? `the missing one of ${all}` : known.map(written).join(' and ')
}

/** The entry, the user or the refresh token, by what is known to be right. */
function tokenFix(grant: Finding['evidence'][string], { instanceLogin }: Facts): string | undefined {
  const [entry, user, refreshToken] = explain('SERVICENOW_TOKEN_REFUSED').fixes
  if (grant === 'refresh_token') return refreshToken
  return grant === 'password' && instanceLogin?.otherwise !== 'user' ? user : entry
}

/** Writes the addresses for ServiceNow, which accepts ranges and no CIDR blocks. */
function pair(facts: Facts): string {
  const addresses = policyNeeded(facts)?.rules.map(rule => rule.replace(/\/32$/, ''))
  return addresses?.join(' and ') ?? BOTH
}

/** Returns the rules for the proxy's two addresses: the dashboard's pair, or else the addresses that the check saw. */
export function policyNeeded({ proxy, staticIps, egress }: Facts): PolicyNeeded | undefined {
  if (proxy === undefined) return undefined
  if (staticIps?.length === 2) return { rules: staticIps.map(asRule), from: 'STATIC_IPS' }
  const seen = Object.keys(egress?.seen ?? {})
  return seen.length === 2 ? { rules: seen.toSorted().map(asRule), from: 'address check' } : undefined
}

function asRule(address: string): string {
  return `${address}/32`
}
