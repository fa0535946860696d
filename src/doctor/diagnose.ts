/**
 * Walks the path that a load takes, one layer at a time, and names what is in the way: the proxy and its two addresses, the
 * cluster through it, and, because a success through the proxy is only half the check, the cluster without it.
 */
import { ask } from '../cluster/ask.js'
import { checkEgress } from '../cluster/egress-check.js'
import { whoAnswered } from '../cluster/who-answered.js'
import { type FailureCode, explain } from '../failure/catalogue.js'
import { type Failure, failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { Clock } from '../flow.js'
import type { ConnectOptions } from '../ingest-options.js'
import { type Way, findWay, openTarget, proxyOptions, targetTls } from '../open-target.js'
import { type RouteOptions, openRoute } from '../proxy/route.js'
import { systemClock } from '../system-clock.js'
import type { DoctorReport, Facts, Finding, Step } from './report.js'

/** What one step saw. */
interface Seen {
  readonly detail: string
  readonly facts?: Partial<Facts>
  readonly failure?: Failure
}

/**
 * Diagnoses the way to a cluster. Sends no document. The probe without the proxy is a GET / without credentials, the only
 * request that Sluice ever sends past a proxy that is set.
 * Throws SluiceError where the options contradict themselves: OPTION_INVALID, PROXY_URL_INVALID, PROXY_NOT_USED,
 * CLUSTER_URL_IS_PROXY. Whatever the way does is a finding.
 */
export async function diagnose(options: ConnectOptions, clock: Clock = systemClock): Promise<DoctorReport> {
  const way = findWay(options.target, options.proxy)
  const steps: Step[] = []
  const failures: Failure[] = []
  let facts: Facts = {
    cluster: { url: way.url.origin },
    egress: {},
    ...(way.proxy === undefined ? {} : { proxy: way.proxy.display }),
    ...(options.staticIps === undefined ? {} : { staticIps: options.staticIps }),
  }
  const take = async (name: string, look: () => Promise<Seen>): Promise<void> => {
    const startedAt = clock.now()
    const seen = await look().catch(asSeen)
    steps.push({ name, ok: seen.failure === undefined, ms: Math.round(clock.now() - startedAt), detail: seen.detail })
    if (seen.failure !== undefined) failures.push(seen.failure)
    facts = { ...facts, ...seen.facts }
  }
  const leaveOut = (name: string, why: string) => void steps.push({ name, ok: true, detail: `left out: ${why}` })

  const { ipCheckUrl } = options
  if (ipCheckUrl === undefined) leaveOut(stepNames.egress, 'no address check is set (IP_CHECK_URL)')
  else await take(stepNames.egress, async () => await seeEgress(new URL(ipCheckUrl), way, options))

  const through = way.proxy === undefined ? stepNames.direct : stepNames.through
  if (failures.some(({ code }) => closesProxy(code))) leaveOut(through, 'the proxy cannot be used')
  else await take(through, async () => await seeCluster(options))

  if (way.proxy === undefined) leaveOut(stepNames.past, 'no proxy is set')
  else await take(stepNames.past, async () => await seeWithoutProxy(way, options))

  const findings = failures.map(finding)
  return { ok: findings.every(({ severity }) => severity !== 'error'), findings, facts, steps }
}

const stepNames = {
  egress: 'addresses behind the proxy',
  through: 'cluster through the proxy',
  direct: 'cluster, directly',
  past: 'cluster without the proxy',
} as const

async function seeEgress(ipCheckUrl: URL, way: Way, options: ConnectOptions): Promise<Seen> {
  await using route = openRoute({ target: ipCheckUrl, connections: 1, ...proxyOf(way, options) })
  const egress = await checkEgress(route, {
    connections: way.proxy === undefined ? 1 : Math.max(1, options.preflightConnections ?? 16),
    timeoutMs: probeTimeoutMs,
    ...(options.staticIps === undefined || way.proxy === undefined ? {} : { staticIps: options.staticIps }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  const seen = Object.entries(egress).map(([address, times]) => `${address} (${times}x)`)
  return { detail: seen.length === 0 ? 'the check answers with no address' : seen.join(', '), facts: { egress } }
}

async function seeCluster({ ipCheckUrl: _, ...options }: ConnectOptions): Promise<Seen> {
  const { cluster } = await openTarget(options)
  await using _closed = cluster
  const { info, probes, allowed, missChance } = cluster.preflight
  const named = info === undefined ? {} : { name: info.name, version: info.version }
  const known = info === undefined ? 'these credentials may not ask its version' : `Elasticsearch ${info.version}`
  return {
    detail: `let through ${allowed} of ${probes} connections; ${known}`,
    facts: { cluster: { url: cluster.display, ...named }, probes, allowed, missChance },
  }
}

/** Refused or unreachable is as it should be: then the IP filter is in force. */
async function seeWithoutProxy(way: Way, { target, signal }: ConnectOptions): Promise<Seen> {
  await using route = openRoute({ target: way.url, connections: 1, targetTls: targetTls(target) })
  const answer = await ask(route, {
    method: 'GET',
    path: `${way.url.pathname.replace(/\/$/, '')}/`,
    headers: {},
    timeoutMs: probeTimeoutMs,
    ...(signal === undefined ? {} : { signal }),
  })
  // A fault of the certificate comes before the filter: it says nothing of whether the filter would refuse.
  if ('code' in answer && answer.code === 'CLUSTER_CERT_INVALID') return { detail: answer.message, failure: answer }
  if ('code' in answer) return { detail: `not reachable from here: ${answer.message}` }
  const answered = whoAnswered(answer, route)
  if (answered.by !== 'elasticsearch') return { detail: `refused, as it should be (status ${answer.statusCode})` }
  const evidence = { cluster: way.url.origin, status: answer.statusCode }
  return { detail: `answers (status ${answer.statusCode})`, failure: failure('FILTER_NOT_ENFORCED', evidence) }
}

const probeTimeoutMs = 30_000

function proxyOf({ proxy }: Way, options: ConnectOptions): Pick<RouteOptions, 'proxy' | 'proxyTls'> {
  const { ca } = proxyOptions(options.proxy)
  return { ...(proxy === undefined ? {} : { proxy }), ...(ca === undefined ? {} : { proxyTls: { ca } }) }
}

function asSeen(error: unknown): Seen {
  if (!isSluiceError(error)) throw error
  return { detail: error.message, failure: error.failure }
}

/** Whether a failure of the address check holds for the cluster too. */
function closesProxy(code: FailureCode): boolean {
  return explain(code).stage === 'proxy' && code !== 'PROXY_TARGET_UNREACHABLE' && code !== 'PROXY_DENIED_TARGET'
}

function finding({ code, message, evidence }: Failure): Finding {
  return { code, severity: 'error', message, evidence, advice: explain(code).fixes }
}
