import { SURE } from '../../proxy/fresh-connections.js'
import { RouteError } from '../../proxy/route-error.js'
import type { Context, OtherRoute, Probe } from '../context.js'
import type { LatencySeen } from '../facts.js'
import { pathProblem } from '../obstacles.js'
import { percent } from '../../../base/text/shown.js'

/** The first builds the connection. The others are timed. */
export const ROUND_TRIPS = 5

/** Duration of the bulk request that the share refers to. */
const BULK_MS = 1_000

/** Measurements differ by smaller shares. */
const WORTH_TELLING = 0.03

/** Measures what the proxy adds to a round trip: GET / without credentials on an open connection. */
export const latency: Probe = {
  name: 'latency',
  leaveOut: ({ way }, facts) => {
    if (way.proxy === undefined) return 'no proxy is set'
    if (facts.filter?.failure !== undefined) return 'the cluster does not answer'
    return pathProblem(facts)
  },
  look: async (context, { past }) => {
    const throughMs = await shortest(context)
    if (throughMs === undefined) return { detail: 'the proxy closes connections too early to measure' }
    const isReachable = past !== undefined && past.verdict !== 'unreachable' && past.status !== undefined
    const directMs = isReachable ? await shortest(context, { proxy: 'none' }) : undefined
    const seen = compare(throughMs, directMs)
    return { detail: tell(seen), facts: { latency: seen } }
  },
}

function compare(throughMs: number, directMs: number | undefined): LatencySeen {
  const seen = { throughMs: rounded(throughMs) }
  if (directMs === undefined) return seen
  const addedMs = Math.max(0, throughMs - directMs)
  return { ...seen, directMs: rounded(directMs), addedMs: rounded(addedMs), share: addedMs / (BULK_MS + addedMs) }
}

/** Returns milliseconds, or undefined if requests fail or each one needs a new connection. */
async function shortest(context: Context, to: OtherRoute = {}): Promise<number | undefined> {
  const { clock, limitMs, signal, prefix } = context
  await using route = context.openRoute(to)
  // One of two nodes may fail. Only the time of what works counts.
  route.adapt({ connections: 1, attempts: SURE })
  const times: number[] = []
  try {
    for (let at = 0; at < ROUND_TRIPS; at += 1) {
      const startedAt = clock.now()
      const request = { method: 'GET', path: `${prefix}/`, headers: { accept: 'application/json' } }
      const { body } = await route.request({ ...request, timeoutMs: limitMs, signal })
      await body.bytes()
      if (at > 0) times.push(clock.now() - startedAt)
    }
  } catch (error) {
    if (error instanceof RouteError && error.code !== 'ABORTED') return undefined
    throw error
  }
  return route.traffic.connections > 1 ? undefined : Math.min(...times)
}

function rounded(ms: number): number {
  return ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)
}

function tell({ throughMs, directMs, addedMs, share }: LatencySeen): string {
  if (directMs === undefined || addedMs === undefined || share === undefined) {
    return `a round trip takes ${throughMs} ms through the proxy, and cannot be measured without it`
  }
  const told = share < WORTH_TELLING ? '' : `: ${percent(share)} of the time of a bulk request that takes a second`
  return `a round trip takes ${throughMs} ms through the proxy, ${directMs} ms without${told}`
}

/** A Date header counts whole seconds, and an answer takes its time. */
const EXACT_MS = 2_000

export const clockSkew: Probe = {
  name: 'clock',
  isPure: true,
  leaveOut: ({ skews }) => (skews.length === 0 ? 'no answer had a Date header' : undefined),
  look: ({ skews }) => {
    // The cluster's clock counts before the proxy's.
    const clock = skews.find(({ comparedWith }) => comparedWith === 'the cluster') ?? skews[0]
    if (clock === undefined) throw new Error('compared a clock with nothing')
    const { skewMs, comparedWith } = clock
    const apart = `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} that of ${comparedWith}`
    return { detail: Math.abs(skewMs) <= EXACT_MS ? `the same as ${comparedWith}` : apart, facts: { clock } }
  },
}
