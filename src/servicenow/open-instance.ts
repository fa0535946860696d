import { failure } from '../failure/failure.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import type { Clock } from '../flow.js'
import { expectsTls } from '../proxy/expects-tls.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import { type Route, openRoute } from '../proxy/route.js'
import type { TlsOptions } from '../proxy/tls-layer.js'
import type { Access } from './access.js'
import type { Instance, TableAnswer, TableRequest } from './instance.js'
import { judgeTableAnswer } from './judge-table-answer.js'
import { type Line, lineOver } from './line.js'
import { type Patience, persist } from './persist.js'
import { type InstancePreflight, type Probing, probeInstance } from './probe-instance.js'
import { Refusals } from './refusals.js'
import { Secrets } from './secrets.js'
import { type Session, openSession } from './session.js'
import type { Means } from './tell-apart.js'
import { callForTokens } from './token-call.js'
import { type TokenStore, tokensInMemory } from './tokens.js'
import type { Verdict } from './verdict.js'

export interface InstanceSettings {
  /** Only its origin counts. */
  readonly url: URL
  readonly access: Access
  /** Absent: connect directly. */
  readonly proxy?: ProxyUrl
  readonly proxyTls?: TlsOptions
  readonly tls?: TlsOptions
  /** Connections of the pool. */
  readonly connections: number
  /** For one request, in milliseconds. */
  readonly timeoutMs: number
  /** How long one call may be refused in a way that may pass, in milliseconds. */
  readonly maxElapsedMs: number
  /** Default: in memory. `place`: for messages. */
  readonly tokens?: { readonly store: TokenStore; readonly place: string }
  readonly clock: Clock
  /** Milliseconds since 1970. Default: the machine's. */
  readonly now?: () => number
  /** Default: Math.random. */
  readonly random?: () => number
  /** Told each secret in every form that something might repeat, also those that come later. */
  readonly onSecret?: (secret: string) => void
}

/** An instance with what preflight and doctor need besides its calls. Owns the pool: closing it waits for what is under way. */
export interface OpenInstance extends Instance, Means {
  readonly route: Route
  /** Its preflight: see `probeInstance`. */
  probe(options?: Probing): Promise<InstancePreflight>
}

/** Connects to nothing yet. Throws SluiceError OPTION_INVALID for TLS options that cannot be read. */
export function openInstance(settings: InstanceSettings): OpenInstance {
  const { url, access, now = () => Date.now(), random = Math.random, clock, maxElapsedMs } = settings
  const secrets = new Secrets(settings.onSecret)
  secrets.addAccess(access)
  const route = openRoute({
    target: url,
    connections: settings.connections,
    ...(settings.proxy === undefined ? {} : { proxy: settings.proxy }),
    ...(settings.tls === undefined ? {} : { targetTls: settings.tls }),
    ...(settings.proxyTls === undefined ? {} : { proxyTls: settings.proxyTls }),
  })
  const line = lineOver(route, { timeoutMs: settings.timeoutMs, secrets, now })
  const patience = { clock, random, maxElapsedMs }
  const closing = new AbortController()
  const ask: Means['callForTokens'] = async (request, calling) => {
    if (access.client === undefined) throw new Error('Basic authentication asks for no token')
    return await callForTokens(line, access.client, request, { patience, secrets, ...calling })
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
  const means: Means = { line, access, session, callForTokens: ask }
  const refusals = new Refusals(means)
  return {
    ...means,
    display: line.instance,
    route,
    probe: async probing => {
      const found = await probeInstance(means, probing).catch(async (error: unknown) => {
        throw await nameSilentPort(error, settings.proxy)
      })
      refusals.areKnown = true
      return found
    },
    call: async request => {
      try {
        const answer = await callTable(line, session, request, patience)
        refusals.areKnown = true
        return answer
      } catch (error) {
        throw await refusals.reasonFor(error, request.signal)
      }
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort()
      await route.close()
    },
  }
}

/** A port that expects TLS closes on plain bytes without a word, like a proxy that is down: ask it which of the two it is. */
async function nameSilentPort(error: unknown, proxy: ProxyUrl | undefined): Promise<unknown> {
  const isSilent = isSluiceError(error) && /^(PROXY|SERVICENOW)_UNREACHABLE$/.test(error.code)
  if (!isSilent || proxy === undefined || !/^(http|socks5)$/.test(proxy.scheme)) return error
  if (!(await expectsTls(proxy))) return error
  const observed = `its port expects TLS, and the URL says ${proxy.scheme}://`
  return new SluiceError(failure('PROXY_TLS_MISMATCH', { proxy: proxy.display, observed }), { cause: error })
}

async function callTable(
  line: Line,
  session: Session,
  request: TableRequest,
  patience: Patience,
): Promise<TableAnswer> {
  const { signal } = request
  const question = questionOf(request)
  const once = async (authorization: string): Promise<Verdict<TableAnswer>> => {
    const answer = await line.ask({ ...question, headers: { ...question.headers, authorization }, signal })
    return 'is' in answer ? answer : judgeTableAnswer(answer, request, line.judging())
  }
  const attempt = async (): Promise<Verdict<TableAnswer>> => {
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

/** Path, headers and body. Names that would lead to another path than the table's are refused: OPTION_INVALID. */
function questionOf({ method, table, sysId, query = {}, body }: TableRequest) {
  if (!/^\w+$/.test(table)) throw invalid('table', 'is no name of a table: letters, digits and underscores')
  if (sysId !== undefined && !/^[\w-]+$/.test(sysId)) throw invalid('sysId', 'is no sys_id: 32 hexadecimal characters')
  const isOfOne = method === 'PUT' || method === 'PATCH' || method === 'DELETE'
  if (isOfOne && sysId === undefined) throw invalid('sysId', `is not set, and ${method} is for one record`)
  const pairs = Object.entries(query).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  return {
    method,
    path: `/api/now/table/${table}${sysId === undefined ? '' : `/${sysId}`}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
}

function invalid(option: string, problem: string): SluiceError {
  return new SluiceError(failure('OPTION_INVALID', { option, problem }))
}
