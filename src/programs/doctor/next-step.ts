/** Names the first thing to do, and the rules for the cluster's IP filter, with what the probes saw. Pure. */
import { explain, fixesFor } from '../../base/failure/catalogue.js'
import type { Facts } from './facts.js'
import type { Finding, PolicyNeeded } from './report.js'

export function nextStep([first]: readonly Finding[], facts: Facts): string | undefined {
  if (first === undefined || first.severity === 'info') return undefined
  const rules = policyNeeded(facts)?.rules.join(' and ') ?? `${BOTH}, each as /32`
  const { evidence } = first
  const deployment = `the deployment of ${facts.cluster}`
  if (evidence['asked'] === 'address check') {
    return 'Correct IP_CHECK_URL (--ip-check-url), or unset it. A load needs no address check.'
  }
  if (evidence['asked'] === 'one node') {
    return 'Compare this URL of --nodes with the dashboard of your proxy. If the node is down, contact the support of your proxy.'
  }
  switch (first.code) {
    case 'EGRESS_NOT_ALLOWED':
      if (facts.proxy === undefined) return facts.isDirect === true ? withoutDirect : withProxy
      return `Add ${rules} to one IP filter policy, attach it to ${deployment}, and run \`sluice doctor\` again.`
    case 'EGRESS_PARTLY_ALLOWED':
      return `Add ${missing(evidence['addresses'], rules, asRule)} to the policy that is attached to ${deployment}, and run \`sluice doctor\` again.`
    case 'FILTER_NOT_ENFORCED':
      return `Attach a policy with ${rules} to ${deployment}. Detach or narrow every other policy that allows this machine, unless you allow it on purpose.`
    case 'CLUSTER_PRIVILEGE_MISSING': {
      const { missing: privileges, index } = evidence
      if (typeof privileges !== 'object') break
      return `Grant ${privileges.join(' and ')} on ${String(index)} to the API key or role.`
    }
    case 'SERVICENOW_ADDRESS_REFUSED':
      if (facts.instance?.proxy === undefined) return facts.isDirect === true ? withoutDirect : withProxy
      return `Ask an administrator of ${facts.instance.url} to allow ${pair(facts)}, in IP Address Access Control or in the access policy of the Table API. Then run \`sluice doctor\` again.`
    case 'SERVICENOW_TOKEN_REFUSED':
      return tokenFix(evidence['grant'], facts)
    case 'SERVICENOW_PARTLY_ALLOWED':
      return `Ask an administrator of ${facts.instance?.url ?? 'the instance'} to allow ${missing(evidence['addresses'], pair(facts))} like the other address, and run \`sluice doctor\` again.`
    case 'CLUSTER_TIMEOUT':
      // The first is to ask the doctor.
      return explain(first.code).fixes[1]
    case 'PROXY_CERT_INVALID':
    case 'CLUSTER_CERT_INVALID':
    case 'SERVICENOW_CERT_INVALID':
      return certificateFix(first)
    default:
  }
  return fixesFor(first.code, first.message)[0]
}

const BOTH = 'both static addresses in the dashboard of your proxy'
const withProxy = 'Set STATIC_PROXY_URL, so that connections leave from the static addresses.'
const withoutDirect =
  'Remove --direct, so that connections go through the proxy. Or allow the address of this machine too.'

/** The fixes of both stand in the order of the problems: by whom, for whom, and when. */
function certificateFix({ code, evidence, message }: Finding): string | undefined {
  const { fixes } = explain(code)
  if (evidence['certificate'] === 'incomplete' || evidence['certificate'] === 'authority expired')
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
