import { failure } from '../failure/failure.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import { type Seen, lookIn } from './look-in.js'
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
  const { line, session } = means
  const { signal } = options
  const most = line.route.proxy === undefined ? 1 : Math.max(1, options.connections ?? 16)
  const authorization = await session.authorization(signal).catch(async (error: unknown) => {
    if (!isSluiceError(error)) throw error
    throw new SluiceError(await tellApart(means, error.failure, { connections: most, signal }), { cause: error })
  })
  const look = async (value: string) =>
    await lookIn(line, { most, authorization: value, isSettled: seen => !isClean(seen), signal })
  let seen = await look(authorization)
  if (seen.known === 0 && seen.unknown > 0) {
    // A token that was kept may have been revoked since.
    const another = await session.another(authorization, signal)
    if (another !== undefined) seen = await look(another)
  }
  if (isClean(seen)) {
    return { probes: seen.asked, missChance: line.route.proxy === undefined ? 0 : 2 ** -seen.asked }
  }
  const { asked, known, first } = seen
  // Some were let in with the same credentials: the others were refused for their address.
  if (known > 0 || (seen.letIn > 0 && seen.refusedAddress > 0)) {
    throw new SluiceError(failure('SERVICENOW_PARTLY_ALLOWED', { instance: line.instance, allowed: known, asked }))
  }
  const refused = first?.credentials ?? first?.address
  if (refused === undefined) throw new Error('a probe was refused by nobody')
  throw new SluiceError(await tellApart(means, refused, { connections: most, signal }))
}

function isClean({ refusedAddress, unknown }: Seen): boolean {
  return refusedAddress === 0 && unknown === 0
}
