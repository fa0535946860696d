/** Rules for obstacles before the cluster: options, the proxy, the connection through it. */
import { type Evidence, type Failure, failure } from '../failure/failure.js'
import { tellCertificate } from './certificate.js'
import type { Facts } from './facts.js'
import { type Finding, finding, type FindingRule } from './report.js'
import type { ConnectionSeen } from './way-facts.js'

/** A clock that is wrong by this much makes certificates look expired, or not valid yet. */
export const CLOCK_TOLERANCE_MS = 300_000

export const optionFindings: FindingRule = ({ unusable, plaintext, hosts, cluster, proxy, filter }) => {
  if (unusable !== undefined) return [finding('error', unusable)]
  if (plaintext !== undefined) return [finding('error', plaintext)]
  if (hosts?.clusterIsProxy === true) return [finding('error', failure('CLUSTER_URL_IS_PROXY', { url: cluster }))]
  if (hosts?.isPrivate !== true || proxy === undefined) return []
  const isReached = (filter?.allowed ?? 0) > 0
  return [finding(isReached ? 'info' : 'error', failure('CLUSTER_PRIVATE_LINK', { cluster, proxy }))]
}

export const proxyFindings: FindingRule = ({ address, port }) =>
  [address?.failure, port?.failure].flatMap(one => (one === undefined ? [] : [finding('error', one)]))

/** If a certificate only looks expired, the clock is the cause. */
export const certificateFindings: FindingRule = ({ connection, instanceConnection, clock }) => {
  const isAboutTime = (problem?: string) => problem === 'expired' || problem === 'early'
  const certificateProblem = [connection, instanceConnection]
    .map(one => one?.certificateProblem)
    .find(problem => isAboutTime(problem))
  if (certificateProblem === undefined || clock === undefined) return []
  if (Math.abs(clock.skewMs) < CLOCK_TOLERANCE_MS) return []
  // A fast clock makes a certificate look expired. A slow one makes it look too new.
  if (certificateProblem === 'expired' ? clock.skewMs < 0 : clock.skewMs > 0) return []
  return [finding('error', failure('CLOCK_SKEW', skewEvidence(clock)), 'That makes certificates look invalid')]
}

export function skewEvidence({ skewMs, comparedWith }: NonNullable<Facts['clock']>) {
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  return { seconds, direction: skewMs > 0 ? 'ahead of' : 'behind', comparedWith }
}

export const connectionFindings: FindingRule = facts => {
  const { connection, cluster } = facts
  if (connection?.failure === undefined) return []
  return [connectionFinding(connection, nameTimeout(connection.failure, facts), { cluster })]
}

/** Names the certificate that stood in the way, if one did. `more`: further evidence. */
export function connectionFinding(
  { certificate, certificateProblem: problem }: ConnectionSeen,
  failed: Failure,
  more: Evidence = {},
): Finding {
  if (certificate === undefined || problem === undefined) return finding('error', failed)
  const evidence = { ...failed.evidence, certificate: problem, subject: certificate.subject, ...more }
  return finding('error', { ...failed, evidence }, tellCertificate(problem, certificate))
}

/** Finds the silent side. If the proxy answers others, the target is silent. If it answers nobody, the proxy is. */
function nameTimeout(failed: Failure, { connection, port, egress, proxy, cluster }: Facts): Failure {
  if (proxy === undefined) return failed
  const leads = egress === undefined ? port?.isPrompt === true : Object.keys(egress.seen).length > 0
  if (failed.code === 'PROXY_TIMEOUT' && connection?.failedIn === 'proxy-handshake' && leads) {
    const observed = 'it answers, but gets no answer from this target'
    return failure('PROXY_TARGET_UNREACHABLE', { proxy, target: new URL(cluster).host, observed })
  }
  if (failed.code === 'CLUSTER_TIMEOUT' && connection?.failedIn === undefined && !leads) {
    const limitMs = Number(failed.evidence['limitMs'])
    return failure('PROXY_TIMEOUT', { proxy, limitMs, phase: 'exchange', after: 'Sluice sent a request' })
  }
  return failed
}
