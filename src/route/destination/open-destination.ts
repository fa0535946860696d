/** Opens the destination that somebody names. */
import type { TunnelEnd } from '../../base/addresses.js'
import { fail } from '../../base/failure/failure.js'
import type { ConnectSection } from '../../options/load.js'
import type { InstanceOptions } from '../connect/open-servicenow.js'
import { type OpenDestination, openRaw } from './destination.js'
import { openClusterDestination } from './open-cluster-destination.js'
import { openInstanceDestination } from './open-instance-destination.js'

interface Opening {
  /** Needed if the destination is the instance. */
  readonly instance?: InstanceOptions | undefined
  readonly signal?: AbortSignal | undefined
}

/** Throws SluiceError: OPTION_INVALID, PROXY_*, and what a load or a pull finds before its first document. */
export async function openDestination(
  to: TunnelEnd['to'],
  connecting: ConnectSection,
  { instance, signal }: Opening,
): Promise<OpenDestination> {
  if (to === 'cluster') return await openClusterDestination(connecting, signal)
  if (to !== 'servicenow') return await openRaw(to, connecting, signal)
  if (instance === undefined) throw fail('OPTION_INVALID', { option: 'servicenow.url', problem: 'is not set' })
  return await openInstanceDestination(instance, connecting, signal)
}
