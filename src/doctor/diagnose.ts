/**
 * Walks the path of a load layer by layer and names the obstacles: the options, the proxy and its two addresses, the
 * cluster through it. Success through the proxy is only half the check, so it also asks the cluster without the
 * proxy. Then the same for ServiceNow, if it is set: addresses, logins, tables.
 */
import type { DoctorOptions } from './doctor-options.js'
import { clockSkew, latency } from './probes/way/latency.js'
import { connection, instanceConnection } from './probes/way/connection.js'
import { egress } from './probes/way/egress.js'
import { filter } from './probes/cluster/filter.js'
import { hostNames, optionsGiven } from './probes/way/options-given.js'
import { instanceAwake, instanceDoor } from './probes/instance/instance-door.js'
import { instanceLogin } from './probes/instance/instance-login.js'
import { instanceNodes, nodes } from './probes/way/nodes.js'
import { instancePast, pastProxy } from './probes/way/past-proxy.js'
import { instanceTable } from './probes/instance/instance-table.js'
import { privileges } from './probes/cluster/privileges.js'
import { proxyAddress, proxyProtocol } from './probes/way/proxy-port.js'
import { writeCheck } from './probes/cluster/write-check.js'
import { type DoctorReport, finding, type Finding } from './report.js'
import { hasCluster, type Path, type Tools, walk } from './walk.js'
import { type Entry, explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import { authorityOf } from '../proxy/destination.js'

/** The proxy's own name and port. */
const toTheProxy: Path = [[proxyAddress], [proxyProtocol]]

/** To the proxy and through it to the cluster. */
const toTheCluster: Path = [[optionsGiven], [hostNames], ...toTheProxy, [connection]]

const wholeCluster: Path = [...toTheCluster, [egress, filter, nodes, pastProxy], [privileges], [writeCheck], [latency]]

/** Starts at the proxy. */
const wholeInstance: Path = [
  [instanceConnection],
  [instanceAwake],
  [instanceDoor, instancePast],
  [instanceLogin],
  [instanceTable],
  [instanceNodes],
]

/**
 * Diagnoses the path to a cluster, to a ServiceNow instance, or to both. Sends no document, unless `writeCheck` is
 * set. If a proxy is set, it sends a few GET / without credentials past it: one to see whether the cluster answers,
 * and five more for the latency if it does. `directCheck: false` leaves them out. Every problem is a finding, also in
 * the options. It throws only the signal's reason for an abort.
 */
export async function diagnose(options: DoctorOptions, tools: Tools = {}): Promise<DoctorReport> {
  return await walk(options, pathFor(options), tools)
}

/** Asks only once for what both paths share. */
function pathFor(options: DoctorOptions): Path {
  if (options.servicenow === undefined) return [...wholeCluster, [clockSkew]]
  if (hasCluster(options)) return [...wholeCluster, ...wholeInstance, [clockSkew]]
  const [connecting = [], awake = [], ...rest] = wholeInstance
  return [[optionsGiven], ...toTheProxy, connecting, [...awake, egress], ...rest, [clockSkew]]
}

export interface Cause {
  /** The cause. If the obstacle is gone, the refusal itself, with a note about that. */
  readonly finding: Finding
  /** The first thing to do. */
  readonly next?: string | undefined
  /** The obstacle was gone at the second look. */
  readonly isOver: boolean
  readonly requests: DoctorReport['requests']
}

/** Through the proxy, to the platform that tables are read from. */
const toTheInstance: Path = [
  [optionsGiven],
  ...toTheProxy,
  [instanceConnection],
  [instanceAwake, egress],
  [instanceDoor],
]
const intoTheInstance: Path = [...toTheInstance, [instanceLogin], [instanceTable], [instanceNodes], [clockSkew]]

/** Credentials that were refused are not shown again: whoever does so often enough is locked out. */
const withoutLogin: Path = [...toTheInstance, [instanceNodes]]
const ofLogins: ReadonlySet<Failure['code']> = new Set([
  'SERVICENOW_AUTH_REJECTED',
  'SERVICENOW_TOKEN_REFUSED',
  'SERVICENOW_BASIC_FORBIDDEN',
  'SERVICENOW_LOGIN_NEEDED',
])

/** The probes that tell the causes of a refusal apart, by who refused. */
const paths: Partial<Record<Entry['stage'], Path>> = {
  proxy: [...toTheCluster, [egress, filter], [clockSkew]],
  egress: [...toTheCluster, [egress, filter, nodes, pastProxy]],
  cluster: [...toTheCluster, [egress, filter, nodes], [privileges], [clockSkew]],
  index: [...toTheCluster, [filter], [privileges]],
  servicenow: intoTheInstance,
}

/**
 * Runs the few probes that tell the causes of a refusal apart. Returns undefined for failures of the input, the
 * options or the run, where no probe helps. Throws the signal's reason for an abort.
 */
export async function diagnoseRefusal(
  refusal: Failure,
  options: DoctorOptions,
  tools: Tools = {},
): Promise<Cause | undefined> {
  const { stage } = explain(refusal.code)
  const path = paths[stage]
  if (path === undefined || (stage === 'servicenow' && options.servicenow === undefined)) return undefined
  // A proxy may lead to the cluster and not to the instance.
  const isToInstance = stage === 'servicenow' || leadsToInstance(refusal, options)
  const isLogin = ofLogins.has(refusal.code)
  const { findings, next, requests } = isToInstance
    ? await walk({ ...options, target: {} }, isLogin ? withoutLogin : intoTheInstance, tools)
    : await walk({ ...options, servicenow: undefined }, path, tools)
  const cause = findings.find(isCause)
  if (cause === undefined && isLogin) return undefined
  if (cause === undefined) {
    const now =
      'When Sluice checked again, nothing refused it any more. Run the same command again: it continues where it stopped'
    return { finding: finding('error', refusal, now), isOver: true, requests }
  }
  return { finding: cause, next, isOver: false, requests }
}

/** A refusal of the proxy's says whom it was to lead to. */
function leadsToInstance({ evidence }: Failure, { servicenow }: DoctorOptions): boolean {
  const url = String(servicenow?.url ?? '')
  return URL.canParse(url) && evidence['target'] === authorityOf(new URL(url))
}

/** A filter that stops nobody refused nothing, and a load does not use the nodes that are asked singly. */
function isCause({ severity, code, evidence }: Finding): boolean {
  if (code === 'FILTER_NOT_ENFORCED' || evidence['origin'] === '--nodes') return false
  return severity === 'error'
}
