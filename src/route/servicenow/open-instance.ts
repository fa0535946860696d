import { isSluiceError, SluiceError, fail } from '../../base/failure/failure.js'
import type { Clock } from '../../base/flow.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import { openRoute, type Route } from '../proxy/route.js'
import type { TlsOptions } from '../proxy/tls-layer.js'
import type { Access } from './choose-access.js'
import type { Instance, TableAnswer, TableRequest } from './instance.js'
import { unicodeProblem } from '../../base/text/shown.js'
import { nameSilentPort } from '../proxy/expects-tls.js'
import { type Download, downloadFile } from './calls/download.js'
import { type InstanceHttp, openInstanceHttp } from './calls/instance-http.js'
import { type InstancePreflight, probeInstance, type Probing } from './refusal/probe-instance.js'
import { type ComparisonMeans, Refusals } from './refusal/tell-apart.js'
import { Secrets } from './calls/secrets.js'
import { openSession, type Session, tokensInMemory, type TokenStore } from './login/session.js'
import { callForTokens } from './login/token-call.js'
import { type Persistence, persist } from './calls/persist.js'
import type { InstanceVerdict } from './calls/judge-refusal.js'

export interface InstanceSettings {
  /** Only its origin counts. */
  readonly url: URL
  readonly access: Access
  /** Undefined to connect directly. */
  readonly proxy?: ProxyUrl | undefined
  readonly proxyTls?: TlsOptions | undefined
  readonly tls?: TlsOptions | undefined
  /** Connections of the pool. */
  readonly connections: number
  /** Limit of one request. */
  readonly timeoutMs: number
  /** Time to build a connection. Absent: the route's own limit. */
  readonly connectTimeoutMs?: number | undefined
  /** Why Sluice uses no proxy although the options ask for one. */
  readonly unused?: string | undefined
  /** How long one call may fail for reasons that may pass. */
  readonly maxElapsedMs: number
  /** Default: in memory. `place` is for messages. */
  readonly tokens?: { readonly store: TokenStore; readonly place: string } | undefined
  readonly clock: Clock
  /** Receives every secret, in each form that a server might repeat, also later ones. */
  readonly onSecret?: ((secret: string) => void) | undefined
}

/** Owns the pool. Closing waits for open requests. */
export interface OpenInstance extends Instance, ComparisonMeans {
  readonly route: Route
  /** Downloads the file of an attachment. Throws as `call` does. */
  download(request: Download): Promise<void>
  /** See `probeInstance`. */
  probe(options?: Probing): Promise<InstancePreflight>
}

/** Connects to nothing yet. Throws SluiceError OPTION_INVALID for TLS options that cannot be read. */
export function openInstance(settings: InstanceSettings): OpenInstance {
  const { url, access, clock, maxElapsedMs } = settings
  const now = () => Date.now()
  const secrets = new Secrets(settings.onSecret)
  secrets.addAccess(access)
  const { proxy, connections, proxyTls, tls: targetTls, connectTimeoutMs, timeoutMs, unused } = settings
  const route = openRoute({ target: url, connections, connectTimeoutMs, proxy, targetTls, proxyTls })
  // A user who sets a time limit may have a slow proxy.
  const probeMs = connectTimeoutMs === undefined ? undefined : timeoutMs
  const line = openInstanceHttp(route, { timeoutMs, probeMs, secrets, now })
  const patience = { clock, random: Math.random, maxElapsedMs }
  const closing = new AbortController()
  const ask: ComparisonMeans['callForTokens'] = async (request, calling) => {
    if (access.client === undefined) throw new Error(`the grant ${access.grant} asks for no token`)
    return await callForTokens(line, access.client, request, { patience, ...calling })
  }
  const { store, place } = settings.tokens ?? { store: tokensInMemory(), place: 'memory' }
  const session = openSession({
    access,
    store,
    place,
    instance: line.instance,
    now,
    call: async request => await ask(request, { signal: closing.signal }),
  })
  const means: ComparisonMeans = { line, access, session, callForTokens: ask }
  const refusals = new Refusals(means, closing.signal)
  /** Makes a call. If the instance refuses it, names the reason. */
  const told = async <T>(signal: AbortSignal | undefined, make: () => Promise<T>): Promise<T> => {
    const call = async () => {
      const answer = await make()
      refusals.areKnown = true
      return answer
    }
    try {
      return await call()
    } catch (error) {
      if (!isSluiceError(error)) throw error
      const reason = await refusals.reasonFor(error, signal)
      if (reason !== undefined) throw tellUnused(reason, unused)
    }
    // The refusal has passed, and the refused request was not carried out.
    return await call()
  }
  return {
    ...means,
    display: line.instance,
    route,
    probe: async probing => {
      const found = await probeInstance(means, probing).catch(async (error: unknown) => {
        throw tellUnused(await nameSilentPort(error, proxy), unused)
      })
      refusals.areKnown = true
      return found
    },
    call: async request => await told(request.signal, async () => await callTable(line, session, request, patience)),
    download: async request =>
      await told(request.signal, async () => await downloadFile(line, session, request, patience)),
    [Symbol.asyncDispose]: async () => {
      closing.abort()
      await route.close()
    },
  }
}

