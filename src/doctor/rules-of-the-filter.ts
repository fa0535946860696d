/** Rules for the egress addresses, for the IP filter's verdict on them, and for others that it lets in. */
import { failure } from '../failure/failure.js'
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
  const { cluster, proxy, filter, notes = [] } = facts
  const nodes = facts.nodes ?? []
  const refusedNodes = nodes.filter(({ verdict }) => verdict === 'refused')
  const allowed = (filter?.allowed ?? 0) + nodes.filter(({ verdict }) => verdict === 'allowed').length
  const refused = (filter?.refused ?? 0) + refusedNodes.length
  if (refused === 0) return []
  const { status, observed = 'it refuses connections', requestId } = filter ?? {}
  const evidence = { cluster, refused, probes: allowed + refused, status, observed, requestId }
  const which = { ...evidence, ...(refusedNodes.length === 0 ? {} : { addresses: refusedNodes.map(nameOf) }) }
  if (allowed === 0) {
    const way =
      proxy === undefined
        ? ['No proxy was used', ...notes]
        : [sources(facts), chance(facts)].filter(text => text !== '')
    return [finding('error', failure('EGRESS_NOT_ALLOWED', which), way.join('. '))]
  }
  return [finding('error', failure('EGRESS_PARTLY_ALLOWED', which), tellWhich(refusedNodes, nodes))]
}

/** Names the refused address if it is known, else how to find it. */
function tellWhich(refused: readonly NodeSeen[], nodes: readonly NodeSeen[]): string {
  if (refused.length > 0) return `Blocked: ${refused.map(nameOf).join(' and ')}`
  if (nodes.length > 0) return 'The IP filter allows the nodes in --nodes, and blocks the address of another node'
  return 'Exactly one of your two addresses is blocked. To find out which one, run `sluice doctor --nodes URL,URL` with the URL of each proxy node'
}

function nameOf({ address, node }: NodeSeen): string {
  return address ?? `the address of ${node}`
}

function sources({ egress }: Facts): string {
  const addresses = Object.keys(egress?.seen ?? {}).toSorted()
  return addresses.length === 0 ? '' : `The connections left from ${addresses.join(' and ')}`
}

function chance({ filter }: Facts): string {
  if (filter === undefined) return ''
  return `Chance that one address is still allowed: ${percent(filter.missChance)}`
}

/** Refused from one address and let in from another: then a policy is in force, and it covers this machine. */
export const pastFindings: FindingRule = ({ past, filter, cluster, nodes = [] }) => {
  if (past?.verdict !== 'open') return []
  const evidence = { cluster, status: past.status ?? 0 }
  const isInForce = (filter?.refused ?? 0) > 0 || nodes.some(({ verdict }) => verdict === 'refused')
  return isInForce
    ? [finding('warning', failure('FILTER_COVERS_CLIENT', { ...evidence, observed: coversClient(past) }))]
    : [finding('error', failure('FILTER_NOT_ENFORCED', evidence))]
}

function coversClient({ status = 0 }: NonNullable<Facts['past']>): string {
  return `it answers without the proxy (status ${status}), and refuses addresses of the proxy`
}
