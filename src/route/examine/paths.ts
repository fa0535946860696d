/** The probes of each question, layer by layer in the order of the path. */
import { clockSkew, latency } from './way/latency.js'
import { connection, instanceConnection } from './way/connection.js'
import { egress } from './way/egress.js'
import { filter } from './cluster/filter.js'
import { hostNames, optionsGiven } from './way/options-given.js'
import { instanceAwake, instanceDoor } from './instance/instance-door.js'
import { instanceLogin } from './instance/instance-login.js'
import { instanceNodes, nodes } from './way/nodes.js'
import { instancePast, pastProxy } from './way/past-proxy.js'
import { instanceTable } from './instance/instance-table.js'
import { keyExpiry } from './cluster/key-expiry.js'
import { privileges } from './cluster/privileges.js'
import { proxyAddress, proxyProtocol } from './way/proxy-port.js'
import { writeCheck } from './cluster/write-check.js'
import type { Probe } from './context.js'
import type { DoctorOptions } from './examine-options.js'
import type { Entry } from '../../base/failure/failure.js'

/** Probes of one row run side by side. */
export type Path = readonly (readonly Probe[])[]

/** What to look for: what a load meets, that and what a watch looks at, or only the proxy. */
export type Question = 'load' | 'watch' | 'proxy'

const toTheProxy: Path = [[proxyAddress], [proxyProtocol]]

const toTheCluster: Path = [[optionsGiven], [hostNames], ...toTheProxy, [connection]]

const wholeCluster: Path = [...toTheCluster, [egress, filter, nodes, pastProxy], [privileges], [writeCheck], [latency]]

const toTheInstance: Path = [[optionsGiven], ...toTheProxy, [instanceConnection], [instanceAwake, egress]]

const intoTheInstance: Path = [[instanceLogin], [instanceTable], [instanceNodes]]

const toTheTable: Path = [...toTheInstance, [instanceDoor], ...intoTheInstance, [clockSkew]]

/** Leaves out the login, which a load has already tried: an instance may lock an account after several refused attempts. */
const withoutLogin: Path = [...toTheInstance, [instanceDoor], [instanceNodes]]
/** The probes that tell the causes of a refusal apart, by who refused. */
const byStage: Partial<Record<Entry['stage'], Path>> = {
  proxy: [...toTheCluster, [egress, filter], [clockSkew]],
  egress: [...toTheCluster, [egress, filter, nodes, pastProxy]],
  cluster: [...toTheCluster, [egress, filter, nodes], [privileges], [clockSkew]],
  index: [...toTheCluster, [filter], [privileges]],
  servicenow: toTheTable,
}

export function pathFor(question: Question, options: DoctorOptions): Path {
  if (question === 'proxy') return [[optionsGiven], ...toTheProxy]
  const path = wholePath(options)
  return question === 'watch' && hasCluster(options) ? [...path, [keyExpiry]] : path
}

/** Returns the probes that tell the causes of a refusal apart. Undefined: none helps. `isLogin`: it refused the login. */
export function pathOfRefusal(stage: Entry['stage'], isLogin: boolean): Path | undefined {
  return stage === 'servicenow' && isLogin ? withoutLogin : byStage[stage]
}

function wholePath(options: DoctorOptions): Path {
  if (options.servicenow === undefined) return [...wholeCluster, [clockSkew]]
  const door = [instanceDoor, instancePast]
  if (!hasCluster(options)) return [...toTheInstance, door, ...intoTheInstance, [clockSkew]]
  // The probe of the cluster's route makes the address check.
  return [...wholeCluster, [instanceConnection], [instanceAwake], door, ...intoTheInstance, [clockSkew]]
}

/** Returns whether a cluster is checked: yes, unless only an instance is set. */
export function hasCluster({ target: { url, cloudId }, servicenow }: DoctorOptions): boolean {
  return url !== undefined || cloudId !== undefined || servicenow === undefined
}
