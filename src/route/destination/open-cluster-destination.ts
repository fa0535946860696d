import { nameRefusal, whoAnswered } from '../cluster/answers.js'
import { attemptsOver } from '../cluster/ask-connections.js'
import { authorization, refusePlaintext } from '../cluster/credentials.js'
import { openTarget, resolveTarget } from '../connect/open-target.js'
import type { ConnectSection } from '../../options/load.js'
import { openRawTunnels } from '../proxy/raw-tunnels.js'
import { MOST_REQUESTS, type RequestRoute, sum, wayTo } from './request-route.js'

/** Opens the cluster as a load does. Tools may bring credentials of their own. Throws SluiceError: see `openTarget`. */
export async function openClusterDestination(connecting: ConnectSection, signal: AbortSignal | undefined) {
  const resolved = resolveTarget(connecting)
  const { url: target, credentials } = resolved
  const raw = wayTo(target, connecting)
  const isLoginOptional = credentials === undefined
  const { cluster } = await openTarget({ ...connecting, concurrency: MOST_REQUESTS }, signal, { isLoginOptional })
  const { route, display, preflight, warnings } = cluster
  const tunnels = openRawTunnels(raw)
  tunnels.adapt({ attempts: attemptsOver(preflight.half?.code) })
  const login = authorization(credentials)
  const { allowPlaintext } = connecting.target
  const requests: RequestRoute = {
    route,
    prefix: target.pathname.replace(/\/$/, ''),
    ...(credentials === undefined ? {} : { login: async () => await Promise.resolve(login) }),
    isReader: headers => headers['x-elastic-product'] !== undefined,
    // Of a tool, Sluice only knows that it sends credentials.
    checkPlaintext: () =>
      refusePlaintext({ url: target, credentials: { apiKey: '' }, allowPlaintext, proxy: raw.proxy }),
    judge: answer => {
      const answered = whoAnswered(answer, route)
      const isBefore = answered.by === 'filter' || answered.by === 'edge'
      return isBefore ? nameRefusal(answer, answered, display) : undefined
    },
  }
  return {
    name: 'cluster',
    target,
    requests,
    plain: () => (target.protocol === 'http:' ? requests : undefined),
    tunnels,
    probes: preflight.probes,
    notes: [...resolved.notes, ...warnings],
    traffic: () => sum([route.traffic, tunnels.traffic]),
    check: async (until: AbortSignal | undefined) => {
      const { half } = await cluster.probe(until === undefined ? {} : { signal: until })
      tunnels.adapt({ attempts: attemptsOver(half?.code) })
    },
    close: async () => {
      tunnels.destroy()
      await route.destroy()
    },
  }
}
