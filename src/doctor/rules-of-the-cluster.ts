/** Rules for the cluster's own answers, and for facts worth knowing about the route. */
import { failure } from '../failure/failure.js'
import { type Finding, finding, type FindingRule } from './report.js'
import { CLOCK_TOLERANCE_MS, skewEvidence } from './rules-of-the-way.js'
import type { NodeSeen } from './way-facts.js'

/** Halfway between a proxy beside the application (10 to 20 ms) and one in another region (50 to 100 ms). */
const CROSS_REGION_MS = 35

/** This many broken connections are no accident. */
const BROKEN = 3

export const clusterFindings: FindingRule = ({ filter, identity, hosts, isKeyEncoded }) => {
  const { failure: failed, rejected } = filter ?? {}
  const elsewhere =
    hosts?.product === undefined || hosts.product === 'es' ? '' : `The host is that of "${hosts.product}"`
  if (failed !== undefined) return [finding('error', failed, elsewhere)]
  const refused = rejected ?? identity?.failure
  const form = isKeyEncoded === false ? 'The API key is not in its encoded form, which is base64 of ID:KEY' : ''
  return refused === undefined ? [] : [finding('error', refused, form)]
}

export const indexFindings: FindingRule = ({ index, write, cluster }) => {
  if (index === undefined) return []
  const { index: name, missing = [], blocks = [], failure: failed } = index
  if (failed !== undefined) return [finding('error', failed)]
  const reason = `the credentials lack ${missing.join(' and ')} on ${name}`
  const problems = [
    ...(missing.length === 0 ? [] : [failure('CLUSTER_PRIVILEGE_MISSING', { cluster, reason, index: name, missing })]),
    ...(blocks.length === 0 ? [] : [failure('INDEX_BLOCKED', { index: name, reason: `${blocks.join(', ')} is set` })]),
  ]
  const left = write?.left === undefined ? '' : `Sluice could not delete its test document: delete ${write.left}`
  return [
    ...problems.map(problem => finding('error', problem)),
    ...(write?.failure === undefined ? [] : [finding('error', write.failure, left)]),
  ]
}

/** One missing node of a pair stops nothing: the load connects again. */
export const nodeFindings: FindingRule = ({
  nodes = [],
  filter,
  proxy,
  staticIps,
  isDirect,
  connection,
  instanceDoor: door,
}) => {
  const connecting = connection?.failure === undefined ? (connection?.broken ?? 0) : 0
  const broken = (filter?.broken ?? 0) + (door?.broken ?? 0) + connecting
  const problem = `${broken} connections broke, and Sluice opened them again. A node of the pair may be down`
  const unused = 'STATIC_IPS names two static addresses, and no proxy is set'
  return [
    ...silentNodes(nodes),
    ...(broken >= BROKEN && proxy !== undefined && filter?.failure === undefined && door?.failure === undefined
      ? [finding('warning', failure('PROXY_UNREACHABLE', { proxy, problem }))]
      : []),
    ...(proxy === undefined && staticIps !== undefined && isDirect !== true
      ? [finding('warning', failure('PROXY_NOT_USED', { problem: unused }))]
      : []),
  ]
}

/** Nodes that cannot be asked. */
export function silentNodes(nodes: readonly NodeSeen[]): Finding[] {
  return nodes.flatMap(({ verdict, failure: failed }) => {
    if (verdict !== 'failed' || failed === undefined) return []
    const severity = failed.code === 'PROXY_URL_INVALID' ? 'error' : 'warning'
    const evidence = { ...failed.evidence, asked: 'one node' }
    return [finding(severity, { ...failed, evidence }, 'This is one node of --nodes')]
  })
}

export const clockFindings: FindingRule = ({ clock }) =>
  clock === undefined || Math.abs(clock.skewMs) < CLOCK_TOLERANCE_MS
    ? []
    : [finding('warning', failure('CLOCK_SKEW', skewEvidence(clock)))]

/** Reports the distance. */
export const rangeFindings: FindingRule = ({ hosts, latency }) => {
  const { proxyRegions = [], region = '', regions } = hosts ?? {}
  const evidence = { proxyRegion: proxyRegions.join(' or '), clusterRegion: region }
  const { throughMs = 0, directMs = 0, addedMs = 0 } = latency ?? {}
  return [
    ...(regions === undefined || regions === 'same'
      ? []
      : [finding(regions === 'other' ? 'warning' : 'info', failure('REGION_MISMATCH', evidence))]),
    ...(addedMs < CROSS_REGION_MS
      ? []
      : [finding('info', failure('LATENCY_CROSS_REGION', { addedMs, throughMs, directMs }))]),
  ]
}
