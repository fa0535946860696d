/** What to do first, and what the cluster's IP filter needs: with the names and addresses that were seen. Pure. */
import { explain } from '../failure/catalogue.js'
import type { Facts } from './facts.js'
import type { Finding, PolicyNeeded } from './report.js'

/** In one sentence; undefined where nothing has to be done. */
export function nextStep([first]: readonly Finding[], facts: Facts): string | undefined {
  if (first === undefined || first.severity === 'info') return undefined
  const rules = policyNeeded(facts)?.rules.join(' and ') ?? 'both static addresses of the dashboard, each as /32'
  const { evidence } = first
  const deployment = `the deployment of ${facts.cluster}`
  switch (first.code) {
    case 'EGRESS_NOT_ALLOWED':
      if (facts.proxy === undefined) break
      return `Put ${rules} into one IP filter policy, attach it to ${deployment}, and run sluice doctor again.`
    case 'EGRESS_PARTLY_ALLOWED':
      return `Add ${missingRules(evidence['addresses'], rules)} to the policy that is attached to ${deployment}, and run sluice doctor again.`
    case 'FILTER_NOT_ENFORCED':
      return `Attach a policy with ${rules} to ${deployment}; detach or narrow every other that lets this machine in.`
    case 'CLUSTER_PRIVILEGE_MISSING': {
      const { missing, index } = evidence
      if (typeof missing !== 'object') break
      return `Grant ${missing.join(' and ')} on ${String(index)} to the API key or role.`
    }
    default:
  }
  return explain(first.code).fixes[0]
}

function missingRules(addresses: Finding['evidence'][string], rules: string): string {
  if (typeof addresses !== 'object') return `the one of ${rules} that is missing`
  const known = addresses.filter(address => /^[\d.]+$/.test(address))
  return known.length === 0 ? `the one of ${rules} that is missing` : known.map(asRule).join(' and ')
}

/** The rules for the proxy's two addresses. The dashboard's pair counts; what the check saw stands in for it. */
export function policyNeeded({ proxy, staticIps, egress }: Facts): PolicyNeeded | undefined {
  if (proxy === undefined) return undefined
  if (staticIps !== undefined) return { rules: staticIps.map(asRule), from: 'STATIC_IPS' }
  const seen = Object.keys(egress?.seen ?? {})
  return seen.length === 2 ? { rules: seen.toSorted().map(asRule), from: 'address check' } : undefined
}

function asRule(address: string): string {
  return `${address}/32`
}
