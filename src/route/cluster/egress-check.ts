import { isIPv4 } from 'node:net'
import { type Failure, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import { askInWaves, FIRST_WAVES, manyListeners } from '../proxy/fresh-connections.js'
import { proxyRefusal } from '../proxy/proxy-answer.js'
import type { Route } from '../proxy/route.js'
import { parseObject } from '../../base/json/parse-json.js'
import { ask } from './request.js'
import { nameStrangers } from '../../base/addresses.js'

/** The source addresses that the egress check saw, each with its count. */
export type EgressSeen = Readonly<Record<string, number>>

export interface EgressCheck {
  readonly seen: EgressSeen
  /** EGRESS_UNEXPECTED: some addresses are not the dashboard's. */
  readonly strangers?: Failure
  /** Sentences about what is odd, and about what the check could not show. */
  readonly doubts: readonly string[]
}

interface EgressCheckOptions {
  /** Fresh connections. All of them are asked, because a third address may show in one of many. */
  readonly connections: number
  readonly timeoutMs: number
  /** The dashboard's pair. An address outside it is EGRESS_UNEXPECTED. */
  readonly staticIps?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
}

/** If none of so many requests shows an address, more will not. */
const ENOUGH = FIRST_WAVES.at(-1) ?? 1

interface Shown {
  readonly address?: string
  /** The address, or what came instead. */
  readonly observed: string
}

/**
 * Asks the egress-IP check on fresh connections which addresses requests leave from. An answer that is not exactly one IPv4
 * address does not count, and a failure is only a doubt: no load needs the check. Throws an abort.
 */
export async function checkEgress(route: Route, given: EgressCheckOptions): Promise<EgressCheck> {
  const options = { ...given, signal: given.signal && manyListeners(given.signal) }
  const shown = await askInWaves<Shown>({
    most: options.connections,
    ask: async () => await showAddress(route, options),
    isSettled: answers => answers.length >= ENOUGH && answers.every(({ address }) => address === undefined),
  })
  const seen = countEgress(shown)
  const strangers = nameStrangers(seen, options.staticIps)
  const without = shown.filter(({ address }) => address === undefined)
  const times = `${without.length} of ${shown.length} times`
  const isUnknown = `showed no address ${times} (${without.at(-1)?.observed})`
  const addresses = Object.keys(seen)
  return {
    seen,
    ...(strangers === undefined ? {} : { strangers }),
    doubts: [
      ...(strangers === undefined ? [] : [strangers.message]),
      ...(strangers === undefined && addresses.length > 2 ? [tellMany(addresses)] : []),
      ...(without.length === 0
        ? []
        : [
            `the address check ${route.target.origin} ${isUnknown}, so Sluice does not know which address these requests left from`,
          ]),
    ],
  }
}

export function tellMany(addresses: readonly string[]): string {
  return `requests leave from ${addresses.length} addresses (${addresses.join(', ')}), but a static-IP proxy has two`
}

export function countEgress(shown: readonly { readonly address?: string }[]): EgressSeen {
  const seen: Record<string, number> = {}
  for (const { address } of shown) if (address !== undefined) seen[address] = (seen[address] ?? 0) + 1
  return seen
}

async function showAddress(route: Route, options: EgressCheckOptions): Promise<Shown> {
  try {
    return await askAddress(route, options)
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { observed: error.message }
  }
}

/** Asks once on a fresh connection. `observed`: the address, or the answer that was none. Throws SluiceError. */
export async function askAddress(
  route: Route,
  { timeoutMs, signal }: Pick<EgressCheckOptions, 'timeoutMs' | 'signal'>,
): Promise<Shown> {
  const { pathname, search } = route.target
  const answer = await ask(route, { path: pathname + search, timeoutMs, signal })
  if ('code' in answer) throw new SluiceError(answer)
  const refused = proxyRefusal(answer, route)
  if (refused !== undefined) throw new SluiceError(refused)
  if (answer.statusCode !== 200) return { observed: `status ${answer.statusCode}` }
  const ip = parseObject(answer.body)?.['ip']
  if (typeof ip === 'string' && isIPv4(ip)) return { address: ip, observed: ip }
  return { observed: 'no IPv4 address as "ip" of a JSON object' }
}
