/** Rules for the egress addresses, for the IP filter's verdict on them, and for others that it lets in. */
import { type Evidence, failure } from '../failure/failure.js'
import type { Facts } from './facts.js'
import type { NodeSeen } from './way-facts.js'
import { finding, percent, type FindingRule } from './report.js'

/** A second address that was not seen is significantly absent below this chance. */
const SIGNIFICANT = 0.001

export const egressFindings: FindingRule = ({
  egress,
  connection,
  instanceConnection,
  staticIps: expected = [],
  nodes = [],
}) => {
  if (egress === undefined) return []
  const { failure: failed, seen, missChance, asked } = egress
  if (failed !== undefined) {
    // The obstacle on the way to the target explains this one.
    if (connection?.failure !== undefined || instanceConnection?.failure !== undefined) return []
    const evidence = { ...failed.evidence, asked: 'address check' }
    return [finding('error', { ...failed, evidence }, 'This is the address check, not the cluster')]
  }
  const addresses = Object.keys(seen)
  const strangers = addresses.filter(address => expected.length > 0 && !expected.includes(address))
  if (strangers.length > 0) return [finding('error', failure('EGRESS_UNEXPECTED', { seen: strangers, expected }))]
  const [address] = addresses
  const isAlone = missChance !== undefined && missChance <= SIGNIFICANT && address !== undefined
  if (!isAlone || nodes.some(({ verdict }) => verdict === 'failed')) return []
  const evidence = { address, connections: asked, chance: percent(missChance) }
  return [finding('info', failure('EGRESS_ONE_ADDRESS', evidence))]
}

export const filterFindings: FindingRule = facts => {
  const { cluster, proxy, filter, nodes = [] } = facts
  const blocked = blockedOf(nodes)
  const allowed = (filter?.allowed ?? 0) + nodes.filter(({ verdict }) => verdict === 'allowed').length
  const refused = (filter?.refused ?? 0) + blocked.length
  if (refused === 0) return []
  const { status, observed = 'it refuses connections', requestId } = filter ?? {}
  const evidence = { cluster, refused, probes: allowed + refused, status, observed, requestId, ...addressesOf(blocked) }
  return allowed === 0
    ? [finding('error', failure('EGRESS_NOT_ALLOWED', evidence), tellRoute(facts, proxy, filter?.missChance))]
    : [finding('error', failure('EGRESS_PARTLY_ALLOWED', evidence), tellWhich(blocked, nodes))]
}

/** Names the refused address if it is known, else how to find it. */
function tellWhich(blocked: readonly string[], nodes: readonly NodeSeen[]): string {
  if (blocked.length > 0) return `Blocked: ${blocked.join(' and ')}`
  if (nodes.length > 0) return 'The IP filter allows the nodes in --nodes, and blocks the address of another node'
  return 'Exactly one of your two addresses is blocked. To find out which one, run `sluice doctor --nodes URL,URL` with the URL of each proxy node'
}

/** Returns the addresses of the nodes that are refused. */
export function blockedOf(nodes: readonly NodeSeen[]): string[] {
  const refused = nodes.filter(({ verdict }) => verdict === 'refused')
  return refused.map(({ address, node }) => address ?? `the address of ${node}`)
}

/** Returns evidence of blocked addresses, if any is known. */
export function addressesOf(blocked: readonly string[]): Evidence {
  return blocked.length === 0 ? {} : { addresses: blocked }
}

/** Names the addresses that the refused connections came from. */
export function tellRoute(
  { egress, notes = [] }: Facts,
  proxy: string | undefined,
  missChance: number | undefined,
): string {
  if (proxy === undefined) return ['No proxy was used', ...notes].join('. ')
  const addresses = Object.keys(egress?.seen ?? {}).toSorted()
  return [
    ...(addresses.length === 0 ? [] : [`The connections left from ${addresses.join(' and ')}`]),
    ...(missChance === undefined ? [] : [`Chance that one address is still allowed: ${percent(missChance)}`]),
  ].join('. ')
}

/** Refused from one address and let in from another: then a policy is in force, and it covers this machine. */
export const pastFindings: FindingRule = ({ past, filter, cluster, nodes = [] }) => {
  if (past?.verdict !== 'open') return []
  const evidence = { cluster, status: past.status ?? 0 }
  const isInForce = (filter?.refused ?? 0) > 0 || nodes.some(({ verdict }) => verdict === 'refused')
  const observed = `it answers without the proxy (status ${evidence.status}), and refuses addresses of the proxy`
  return isInForce
    ? [finding('warning', failure('FILTER_COVERS_CLIENT', { ...evidence, observed }))]
    : [finding('error', failure('FILTER_NOT_ENFORCED', evidence))]
}
