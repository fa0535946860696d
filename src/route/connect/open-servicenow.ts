/** Opens a ServiceNow instance from options: for the rest of Sluice, with its tables for embedders, and for a login by browser. */
import { createHash } from 'node:crypto'
import { checkServiceNowConnection, checkServiceNowOptions } from '../../options/check-options.js'
import { isLoopback, isWebAddress } from '../../base/addresses.js'
import { instanceSection } from '../../options/read-options.js'
import { fail, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { Clock } from '../../base/flow.js'
import type { ConnectOptions, ServiceNowConnection } from '../../options/connect-options.js'
import type { ProxySection } from '../../options/load.js'
import { proxyTo, unusedProxy } from './route-to.js'
import type { ChosenProxy } from '../proxy/choose-proxy.js'
import { type Access, chooseAccess, type OauthAccess } from '../servicenow/choose-access.js'
import { type InstanceSettings, type OpenInstance, openInstance } from '../servicenow/open-instance.js'
import type { TokenStore } from '../servicenow/login/session.js'
import { systemClock } from '../../base/time/clock.js'
import { tokensInFile } from './token-file.js'
import type { Row, TableAnswer, TableRequest } from '../servicenow/instance.js'
import { type PageOptions, type RecordOptions, type Table, tableOf } from '../servicenow/records.js'
import type { Attempt, Brought, LoopbackRedirect } from '../servicenow/login/authorization-code.js'
import { abortedByCaller } from '../servicenow/calls/persist.js'

export type { OpenInstance }

export { grantOf } from '../servicenow/choose-access.js'

export interface InstanceOptions extends Omit<ServiceNowConnection, 'signal'> {
  /** Default: the machine's. */
  readonly clock?: Clock | undefined
  /** The two addresses of the proxy, if they are known. */
  readonly staticIps?: ConnectOptions['staticIps']
  /** Receives every secret, in each form that a server might repeat, also later tokens. */
  readonly onSecret?: ((secret: string) => void) | undefined
}

/**
 * Opens the instance, but connects only with the first call. `probe` is its preflight. Throws SluiceError: OPTION_INVALID,
 * PLAINTEXT_CREDENTIALS, PROXY_URL_INVALID, PROXY_NOT_USED.
 */
export async function openServiceNow(options: InstanceOptions): Promise<OpenInstance> {
  return await Promise.resolve(openInstance(instanceSettings(options)))
}

/** Throws as `openServiceNow` does. */
export function instanceSettings(options: InstanceOptions): InstanceSettings {
  const { clock = systemClock, onWarning = () => {} } = options
  checkServiceNowOptions(options.servicenow)
  const { servicenow, proxy, concurrency, timeoutMs, connectTimeoutMs, maxElapsedMs } = instanceSection(options)
  const { tokenFile } = servicenow
  const url = instanceUrl(servicenow.url)
  const access = chooseAccess(servicenow)
  const chosen = wayTo(url, proxy)
  refusePlaintext(url, chosen)
  return {
    url,
    access,
    connections: concurrency,
    timeoutMs,
    connectTimeoutMs,
    unused: unusedProxy(chosen, proxy, options.staticIps),
    maxElapsedMs,
    clock,
    tokens:
      tokenFile === undefined || access.grant === 'basic' || access.grant === 'api_key'
        ? undefined
        : { store: storeIn(tokenFile, url, access, clock, onWarning), place: tokenFile },
    proxy: chosen.proxy,
    proxyTls: { ca: proxy.ca },
    tls: { ca: servicenow.ca },
    onSecret: options.onSecret,
  }
}

function storeIn(
  path: string,
  url: URL,
  access: OauthAccess,
  clock: Clock,
  onWarning: (message: string) => void,
): TokenStore {
  const { id: client } = access.client
  const owner = { instance: url.origin, client, user: userOf(access), grant: access.grant }
  return tokensInFile({ path, owner, clock, onWarning })
}

/** Names the owner of the tokens, if known. Another refresh token may belong to another user. */
function userOf(access: Access): string {
  if (access.grant === 'password') return access.username
  return access.grant === 'refresh_token'
    ? createHash('sha256').update(access.refreshToken).digest('hex').slice(0, 16)
    : ''
}

/** Throws SluiceError OPTION_INVALID. Does not show the URL, which may contain credentials. */
function instanceUrl(given: string | URL): URL {
  const text = String(given).trim()
  if (!isWebAddress(text)) throw invalid('is not an http:// or https:// URL')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw invalid('contains credentials. Set the user name and password as options')
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw invalid('has a path. Write only scheme and host, as in https://my-instance.example')
  return url
}

function wayTo(url: URL, proxy: ProxySection): ChosenProxy {
  try {
    return proxyTo(url, proxy)
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'CLUSTER_URL_IS_PROXY') throw error
    throw invalid("is the proxy's address. Set it to that of the instance")
  }
}

