/**
 * Walks the path that a load takes, layer by layer, and names what is in the way: the options, the proxy and its two addresses, the
 * cluster through it, and, because a success through the proxy is only half the check, the cluster without it. Then the same for the
 * service-management platform, where one is set: its addresses, its logins, its tables.
 */
import type { DoctorOptions } from './doctor-options.js'
import { clockSkew } from './probes/way/clock-skew.js'
import { connection, instanceConnection } from './probes/way/connection.js'
import { egress } from './probes/way/egress.js'
import { filter } from './probes/cluster/filter.js'
import { hostNames, optionsGiven } from './probes/way/options-given.js'
import { instanceAwake } from './probes/instance/instance-awake.js'
import { instanceDoor } from './probes/instance/instance-door.js'
import { instanceLogin } from './probes/instance/instance-login.js'
import { instanceNodes, nodes } from './probes/way/nodes.js'
import { instancePast, pastProxy } from './probes/way/past-proxy.js'
import { instanceTable } from './probes/instance/instance-table.js'
import { latency } from './probes/way/latency.js'
import { privileges } from './probes/cluster/privileges.js'
import { proxyAddress } from './probes/way/proxy-address.js'
import { proxyProtocol } from './probes/way/proxy-protocol.js'
import { writeCheck } from './probes/cluster/write-check.js'
import type { DoctorReport } from './report.js'
import { hasCluster, type Path, type Tools, walk } from './walk.js'

const toTheProxy: Path = [[proxyAddress], [proxyProtocol]]

const toTheCluster: Path = [
  [optionsGiven],
  [hostNames],
  ...toTheProxy,
  [connection],
  [egress, filter, nodes, pastProxy],
  [privileges],
  [writeCheck],
  [latency],
]

/** Behind the proxy. */
const toTheInstance: Path = [
  [instanceConnection],
  [instanceAwake],
  [instanceDoor, instancePast],
  [instanceLogin],
  [instanceTable],
  [instanceNodes],
]

/** What both have in common is asked once. */
function pathFor(options: DoctorOptions): Path {
  if (options.servicenow === undefined) return [...toTheCluster, [clockSkew]]
  if (hasCluster(options)) return [...toTheCluster, ...toTheInstance, [clockSkew]]
  const [connecting = [], awake = [], ...rest] = toTheInstance
  return [[optionsGiven], ...toTheProxy, connecting, [...awake, egress], ...rest, [clockSkew]]
}

/**
 * Diagnoses the way to a cluster, to an instance of the service-management platform, or to both. Sends no document, unless `writeCheck` is set. Past a proxy that is set go a few GET / without
 * credentials, and nothing else: one to see whether the cluster answers, and where it does, five more for the latency.
 * `directCheck: false` leaves all of them out. Whatever is wrong, with the options too, is a finding: it throws the signal's reason
 * for an abort, and nothing else.
 */
export async function diagnose(options: DoctorOptions, tools: Tools = {}): Promise<DoctorReport> {
  return await walk(options, pathFor(options), tools)
}
