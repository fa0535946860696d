import { type Failure, failure } from '../../failure/failure.js'
import { SluiceError, isSluiceError } from '../../failure/sluice-error.js'
import { missChance } from '../../proxy/fresh-connections.js'
import { type AnswersSeen, lookIn } from './look-in.js'
import { type Means, tellApart } from './tell-apart.js'

/** What a preflight found: every connection was let in, and whoever asks is known. */
export interface InstancePreflight {
  /** Fresh connections that were let in. */
  readonly probes: number
  /** From 0 to 1: that one of two addresses is refused all the same, each connection choosing either at random. */
  readonly missChance: number
}

export interface Probing {
  /** Fresh connections that have to agree. Default 16; without a proxy it is one. */
  readonly connections?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Is the way open, for both addresses, and are the credentials good? Asked with fresh connections, until one of them is refused or
 * all agree. Throws SluiceError: SERVICENOW_PARTLY_ALLOWED,
 * SERVICENOW_ADDRESS_REFUSED, SERVICENOW_AUTH_REJECTED, or what else stands in the way.
 */
export async function probeInstance(means: Means, options: Probing = {}): Promise<InstancePreflight> {
  const { signal } = options
  const connections = means.line.route.proxy === undefined ? 1 : Math.max(1, options.connections ?? 16)
  const first = await look(means, connections, signal)
  if (!('code' in first)) return first
  const told = await tellApart(means, first, { connections, signal })
  // Where it has passed: once more.
  const last = told ?? (await look(means, connections, signal))
  if ('code' in last) throw new SluiceError(last)
  return last
}

async function look(means: Means, most: number, signal: AbortSignal | undefined): Promise<InstancePreflight | Failure> {
  const { line, session } = means
  const lookWith = async (authorization: string) =>
    await lookIn(line, { most, authorization, isSettled: seen => !isClean(seen), signal })
  let seen: AnswersSeen
  try {
    const authorization = await session.authorization(signal)
    seen = await lookWith(authorization)
    // A token that was kept may have been revoked since.
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
  // Some were let in with the same credentials: the others were refused for their address.
  return known > 0 ? failure('SERVICENOW_PARTLY_ALLOWED', { instance: line.instance, allowed: known, asked }) : refused
}

function isClean({ refusedAddress, unknown }: AnswersSeen): boolean {
  return refusedAddress === 0 && unknown === 0
}
