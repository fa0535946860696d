import { askAddress } from '../../../cluster/egress-check.js'
import { isSluiceError } from '../../../failure/sluice-error.js'
import type { Context, Probe } from '../../context.js'
import type { EgressFacts } from '../../way-facts.js'
import { percent } from '../../report.js'
import { loginProblem } from '../../facts.js'

/** Fresh connections at once: most checks are over with the first few. */
const WAVE = 3

/** Finds the egress addresses. Asks until both are seen, or until the absence of the second is significant. */
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
  const seen: Record<string, number> = {}
  let asked = 0
  let instead: string | undefined
  try {
    while (asked < connections && Object.keys(seen).length < 2) {
      const size = Math.min(WAVE, connections - asked)
      asked += size
      for (const one of await Promise.all(
        Array.from({ length: size }, () => askAddress(route, { timeoutMs: limitMs, signal })),
      )) {
        if (one.address !== undefined) seen[one.address] = (seen[one.address] ?? 0) + 1
        else instead = one.observed
      }
      // After three answers without an address, more requests will not help.
      if (Object.keys(seen).length === 0) break
    }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { seen, asked, failure: error.failure }
  }
  const times = Object.values(seen)
  // A proxy that forwards may use one connection of its own for all requests.
  const isTelling = route.form === 'tunnel' && times.length === 1
  return {
    seen,
    asked,
    missChance: isTelling ? 2 ** (1 - (times[0] ?? 1)) : undefined,
    instead,
  }
}
