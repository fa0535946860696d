/** Rules for the route: options, the proxy, the connection through it, clocks and distances. */
import { type Evidence, type Failure, failure } from '../../base/failure/failure.js'
import { caOptionFor, type ConnectionSeen, type Facts, tellCertificate } from '../../route/examine/facts.js'
import { type Finding, finding, type FindingRule } from './report.js'

export const optionFindings: FindingRule = ({ unusable, plaintext, hosts, cluster, proxy, filter, connection }) => {
  const problem = unusable ?? plaintext
  if (problem !== undefined) return finding('error', problem)
  if (hosts?.clusterIsProxy === true) return finding('error', failure('CLUSTER_URL_IS_PROXY', { url: cluster }))
  if (hosts === undefined || proxy === undefined) return undefined
  const { isPrivate, inside } = hosts
  const isReached = (filter?.allowed ?? 0) > 0
  const link = { cluster, proxy, kind: 'a private-link name' }
  if (isPrivate) return finding(isReached ? 'info' : 'error', failure('CLUSTER_PRIVATE_LINK', link))
  // Some proxies are inside. Only what was not reached shows that this one is not.
  const why = connection?.failure?.code ?? filter?.failure?.code ?? ''
  if (inside === undefined || !notReached.has(why)) return undefined
  return finding('error', failure('CLUSTER_PRIVATE_LINK', { ...link, kind: inside }))
}

const notReached: ReadonlySet<string> = new Set([
  'PROXY_TARGET_UNREACHABLE',
  'PROXY_DENIED_TARGET',
  'PROXY_TIMEOUT',
  'CLUSTER_TIMEOUT',
  'CLUSTER_UNAVAILABLE',
])

export const proxyFindings: FindingRule = ({ address, port }) =>
  [address?.failure, port?.failure].map(one => one && finding('error', one))

/** A clock that is wrong by this much makes certificates look expired, or not valid yet. */
const CLOCK_TOLERANCE_MS = 300_000

/** Reports a certificate that the clock makes look expired, or too new. */
export const certificateFindings: FindingRule = ({ connection, instanceConnection, clock }) => {
  const problem = [connection, instanceConnection]
    .map(one => one?.certificateProblem)
    .find(one => one === 'expired' || one === 'authority expired' || one === 'early')
  if (problem === undefined || clock === undefined || Math.abs(clock.skewMs) < CLOCK_TOLERANCE_MS) return undefined
  // A fast clock makes a certificate look expired. A slow one makes it look too new.
  if (problem === 'early' ? clock.skewMs > 0 : clock.skewMs < 0) return undefined
  return finding('error', failure('CLOCK_SKEW', skewEvidence(clock)), 'A wrong clock makes certificates look invalid')
}

export const clockFindings: FindingRule = ({ clock }) =>
  clock === undefined || Math.abs(clock.skewMs) < CLOCK_TOLERANCE_MS
    ? undefined
    : finding('warning', failure('CLOCK_SKEW', skewEvidence(clock)))

function skewEvidence({ skewMs, comparedWith }: NonNullable<Facts['clock']>) {
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  return { seconds, direction: skewMs > 0 ? 'ahead of' : 'behind', comparedWith }
}

export const connectionFindings: FindingRule = facts => {
  const { connection, cluster } = facts
  return connection?.failure && connectionFinding(connection, nameTimeout(connection.failure, facts), { cluster })
}

/** Names the certificate that stood in the way, if one did. `more`: further evidence. */
export function connectionFinding(
  { certificate, certificateProblem: problem }: ConnectionSeen,
  failed: Failure,
  more: Evidence = {},
): Finding {
  if (certificate === undefined || problem === undefined) return finding('error', failed)
  const evidence = { ...failed.evidence, certificate: problem, subject: certificate.subject, ...more }
  return finding('error', { ...failed, evidence }, tellCertificate(problem, certificate, caOptionFor(failed)))
}

/** Finds the silent side. If the proxy answers others, the target is silent. If it answers no other request, the proxy is. */
function nameTimeout(failed: Failure, { connection, port, egress, proxy, cluster }: Facts): Failure {
  if (proxy === undefined) return failed
  const leads = egress === undefined ? port?.isPrompt === true : Object.keys(egress.seen).length > 0
  if (failed.code === 'PROXY_TIMEOUT' && connection?.failedIn === 'proxy-handshake' && leads) {
    const observed = 'the proxy answers, but the target does not'
    return failure('PROXY_TARGET_UNREACHABLE', { proxy, target: new URL(cluster).host, observed })
  }
  if (failed.code === 'CLUSTER_TIMEOUT' && connection?.failedIn === undefined && !leads) {
    const limitMs = Number(failed.evidence['limitMs'])
    return failure('PROXY_TIMEOUT', { proxy, limitMs, phase: 'exchange', after: 'Sluice sent a request' })
  }
  return failed
}

/** Halfway between a proxy beside the application (10 to 20 ms) and one in another region (50 to 100 ms). */
const CROSS_REGION_MS = 35

export const rangeFindings: FindingRule = ({ hosts, latency }) => {
  const { proxyRegions = [], region = '', regions } = hosts ?? {}
  const evidence = { proxyRegion: proxyRegions.join(' or '), clusterRegion: region }
  const { throughMs = 0, directMs = 0, addedMs = 0 } = latency ?? {}
  return [
    regions === undefined || regions === 'same'
      ? undefined
      : finding(regions === 'other' ? 'warning' : 'info', failure('REGION_MISMATCH', evidence)),
    addedMs < CROSS_REGION_MS
      ? undefined
      : finding('info', failure('LATENCY_CROSS_REGION', { addedMs, throughMs, directMs })),
  ]
}
