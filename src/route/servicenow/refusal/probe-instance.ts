import { type Failure, failure, SluiceError, isSluiceError } from '../../../base/failure/failure.js'
import { missChance } from '../../proxy/fresh-connections.js'
import { type AnswersSeen, lookIn } from './look-in.js'
import { type ComparisonMeans, tellApart } from './tell-apart.js'

/** The instance accepted every connection and the credentials. */
export interface InstancePreflight {
  /** Fresh connections. */
  readonly probes: number
  /** Chance, from 0 to 1, that the instance still refuses one of the two addresses. */
  readonly missChance: number
}

export interface Probing {
  /** Fresh connections that have to agree. Default 16. Without a proxy: 1. */
  readonly connections?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Checks on fresh connections that the instance accepts both addresses and the credentials. Throws SluiceError:
 * SERVICENOW_PARTLY_ALLOWED, SERVICENOW_ADDRESS_REFUSED, SERVICENOW_AUTH_REJECTED, or a failure of the route.
 */
export async function probeInstance(means: ComparisonMeans, options: Probing = {}): Promise<InstancePreflight> {
  const { signal } = options
  const connections = means.line.route.proxy === undefined ? 1 : Math.max(1, options.connections ?? 16)
  const first = await look(means, connections, signal)
  if (!('code' in first)) return first
  const told = await tellApart(means, first, { connections, signal })
  // The refusal may have passed.
  const last = told ?? (await look(means, connections, signal))
  if ('code' in last) throw new SluiceError(last)
  return last
}

async function look(
  means: ComparisonMeans,
  most: number,
  signal: AbortSignal | undefined,
): Promise<InstancePreflight | Failure> {
  const { line, session } = means
  const lookWith = async (authorization: string) =>
    await lookIn(line, { most, authorization, isSettled: seen => !isClean(seen), signal })
  let seen: AnswersSeen
  try {
    const authorization = await session.authorization(signal)
    seen = await lookWith(authorization)
    // A kept token may have been revoked.
    const isRefused = seen.known === 0 && seen.unknown > 0
    const another = isRefused ? await session.another(authorization, signal) : undefined
    if (another !== undefined) seen = await lookWith(another)
  } catch (error) {
    if (!isSluiceError(error) || error.code === 'RUN_INTERRUPTED') throw error
    return error.failure
  }
  const { asked, known, first } = seen
  const refused = first.credentials ?? first.address
  if (refused === undefined) return { probes: asked, missChance: missChance(line.route.proxy, asked) }
  // The instance accepted some with the same credentials, so it refused the others for their address.
  return known > 0 ? failure('SERVICENOW_PARTLY_ALLOWED', { instance: line.instance, allowed: known, asked }) : refused
}

function isClean({ refusedAddress, unknown }: AnswersSeen): boolean {
  return refusedAddress === 0 && unknown === 0
}
