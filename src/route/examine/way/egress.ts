import { askAddress, countEgress } from '../../cluster/egress-check.js'
import type { Context, Probe } from '../context.js'
import type { EgressFacts } from '../facts.js'
import { orFailure } from '../means.js'
import { loginProblem } from '../obstacles.js'
import { percent } from '../../../base/text/shown.js'
import { askInWaves } from '../../proxy/fresh-connections.js'

/** Finds the egress addresses. Asks on all connections, because a third address may show in one of many. */
export const egress: Probe = {
  name: 'addresses behind the proxy',
  leaveOut: ({ options, way }, facts) => {
    if (options.connecting.ipCheckUrl === undefined) return 'no address check is set (IP_CHECK_URL)'
    return way.proxy === undefined ? 'no proxy is set' : loginProblem(facts)
  },
  look: async context => {
    const { ipCheckUrl, staticIps } = context.options.connecting
    if (ipCheckUrl === undefined) return { detail: 'no address check is set' }
    const found = await seeAddresses(context, ipCheckUrl)
    const { seen, missChance, failure, asked, instead = '' } = found
    const told = Object.entries(seen).map(([address, times]) => `${address} (${times}x)`)
    const strangers = Object.keys(seen).filter(address => staticIps?.includes(address) === false)
    const alone = missChance === undefined ? '' : `. Chance that another address is in use: ${percent(missChance)}`
    const none = `the check answered ${asked} times without an address (${instead})`
    return {
      detail: failure?.message ?? (told.length === 0 ? none : told.join(', ') + alone),
      failed: failure !== undefined || told.length === 0 || strangers.length > 0,
      facts: { egress: found },
    }
  },
}

async function seeAddresses({ openRoute, limitMs, signal, connections }: Context, target: URL): Promise<EgressFacts> {
  await using route = openRoute({ target })
  const ask = async () => await orFailure(askAddress(route, { timeoutMs: limitMs, signal }))
  const shown = await askInWaves({
    most: connections,
    // One of many connections may leave from a third address.
    ask,
    // An answer without an address comes from the check itself, whatever node led to it.
    isSettled: soFar => soFar.length > 1 && soFar.every(one => 'given' in one && one.given.address === undefined),
  })
  const given = shown.flatMap(one => ('given' in one ? [one.given] : []))
  const seen = countEgress(given)
  const times = Object.values(seen)
  // A proxy that forwards may use one connection of its own for all requests.
  const isTelling = route.form === 'tunnel' && times.length === 1
  const failed = shown.find(one => 'failure' in one)
  return {
    seen,
    asked: shown.length,
    missChance: isTelling ? 2 ** (1 - (times[0] ?? 1)) : undefined,
    instead: given.find(({ address }) => address === undefined)?.observed,
    ...(failed === undefined || given.length > 0 ? {} : { failure: failed.failure }),
  }
}
