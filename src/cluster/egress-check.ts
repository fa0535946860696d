import { isIPv4 } from 'node:net'
import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'
import { proxyRefusal } from '../proxy/proxy-answer.js'
import type { Route } from '../proxy/route.js'
import { parseObject } from '../text/parse-json.js'
import { ask } from './request.js'

/** The source addresses that the egress check saw, each with its count. */
export type EgressSeen = Readonly<Record<string, number>>

export interface EgressCheckOptions {
  /** Most fresh connections. Fewer are enough once two addresses were seen. */
  readonly connections: number
  readonly timeoutMs: number
  /** The dashboard's pair. An address outside it is EGRESS_UNEXPECTED. */
  readonly staticIps?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
  /** Reports answers without an address: once, in a sentence, after the last of them. */
  onDoubt?(observed: string): void
}

/**
 * Asks the egress-IP check on fresh connections which addresses requests leave from. An answer that is not exactly one IPv4
 * address does not count. Throws SluiceError EGRESS_UNEXPECTED, or the failure of the route.
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
  readonly address?: string | undefined
  /** The address, or the answer that was none. */
  readonly observed: string
}

/** Asks once on a fresh connection. Throws SluiceError. */
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