/** Refuses credentials that every machine on the route, the proxy included, could read. */
function refusePlaintext(url: URL, { proxy }: ChosenProxy): void {
  const local = isLoopback(url.hostname) && (proxy === undefined || isLoopback(proxy.host))
  if (url.protocol === 'http:' && !local) throw fail('PLAINTEXT_CREDENTIALS', { url: url.origin })
}

function invalid(problem: string): SluiceError {
  return fail('OPTION_INVALID', { option: 'servicenow.url', problem })
}

export type { PageOptions, RecordOptions, Table }

/** An open connection to ServiceNow through the proxy. Credentials renew themselves. */
export interface ServiceNow extends AsyncDisposable {
  /** Scheme, host and port. */
  readonly instance: string
  /** The proxy in use, `scheme://host:port` without credentials. Absent if connected directly. */
  readonly proxy?: string | undefined
  /** Fresh connections that the instance accepted, and the chance from 0 to 1 that it still refuses one of two addresses. */
  readonly preflight: { readonly probes: number; readonly missChance: number }
  /** Returns a table by its name (`incident`), not its label. `R`: the shape of its records, which is not checked. */
  table<R extends Row = Row>(name: string): Table<R>
  /** Makes one call of the Table API, for requests that `table` has no method for. */
  call(request: TableRequest): Promise<TableAnswer>
  /** Waits for current calls, then closes the pool. */
  close(): Promise<void>
}

/**
 * Connects to ServiceNow's Table API through the static-IP proxy. Token calls and data calls share one pool of at most `concurrency`
 * connections. Tests `preflightConnections` fresh ones first. Without `proxy` it connects directly.
 *
 * ```ts
 * await using platform = await connectServiceNow({
 *   servicenow: { url, clientId, clientSecret, username, password },
 *   proxy: process.env.STATIC_PROXY_URL,
 * })
 * const { records } = await platform.table('incident').list({ query: 'active=true', limit: 10 })
 * ```
 * Calls wait after a 429 (Retry-After, X-RateLimit-Reset) and a 5xx. If a token has expired, Sluice renews it and repeats the call.
 * It does not repeat a POST, PUT, PATCH or DELETE whose answer was lost.
 * @throws SluiceError OPTION_INVALID, PLAINTEXT_CREDENTIALS, PROXY_*, SERVICENOW_*, RUN_INTERRUPTED
 */
