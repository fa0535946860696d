import { isIPv4 } from 'node:net'
import { failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'
import { proxyRefusal } from '../proxy/proxy-answer.js'
import type { Route } from '../proxy/route.js'
import { ask } from './ask.js'

/** Source addresses as the egress check saw them, and how often each. */
export type EgressSeen = Readonly<Record<string, number>>

export interface EgressCheckOptions {
  /** Fresh connections at the most; fewer when two addresses were seen. */
  readonly connections: number
  readonly timeoutMs: number
  /** The dashboard's pair. An address outside it is EGRESS_UNEXPECTED. */
  readonly staticIps?: readonly string[]
  readonly signal?: AbortSignal
}

/**
 * Asks the egress-IP check on fresh connections which addresses requests leave from. An answer that is not exactly one IPv4
 * address does not count. Throws SluiceError EGRESS_UNEXPECTED, or what stood in the way.
 */
export async function checkEgress(route: Route, options: EgressCheckOptions): Promise<EgressSeen> {
  const seen: Record<string, number> = {}
  for (let asked = 0; asked < options.connections && Object.keys(seen).length < 2; asked += 1) {
    const address = await askAddress(route, options)
    if (address !== undefined) seen[address] = (seen[address] ?? 0) + 1
  }
  const expected = options.staticIps ?? []
  const strangers = Object.keys(seen).filter(address => !expected.includes(address))
  if (expected.length > 0 && strangers.length > 0) {
    throw new SluiceError(failure('EGRESS_UNEXPECTED', { seen: strangers, expected }))
  }
  return seen
}

/** One question on a fresh connection; undefined for an answer that is not exactly one IPv4 address. Throws SluiceError. */
export async function askAddress(
  route: Route,
  options: Pick<EgressCheckOptions, 'timeoutMs' | 'signal'>,
): Promise<string | undefined> {
  const { pathname, search } = route.target
  const answer = await ask(route, {
    method: 'GET',
    path: pathname + search,
    headers: {},
    timeoutMs: options.timeoutMs,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  if ('code' in answer) throw new SluiceError(answer)
  const refused = proxyRefusal(answer, route)
  if (refused !== undefined) throw new SluiceError(refused)
  if (answer.statusCode !== 200) return undefined
  try {
    const { ip } = JSON.parse(answer.body.toString('utf8')) as { ip?: unknown }
    return typeof ip === 'string' && isIPv4(ip) ? ip : undefined
  } catch {
    return undefined
  }
}
