import { isLoopback } from '../../base/addresses.js'
import { type InstanceOptions, openServiceNow } from '../connect/open-servicenow.js'
import { fail, quote, SluiceError } from '../../base/failure/failure.js'
import type { ConnectSection } from '../../options/load.js'
import { openRawTunnels } from '../proxy/raw-tunnels.js'
import { openRoute, type Route } from '../proxy/route.js'
import { openInstanceHttp } from '../servicenow/calls/instance-http.js'
import { judgeRefusal } from '../servicenow/calls/judge-refusal.js'
import { loginHeaders } from '../servicenow/choose-access.js'
import type { OpenInstance } from '../servicenow/open-instance.js'
import { lookIn } from '../servicenow/refusal/look-in.js'
import { MOST_REQUESTS, type RequestRoute, sum, wayTo } from './request-route.js'

type Given = InstanceOptions['servicenow']

/** Opens the instance as a pull does. Tools may bring credentials of their own. Throws SluiceError: see `openServiceNow`. */
export async function openInstanceDestination(
  options: InstanceOptions,
  connecting: ConnectSection,
  signal: AbortSignal | undefined,
) {
  const { servicenow } = options
  const target = new URL(servicenow.url)
  const raw = wayTo(target, connecting)
  const tunnels = openRawTunnels(raw)
  const most = connecting.preflightConnections
  const instance = hasLogin(servicenow) ? await openServiceNow({ ...options, concurrency: MOST_REQUESTS }) : undefined
  const route = instance?.route ?? openRoute({ ...raw, targetTls: { ca: servicenow.ca }, connections: MOST_REQUESTS })
  const check = async (until: AbortSignal | undefined) =>
    instance === undefined
      ? await lookWithoutLogin(route, connecting, until)
      : (await instance.probe({ connections: most, signal: until })).probes
  const requests = requestsTo(route, instance)
  const close = async () => {
    tunnels.destroy()
    await route.destroy()
  }
  try {
    return {
      name: 'ServiceNow',
      target,
      requests,
      plain: () => (target.protocol === 'http:' ? requests : undefined),
      tunnels,
      probes: await check(signal),
      notes: [],
      traffic: () => sum([route.traffic, tunnels.traffic]),
      check: async (until: AbortSignal | undefined) => void (await check(until)),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function hasLogin({ apiKey, username, clientId, refreshToken }: Given): boolean {
  return apiKey !== undefined || username !== undefined || clientId !== undefined || refreshToken !== undefined
}

function requestsTo(route: Route, instance: OpenInstance | undefined): RequestRoute {
  const { target, proxy } = route
  const origin = target.origin
  const isLocal = isLoopback(target.hostname) && (proxy === undefined || isLoopback(new URL(proxy).hostname))
  return {
    route,
    prefix: '',
    ...(instance === undefined
      ? {}
      : { login: async signal => loginHeaders({ authorization: await instance.session.authorization(signal) }) }),
    checkPlaintext: () => {
      if (target.protocol === 'http:' && !isLocal) throw fail('PLAINTEXT_CREDENTIALS', { url: origin })
    },
    judge: ({ statusCode: status, headers, body }) => {
      const answer = { status, headers, text: body.toString('utf8'), isTooLong: false }
      const refusal = judgeRefusal(answer, { instance: origin, now: Date.now(), quote })
      return refusal?.is === 'stop' ? refusal.failure : undefined
    },
  }
}

/** The application asks callers for credentials as soon as the access control lets their address in. */
async function lookWithoutLogin(
  route: Route,
  { timeoutMs, preflightConnections: most }: ConnectSection,
  signal: AbortSignal | undefined,
): Promise<number> {
  const line = openInstanceHttp(route, { timeoutMs, now: () => Date.now() })
  const { asked, letIn, refusedAddress, first } = await lookIn(line, {
    most: route.proxy === undefined ? 1 : most,
    isSettled: seen => seen.refusedAddress > 0,
    signal,
  })
  if (first.address === undefined || refusedAddress === 0) return asked
  if (letIn === 0) throw new SluiceError(first.address)
  throw fail('SERVICENOW_PARTLY_ALLOWED', { instance: line.instance, allowed: letIn, asked })
}
