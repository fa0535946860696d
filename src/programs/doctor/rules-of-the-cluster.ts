/** Rules for the addresses that the cluster's IP filter sees, for its verdict on them, and for the cluster's answers. */
import { type Evidence, explain, type Failure, failure } from '../../base/failure/failure.js'
import { nameStrangers } from '../../base/addresses.js'
import type { Facts, NodeSeen } from '../../route/examine/facts.js'
import { type Finding, finding, type FindingRule } from './report.js'
import { percent } from '../../base/text/shown.js'

/** A second address that was not seen is significantly absent below this chance. */
const SIGNIFICANT = 0.001

export const egressFindings: FindingRule = ({
  egress,
  connection,
  instanceConnection,
  staticIps: expected = [],
  nodes = [],
}) => {
  if (egress === undefined) return undefined
  const { failure: failed, seen, missChance, asked } = egress
  if (failed !== undefined) {
    // The obstacle before the target explains this one.
    if (connection?.failure !== undefined || instanceConnection?.failure !== undefined) return undefined
    const evidence = { ...failed.evidence, asked: 'address check' }
    return finding('warning', { ...failed, evidence }, 'This is the address check, not the cluster')
  }
  const addresses = Object.keys(seen)
  const strangers = nameStrangers(seen, expected)
  if (strangers !== undefined) return finding('error', strangers)
  const [address] = addresses
  const isAlone = missChance !== undefined && missChance <= SIGNIFICANT && address !== undefined
  if (!isAlone || nodes.some(({ verdict }) => verdict === 'failed')) return undefined
  const evidence = { address, connections: asked, chance: percent(missChance) }
  return finding('info', failure('EGRESS_ONE_ADDRESS', evidence))
}

export const filterFindings: FindingRule = facts => {
  const { cluster, proxy, filter, nodes = [] } = facts
  const blocked = blockedOf(nodes)
  const allowed = (filter?.allowed ?? 0) + allowedOf(nodes)
  const refused = (filter?.refused ?? 0) + blocked.length
  const dropped = egressFailure(filter)
  if (dropped !== undefined) return finding('error', dropped, tellWhich(blocked, nodes, 'IP filter'))
  if (refused === 0) return undefined
  const { status, observed = 'it refuses connections', requestId } = filter ?? {}
  const how = 'refused'
  const evidence = {
    cluster,
    how,
    refused,
    probes: allowed + refused,
    status,
    observed,
    requestId,
    ...addressesOf(blocked),
  }
  return allowed === 0
    ? [
        facts.unused === undefined ? undefined : finding('error', failure('PROXY_NOT_USED', { problem: facts.unused })),
        finding('error', failure('EGRESS_NOT_ALLOWED', evidence), tellRoute(facts, proxy, filter?.missChance)),
      ]
    : finding('error', failure('EGRESS_PARTLY_ALLOWED', evidence), tellWhich(blocked, nodes, 'IP filter'))
}

/** The filter drops connections of one address, or something else refuses them in its place. */
function egressFailure(filter: Facts['filter']): Failure | undefined {
  const { failure: failed } = filter ?? {}
  return failed !== undefined && explain(failed.code).stage === 'egress' ? failed : undefined
}

/** Names the refused address if it is known, else how to find it. */
export function tellWhich(
  blocked: readonly string[],
  nodes: readonly NodeSeen[],
  by: 'IP filter' | 'instance',
): string {
  if (blocked.length > 0) return `Blocked: ${blocked.join(' and ')}`
  if (nodes.length > 0) return `The ${by} allows the nodes in --nodes, but blocks the address of another node`
  return 'Exactly one of your two addresses is blocked. To find out which one, run `sluice doctor --nodes URL,URL` with the URL of each proxy node'
}

export function allowedOf(nodes: readonly NodeSeen[]): number {
  return nodes.filter(({ verdict }) => verdict === 'allowed').length
}

export function blockedOf(nodes: readonly NodeSeen[]): string[] {
  const refused = nodes.filter(({ verdict }) => verdict === 'refused')
  return refused.map(({ address, node }) => address ?? `the address of ${node}`)
}

