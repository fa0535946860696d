import type { Socket } from 'node:net'
import { staticPair } from '../egress.js'
import type { FaultPlan } from '../faults.js'
import type { Arrival } from '../listener.js'
import type { Credentials } from './credentials.js'
import type { Refusal } from './refusal.js'

/** Facts that the handlers of every port share. */
export interface Route {
  readonly credentials: Credentials
  readonly faults: FaultPlan
  readonly connectTimeoutMs: number
  readonly egressPer: 'connection' | 'upstream'
  /** Hears of each request that the proxy refuses. SOCKS5 has no status. */
  refused(arrival: Arrival, request: string, refusal: Omit<Refusal, 'status'> & { readonly status?: number }): void
  /** Chooses an address again. Undefined if every node is down. */
  choose(): string | undefined
  /** Opens a connection to a target from one of the static addresses. Undefined if its node is down. */
  connect(host: string, port: number, address: string | undefined): Socket | undefined
}

/** Whether the node with this address is up. */
export function isUp(address: string, faults: FaultPlan): boolean {
  const down = faults.current.nodeDown
  return down === undefined || address !== staticPair[down.node === 'first' ? 0 : 1]
}
