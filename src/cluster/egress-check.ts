import { isIPv4 } from 'node:net'
import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'
import { proxyRefusal } from '../proxy/proxy-answer.js'
import type { Route } from '../proxy/route.js'
import { parseObject } from '../text/json.js'
import { ask } from './request.js'

/** Source addresses as the egress check saw them, and how often each. */
export type EgressSeen = Readonly<Record<string, number>>

export interface EgressCheckOptions {
  /** Fresh connections at the most; fewer when two addresses were seen. */
  readonly connections: number
  readonly timeoutMs: number
  /** The dashboard's pair. An address outside it is EGRESS_UNEXPECTED. */
  readonly staticIps?: readonly string[]
  readonly signal?: AbortSignal
  /** Answers came that held no address: told once, in a sentence, after the last of them. They vouch for nothing. */
  onDoubt?(observed: string): void
}

/**
 * Asks the egress-IP check on fresh connections which addresses requests leave from. An answer that is not exactly one IPv4
 * address does not count. Throws SluiceError EGRESS_UNEXPECTED, or what stood in the way.
 */
export async function checkEgress(route: Route, options: EgressCheckOptions): Promise<EgressSeen> {
  const seen: Record<string, number> = {}
  const without: string[] = []
  let asked = 0
  for (; asked < options.connections && Object.keys(seen).length < 2; asked += 1) {
    const { address, observed } = await askAddress(route, options)
    if (address === undefined) without.push(observed)
    else seen[address] = (seen[address] ?? 0) + 1
  }
  const expected = options.staticIps ?? []
  const strangers = Object.keys(seen).filter(address => !expected.includes(address))
  if (expected.length > 0 && strangers.length > 0) {
    throw fail('EGRESS_UNEXPECTED', { seen: strangers, expected })
  }
  if (without.length > 0) {
    const times = `${without.length} of ${asked} times`
    options.onDoubt?.(
      `the egress check ${route.target.origin} answered without an address ${times} (${without.at(-1)})`,
    )
  }
  return seen
}

interface Asked {
  readonly address?: string
  /** The address, or what the answer was instead. */
  readonly observed: string
}

/** One question on a fresh connection. Throws SluiceError. */
export async function askAddress(
  route: Route,
  options: Pick<EgressCheckOptions, 'timeoutMs' | 'signal'>,
): Promise<Asked> {
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
  if (answer.statusCode !== 200) return { observed: `status ${answer.statusCode}` }
  const ip = parseObject(answer.body)?.['ip']
  if (typeof ip === 'string' && isIPv4(ip)) return { address: ip, observed: ip }
  return { observed: 'no IPv4 address as "ip" of a JSON object' }
}