/** Returns the reason for a refused address if no proxy was used although one is meant to be. */
function tellUnused(error: unknown, unused: string | undefined): unknown {
  if (unused === undefined || !isSluiceError(error) || error.code !== 'SERVICENOW_ADDRESS_REFUSED') return error
  return fail('PROXY_NOT_USED', { problem: `${unused}. ${error.message}` }, { cause: error })
}

/** Retries while that may help, and once with another token. */
async function callTable(
  line: InstanceHttp,
  session: Session,
  request: TableRequest,
  patience: Persistence,
): Promise<TableAnswer> {
  const { signal } = request
  const question = questionOf(request)
  const once = async (authorization: string): Promise<InstanceVerdict<TableAnswer>> => {
    const answer = await line.ask({ ...question, headers: { ...question.headers, authorization }, signal })
    return 'is' in answer ? answer : line.judge(answer, request)
  }
  const attempt = async (): Promise<InstanceVerdict<TableAnswer>> => {
    const value = await session.authorization(signal)
    const verdict = await once(value)
    if (verdict.is !== 'unauthenticated') return verdict
    const another = await session.another(value, signal)
    return another === undefined ? verdict : await once(another)
  }
  const { isRepeatable = request.method === 'GET' } = request
  const verdict = await persist(attempt, patience, { isRepeatable, signal })
  if (verdict.is === 'done') return verdict.value
  throw new SluiceError(verdict.failure)
}

/** Throws SluiceError OPTION_INVALID for names that would change the path. */
function questionOf({ method, table, api = 'table', sysId, query = {}, body }: TableRequest) {
  if (!/^\w+$/.test(table)) throw invalid('table', 'is not the name of a table. Write letters, digits and underscores')
  if (sysId !== undefined && !/^[\w-]+$/.test(sysId))
    throw invalid('sysId', 'is not a sys_id. Write 32 hexadecimal characters')
  const isOfOne = method === 'PUT' || method === 'PATCH' || method === 'DELETE'
  if (isOfOne && sysId === undefined) throw invalid('sysId', `is not set, and ${method} needs it`)
  for (const [name, value] of Object.entries(query)) {
    const problem = unicodeProblem(name) ?? unicodeProblem(value)
    if (problem !== undefined) throw invalid(name, problem)
  }
  const pairs = Object.entries(query).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  return {
    method,
    path: `/api/now/${api === 'table' ? `table/${table}` : api}${sysId === undefined ? '' : `/${sysId}`}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  }
}

function invalid(option: string, problem: string): SluiceError {
  return fail('OPTION_INVALID', { option, problem })
}
