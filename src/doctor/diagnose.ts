/**
 * Walks the path of a load layer by layer and names the obstacles: the options, the proxy and its two addresses, the
 * cluster through it. Success through the proxy is only half the check, so it also asks the cluster without the
 * proxy. Then the same for ServiceNow, if it is set: addresses, logins, tables.
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

/** Starts at the proxy. */
const toTheInstance: Path = [
  [instanceConnection],
  [instanceAwake],
  [instanceDoor, instancePast],
  [instanceLogin],
  [instanceTable],
  [instanceNodes],
]

/** Asks only once for what both paths share. */
function pathFor(options: DoctorOptions): Path {
  if (options.servicenow === undefined) return [...toTheCluster, [clockSkew]]
  if (hasCluster(options)) return [...toTheCluster, ...toTheInstance, [clockSkew]]
  const [connecting = [], awake = [], ...rest] = toTheInstance
  return [[optionsGiven], ...toTheProxy, connecting, [...awake, egress], ...rest, [clockSkew]]
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