export async function connectServiceNow(options: ServiceNowConnection): Promise<ServiceNow> {
  checkServiceNowConnection(options)
  const instance = await openServiceNow(options)
  const close = async () => await instance[Symbol.asyncDispose]()
  try {
    const preflight = await instance.probe({ connections: options.preflightConnections, signal: options.signal })
    return {
      instance: instance.display,
      proxy: instance.route.proxy,
      preflight,
      table: name => tableOf(instance, name),
      call: async request => await instance.call(request),
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

interface LogInOptions extends InstanceOptions {
  /** Port of the redirect URI `http://127.0.0.1:PORT/callback`, which the instance must know. 0: any free port. */
  readonly port: number
  /** Opens the URL in a browser. The browser's traffic does not go through the proxy. */
  readonly open: (url: string, redirectUri: string) => void
  /** How long the browser may take, in milliseconds. Default 300,000. */
  readonly waitMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface LoggedIn {
  /** Scheme, host and port. */
  readonly instance: string
  readonly tokenFile: string
  /** Whether Sluice can renew the tokens without another login. */
  readonly isRenewable: boolean
}

/**
 * Lets a person log in at the instance with a browser, and keeps the tokens: the authorization code grant with PKCE. Exchanges the
 * code through the proxy. Throws SluiceError: OPTION_INVALID, SERVICENOW_LOGIN_FAILED, SERVICENOW_TOKEN_REFUSED, STATE_UNWRITABLE,
 * RUN_INTERRUPTED, or a failure of the route.
 */
export async function logIn(options: LogInOptions): Promise<LoggedIn> {
  const { port, open, clock = systemClock, waitMs = 300_000 } = options
  const settings = instanceSettings({ ...options, servicenow: { ...options.servicenow, grant: 'authorization_code' } })
  const { access, tokens: kept } = settings
  if (access.grant !== 'authorization_code' || kept === undefined) {
    throw fail('OPTION_INVALID', { option: 'servicenow.tokenFile', problem: 'is not set' })
  }
  await using instance = openInstance(settings)
  await using redirect = await listen(port)
  const { id } = access.client
  const { beginAttempt } = await loginCode()
  const attempt = beginAttempt(instance.display, id, redirect.uri)
  const bringing = comeBack(redirect, attempt, clock, waitMs, options.signal)
  open(attempt.url, redirect.uri)
  const brought = await bringing
  const failed = (reason: string) => fail('SERVICENOW_LOGIN_FAILED', { instance: instance.display, reason })
  if (brought === undefined) throw failed(`the browser did not return within ${Math.round(waitMs / 1000)} s`)
  if (brought.is === 'refusal') throw failed(instance.line.judging().quote(brought.reason))
  const { codeVerifier, redirectUri } = attempt
  const request = { grant: 'authorization_code', code: brought.code, redirectUri, codeVerifier } as const
  const tokens = await instance.callForTokens(request, { signal: options.signal })
  await kept.store.exclusively(async () => await Promise.resolve(tokens))
  return {
    instance: instance.display,
    tokenFile: kept.place,
    isRenewable: tokens.refreshToken !== undefined,
  }
}

/** Returns undefined if the time is over. Throws SluiceError RUN_INTERRUPTED. */
async function comeBack(
  redirect: LoopbackRedirect,
  attempt: Attempt,
  clock: Clock,
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<Brought | undefined> {
  const over = new AbortController()
  const until = AbortSignal.any([over.signal, ...(signal === undefined ? [] : [signal])])
  // Rejects once the login is over. By then the caller has its answer.
  void clock.sleep(waitMs, until).then(
    () => over.abort(),
    () => {},
  )
  try {
    return await redirect.wait(attempt, until)
  } catch (error) {
    if (signal?.aborted === true) throw abortedByCaller(signal)
    if (over.signal.aborted) return undefined
    throw error
  } finally {
    over.abort()
  }
}

/** Only a login needs it, and not what opens an instance. */
async function loginCode() {
  return await import('../servicenow/login/authorization-code.js')
}

async function listen(port: number): Promise<LoopbackRedirect> {
  const { listenForRedirect } = await loginCode()
  try {
    return await listenForRedirect(port)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const problem =
      code === 'EADDRINUSE'
        ? `${port} is in use by another program. Choose a free one, and register its redirect URL at the instance`
        : `Sluice cannot listen on ${port} (${code})`
    throw fail('OPTION_INVALID', { option: 'port', problem }, { cause: error })
  }
}
