/** Chooses the probes that walk the path of a load layer by layer and name the obstacles. */
import type { Tools } from './context.js'
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
import { keyExpiry } from './probes/cluster/key-expiry.js'
import { privileges } from './probes/cluster/privileges.js'
import { proxyAddress, proxyProtocol } from './probes/way/proxy-port.js'
import { writeCheck } from './probes/cluster/write-check.js'
import { type DoctorReport, finding, type Finding } from './report.js'
import { hasCluster, type Path, walk } from './walk.js'
import { type Entry, explain } from '../../base/failure/catalogue.js'
import type { Failure } from '../../base/failure/failure.js'
import { authorityOf } from '../../route/proxy/proxy-url.js'

const toTheProxy: Path = [[proxyAddress], [proxyProtocol]]

const toTheCluster: Path = [[optionsGiven], [hostNames], ...toTheProxy, [connection]]

const wholeCluster: Path = [...toTheCluster, [egress, filter, nodes, pastProxy], [privileges], [writeCheck], [latency]]

const toTheInstance: Path = [[optionsGiven], ...toTheProxy, [instanceConnection], [instanceAwake, egress]]

const intoTheInstance: Path = [[instanceLogin], [instanceTable], [instanceNodes]]

/** Diagnoses as `diagnose` does, and asks when the API key expires. */
export async function diagnoseForWatch(options: DoctorOptions, tools: Tools = {}): Promise<DoctorReport> {
  const path = pathFor(options)
  return await walk(options, hasCluster(options) ? [...path, [keyExpiry]] : path, tools)
}

/**
 * Diagnoses the path to a cluster, to a ServiceNow instance, or to both. Sends no document, unless `writeCheck` is
 * set. If a proxy is set, it sends a few GET / without credentials past it: one to see whether the cluster answers,
 * and five more for the latency if it does. `directCheck: false` leaves them out. Every problem is a finding, also in
 * the options. It throws only the signal's reason for an abort.
 */
export async function diagnose(options: DoctorOptions, tools: Tools = {}): Promise<DoctorReport> {
  return await walk(options, pathFor(options), tools)
}

/** Diagnoses only the address and the protocol of the proxy. The cluster may be unknown, and sees nothing. */
export async function diagnoseProxy(options: DoctorOptions, tools: Tools = {}): Promise<DoctorReport> {
  const { url, cloudId } = options.target
  const target = url === undefined && cloudId === undefined ? { url: 'https://localhost' } : options.target
  return await walk({ ...options, target, servicenow: undefined }, [[optionsGiven], ...toTheProxy], tools)
}

function pathFor(options: DoctorOptions): Path {
  if (options.servicenow === undefined) return [...wholeCluster, [clockSkew]]
  const door = [instanceDoor, instancePast]
  if (!hasCluster(options)) return [...toTheInstance, door, ...intoTheInstance, [clockSkew]]
  // The probe of the cluster's route makes the address check.
  return [...wholeCluster, [instanceConnection], [instanceAwake], door, ...intoTheInstance, [clockSkew]]
}

export interface Cause {
  /** The cause. If the obstacle is gone, the refusal itself, with a note about that. */
  readonly finding: Finding
  readonly next?: string | undefined
  /** The obstacle was gone at the second look. */
  readonly isOver: boolean
  readonly requests: DoctorReport['requests']
}

const toTheTable: Path = [...toTheInstance, [instanceDoor], ...intoTheInstance, [clockSkew]]

/** Leaves out the login, which a load has already tried: an instance may lock an account after several refused attempts. */
const withoutLogin: Path = [...toTheInstance, [instanceDoor], [instanceNodes]]
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
  servicenow: toTheTable,
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
    ? await walk({ ...options, target: {} }, isLogin ? withoutLogin : toTheTable, tools)
    : await walk({ ...options, servicenow: undefined }, path, tools)
  const cause = findings.find(isCause)
  if (cause !== undefined) return { finding: cause, next, isOver: false, requests }
  if (isLogin) return undefined
  const now =
    'When Sluice checked again, nothing refused the request. Run the same command again. It continues where it stopped'
  return { finding: finding('error', refusal, now), isOver: true, requests }
}

/** A refusal of the proxy names the target. */
function leadsToInstance({ evidence }: Failure, { servicenow }: DoctorOptions): boolean {
  const url = String(servicenow?.url ?? '')
  return URL.canParse(url) && evidence['target'] === authorityOf(new URL(url))
}

/** A filter that is not enforced refused nothing, and a load does not use the nodes of `--nodes`. */
function isCause({ severity, code, evidence }: Finding): boolean {
  if (code === 'FILTER_NOT_ENFORCED' || evidence['origin'] === '--nodes') return false
  return severity === 'error'
}
