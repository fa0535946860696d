/** Opens everything that the probes of an instance receive. */
import type { Failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import { openRoute, type RouteOptions } from '../proxy/route.js'
import type { InstanceAnswer } from '../servicenow/calls/answer.js'
import { openInstanceHttp } from '../servicenow/calls/instance-http.js'
import { Secrets } from '../servicenow/calls/secrets.js'
import { openSession } from '../servicenow/login/session.js'
import { callForTokens } from '../servicenow/login/token-call.js'
import { tokensInMemory } from '../servicenow/login/tokens.js'
import type { Refusal } from '../servicenow/calls/judge-refusal.js'
import { BROKEN_AGAIN, askUnbroken } from '../proxy/fresh-connections.js'
import { BREAKS_WITHIN_MS } from './ask-again.js'
import type { Context, DoctorLine, InstanceContext, InstanceQuestion, InstanceWay, OtherProxy } from './context.js'
import { counted } from './counted-route.js'

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
    return {
      target: way.url,
      connections: 1,
      connectTimeoutMs: limitMs,
      targetTls: way.tls,
      proxy,
      proxyTls,
    }
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
        if (!isSluiceError(error) || !isBroken(error.failure) || broken >= BROKEN_AGAIN) throw error
      }
    }
  }
  return {
    way,
    display: way.url.origin,
    // Without a proxy, every connection leaves from the same address, so one is enough.
    connections: way.proxy === undefined ? 1 : Math.max(1, context.options.connecting.preflightConnections),
    table: table ?? TABLE,
    isTableNamed: table !== undefined,
    routeOptions,
    openLine,
    session: openSession({
      access: way.access,
      store,
      place,
      instance: way.url.origin,
      now: today,
      call,
    }),
    tokenCalls: () => tokenCalls,
    callForTokens: call,
    proved: {},
    close: async () => await line[Symbol.asyncDispose](),
  }
}

/** Asks until a connection does not break. One broken connection among many is no finding. */
export async function askInstance(
  { clock, dates, today }: Context,
  line: DoctorLine,
  { method = 'GET', path, headers = {} }: InstanceQuestion,
): Promise<{ readonly answer: InstanceAnswer | Refusal; readonly broken: number }> {
  const until = clock.now() + BREAKS_WITHIN_MS
  const asked = await askUnbroken(
    async () => await line.ask({ method, path, headers }),
    answer => 'is' in answer && isBroken(answer.failure) && clock.now() < until,
  )
  const date = 'is' in asked.answer ? undefined : asked.answer.headers.date
  if (date !== undefined) dates.push({ header: date, at: today(), from: 'the instance' })
  return asked
}

/** A closed connection is no answer. A status is one. */
function isBroken({ code, evidence }: Failure): boolean {
  return (code === 'SERVICENOW_UNREACHABLE' && evidence['status'] === undefined) || code === 'PROXY_UNREACHABLE'
}