export function addressesOf(blocked: readonly string[]): Evidence {
  return blocked.length === 0 ? {} : { addresses: blocked }
}

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
  if (filter?.isManaged === true && filter.allowed > 0)
    return finding('warning', failure('FILTER_NOT_APPLIED', { cluster }))
  if (past?.verdict !== 'open') return undefined
  const evidence = { cluster, status: past.status ?? 0 }
  const isInForce = (filter?.refused ?? 0) > 0 || nodes.some(({ verdict }) => verdict === 'refused')
  const observed = `it answers without the proxy (status ${evidence.status}), but refuses addresses of the proxy`
  return isInForce
    ? finding('warning', failure('FILTER_COVERS_CLIENT', { ...evidence, observed }))
    : finding('error', failure('FILTER_NOT_ENFORCED', evidence))
}

/** A web server in the proxy URL answers a forwarded request itself, with its own name. */
function webServerFinding({ filter, port, proxy, cluster }: Facts): Finding | undefined {
  const { webServer } = port ?? {}
  const observed = String(filter?.failure?.evidence['observed'] ?? '')
  if (webServer === undefined || proxy === undefined || !cluster.startsWith('http:')) return undefined
  if (!observed.includes(`server: ${webServer}`)) return undefined
  return finding('error', failure('PROXY_NOT_A_PROXY', { proxy, observed: `it answers requests itself, ${observed}` }))
}

export const clusterFindings: FindingRule = facts => {
  const { filter, identity, hosts, misplaced } = facts
  const { failure: failed, rejected } = filter ?? {}
  const isOfProxy = webServerFinding(facts)
  if (isOfProxy !== undefined) return isOfProxy
  const elsewhere =
    hosts?.product === undefined || hosts.product === 'es' ? '' : `The host is that of "${hosts.product}"`
  if (egressFailure(filter) !== undefined) return undefined
  if (failed !== undefined) return finding('error', failed, elsewhere)
  const refused = rejected ?? identity?.failure
  return refused && finding('error', refused, refused.code === 'CLUSTER_AUTH_REJECTED' ? misplaced : '')
}

export const indexFindings: FindingRule = ({ index, write, cluster }) => {
  if (index === undefined) return undefined
  const { index: name, missing = [], blocks = [], failure: failed } = index
  if (failed !== undefined) return finding('error', failed, tellLost(failed))
  const reason = `the credentials lack ${missing.join(' and ')} on ${name}`
  const blocked = `${blocks.join(', ')} is set`
  const left = write?.left === undefined ? '' : `Sluice could not delete its test document. Delete ${write.left}`
  return [
    missing.length === 0
      ? undefined
      : finding('error', failure('CLUSTER_PRIVILEGE_MISSING', { cluster, reason, index: name, missing })),
    blocks.length === 0 ? undefined : finding('error', failure('INDEX_BLOCKED', { index: name, reason: blocked })),
    write?.failure && finding('error', write.failure, left),
  ]
}

/** The same question was asked twice: in full packets, and in one small packet. */
function tellLost({ evidence }: Failure): string {
  if (evidence['lost'] !== 'full packets') return ''
  return 'The cluster answers the same request if it is small. Full packets are lost on the route, as with a wrong MTU of a VPN'
}

/** One missing node of a pair stops nothing: the load connects again. */
export const nodeFindings: FindingRule = ({ nodes = [], instanceNodes = [], filter, unused, instanceDoor: door }) => {
  // Both targets are behind the same nodes, so one count is enough.
  const warning = filter?.warning ?? (door?.failure === undefined ? door?.warning : undefined)
  return [
    ...silentNodes(nodes),
    warning && finding('warning', warning),
    unused === undefined || (filter?.refused ?? 0) > 0
      ? undefined
      : finding('warning', failure('PROXY_NOT_USED', { problem: unused })),
    ...silentNodes(instanceNodes),
  ]
}

function silentNodes(nodes: readonly NodeSeen[]): Finding[] {
  return nodes.flatMap(({ verdict, failure: failed }) => {
    if (verdict !== 'failed' || failed === undefined) return []
    const severity = failed.code === 'PROXY_URL_INVALID' ? 'error' : 'warning'
    const evidence = { ...failed.evidence, asked: 'one node' }
    return [finding(severity, { ...failed, evidence }, 'This node is one of --nodes')]
  })
}
