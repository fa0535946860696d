/** Opens everything that the probes of an instance receive. */
import { isSluiceError } from '../failure/sluice-error.js'
import { openRoute, type RouteOptions } from '../proxy/route.js'
import { openInstanceHttp } from '../servicenow/calls/instance-http.js'
import { Secrets } from '../servicenow/calls/secrets.js'
import { openSession } from '../servicenow/login/session.js'
import { callForTokens } from '../servicenow/login/token-call.js'
import { tokensInMemory } from '../servicenow/login/tokens.js'
import { BROKEN_AGAIN } from '../proxy/fresh-connections.js'
import { counted, isCut } from './ask.js'
import type { Context, DoctorLine, InstanceContext, InstanceWay, OtherProxy } from './context.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import type { DoctorSection } from './doctor-options.js'

/** Read if nobody names a table. Every instance has it, and users without access to it may read others. */
const TABLE = 'incident'

export function openInstanceContext(
  context: Omit<Context, 'instance'>,
  way: InstanceWay,
  table: string | undefined,
): InstanceContext {
  const { clock, limitMs, countOne, today, signal, proxyTls } = context
  const secrets = new Secrets()
  secrets.addAccess(way.access)
  // Kept tokens say nothing about a password, and the probe must test the password.
  const isKept = way.access.grant === 'refresh_token' || way.access.grant === 'authorization_code'
  const { store, place } = (isKept ? way.tokens : undefined) ?? { store: tokensInMemory(), place: 'memory' }
  const routeOptions = (by?: OtherProxy): RouteOptions => {
    const proxy = by === 'none' ? undefined : (by ?? way.proxy)
    return { target: way.url, connections: 1, connectTimeoutMs: limitMs, targetTls: way.tls, proxy, proxyTls }
  }
  const openLine = (by?: OtherProxy): DoctorLine => {
    const route = counted(openRoute(routeOptions(by)), countOne)
    const line = openInstanceHttp(route, { timeoutMs: limitMs, secrets, now: today })
    return {
      ...line,
      ask: async question => await line.ask({ ...question, isFresh: true, signal: question.signal ?? signal }),
      [Symbol.asyncDispose]: async () => await route.destroy(),
    }
  }
  const line = openLine()
  let tokenCalls = 0
  const call: InstanceContext['callForTokens'] = async request => {
    const { access } = way
    if (access.client === undefined) throw new Error('Basic authentication asks for no token')
    // A transient refusal is a finding too, because a person waits. One broken connection is none.
    const patience = { clock, random: () => 0, maxElapsedMs: 0 }
    for (let broken = 0; ; broken += 1) {
      tokenCalls += 1
      try {
        return await callForTokens(line, access.client, request, { patience, secrets, signal })
      } catch (error) {
        if (!isSluiceError(error) || !isCut(error.failure) || broken >= BROKEN_AGAIN) throw error
      }
    }
  }
  return {
    way,
    display: way.url.origin,
    connections: connectionsFor(way.proxy, context.options),
    table: table ?? TABLE,
    isTableNamed: table !== undefined,
    routeOptions,
    openLine,
    session: openSession({ access: way.access, store, place, instance: way.url.origin, now: today, call }),
    tokenCalls: () => tokenCalls,
    callForTokens: call,
    proved: {},
    close: async () => await line[Symbol.asyncDispose](),
  }
}

/** Returns how many fresh connections have to agree. Without a proxy, all leave from one address, so one is enough. */
export function connectionsFor(proxy: ProxyUrl | undefined, { connecting }: DoctorSection): number {
  return proxy === undefined ? 1 : Math.max(1, connecting.preflightConnections)
}
