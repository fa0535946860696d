import { type Failure, isSluiceError } from '../../base/failure/failure.js'
import { mayBeOneOfMany } from '../cluster/ask-connections.js'
import { BROKEN_AGAIN, SURE } from '../proxy/fresh-connections.js'
import { answersGreeting } from '../proxy/port-speaks.js'
import { type InstanceHttp, openInstanceHttp } from '../servicenow/calls/instance-http.js'
import { openSession, tokensInMemory } from '../servicenow/login/session.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import { callForTokens, type TokenRequest, type Tokens } from '../servicenow/login/token-call.js'
import type { InstanceSettings } from '../servicenow/open-instance.js'
import { type Means, noteDate, openCounted, type OtherProxy, routeTo } from './means.js'

/** The table to read if the options name none. Every instance has it. Users without access to it may read others. */
const TABLE = 'incident'

export type InstanceWay = Pick<InstanceSettings, 'url' | 'access' | 'proxy' | 'tls' | 'tokens' | 'unused'>

export type InstanceContext = ReturnType<typeof openInstanceContext>

/** Opens everything that the probes of an instance receive. `connections`: see `Context`. */
export function openInstanceContext(means: Means, way: InstanceWay, connections: number, table: string | undefined) {
  const { clock, limitMs, today, signal } = means
  const { access, url } = way
  /** All lines hide the same secrets. */
  let secrets: InstanceHttp['secrets'] | undefined
  // Kept tokens say nothing about a password, and the probe must test the password.
  const isKept = access.grant === 'refresh_token' || access.grant === 'authorization_code'
  const { store, place } = (isKept ? way.tokens : undefined) ?? { store: tokensInMemory(), place: 'memory' }
  const openHttp = (by?: OtherProxy): InstanceHttp => {
    const http = openInstanceHttp(openCounted(means, routeTo(means, way, by)), {
      timeoutMs: limitMs,
      probeMs: limitMs,
      secrets,
      now: today,
    })
    const ask: InstanceHttp['ask'] = async asked =>
      await http.ask({ ...asked, isFresh: true, signal: asked.signal ?? signal })
    return { ...http, ask }
  }
  const forTokens = openHttp()
  ;({ secrets } = forTokens)
  secrets.addAccess(access)
  let tokenCalls = 0
  /** Makes one token call and keeps no token. Throws SluiceError. */
  const call = async (request: TokenRequest): Promise<Tokens> => {
    if (access.client === undefined) throw new Error(`the grant ${access.grant} asks for no token`)
    // A transient refusal is a finding too, because a person waits. One broken connection is none.
    const patience = { clock, random: () => 0, maxElapsedMs: 0 }
    for (let broken = 0; ; broken += 1) {
      tokenCalls += 1
      try {
        return await callForTokens(forTokens, access.client, request, { patience, signal })
      } catch (error) {
        if (!isSluiceError(error) || !mayPass(error.failure, broken, way.proxy)) throw error
      }
    }
  }
  /** The header that was taken, for the probes behind the login. */
  const proved: { authorization?: string } = {}
  return {
    way,
    display: url.origin,
    connections,
    /** The table that is read, and whether somebody named it. */
    table: table ?? TABLE,
    isTableNamed: table !== undefined,
    openLine: (by?: OtherProxy) => lineOver(means, openHttp(by), by === undefined ? way.proxy : undefined),
    /** Shows how each single connection ends. */
    openSingles: () => lineOver(means, openHttp(), 'once'),
    /** Greets the proxy on a fresh connection: see `askConnections`. */
    greet: way.proxy && (async () => way.proxy !== undefined && (await greeted(means, way.proxy))),
    session: openSession({ access, store, place, instance: url.origin, now: today, call }),
    tokenCalls: () => tokenCalls,
    callForTokens: call,
    proved,
    close: async () => await forTokens.route.destroy(),
  }
}

async function greeted({ requests, limitMs, signal }: Means, proxy: ProxyUrl): Promise<boolean> {
  requests.sent += 1
  return await answersGreeting(proxy, limitMs, signal)
}

export type DoctorLine = ReturnType<typeof lineOver>

/**
 * Sends every request over a connection of its own. `pair`: the proxy that may choose its other node for the next one. Requests wait for
 * each other, because they may carry a login.
 */
function lineOver(
  { clock, patience, ...means }: Means,
  { ask, judging, judge, route }: InstanceHttp,
  pair: ProxyUrl | 'once' | undefined,
) {
  return {
    judging,
    judge,
    ask: async (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
      const until = clock.now() + BREAKS_WITHIN_MS * patience
      for (let broken = 0; ; broken += 1) {
        const answer = await ask({ method, path, headers })
        if (!('is' in answer)) noteDate(means, answer.headers.date, 'the instance')
        if (!('is' in answer) || pair === 'once') return { answer, broken }
        const isLate = clock.now() >= until && !isOfNode(answer.failure, pair)
        if (isLate || !mayPass(answer.failure, broken, pair)) return { answer, broken }
      }
    },
    [Symbol.asyncDispose]: async () => await route.destroy(),
  }
}

/** A connection that takes longer to break will not be better a second time, and a person waits. */
const BREAKS_WITHIN_MS = 1_000

function mayPass(failed: Failure, broken: number, pair: ProxyUrl | undefined): boolean {
  return isOfNode(failed, pair) ? broken < SURE - 1 : isCut(failed) && broken < BROKEN_AGAIN
}

/** The instance got nothing, and the other node of the proxy may work. */
function isOfNode(failed: Failure, pair: ProxyUrl | undefined): boolean {
  return pair !== undefined && failed.code.startsWith('PROXY_') && mayBeOneOfMany(failed, pair)
}

/** A closed connection is no answer. A status is one. */
function isCut({ code, evidence }: Failure): boolean {
  return (code === 'SERVICENOW_UNREACHABLE' && evidence['status'] === undefined) || code === 'PROXY_UNREACHABLE'
}
