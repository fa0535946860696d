import { Client } from '@elastic/elasticsearch'
import { explain, type Failure, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import { nameSilentPort } from '../proxy/expects-tls.js'
import { nameTlsTarget } from '../proxy/trace.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import { answersGreeting } from '../proxy/port-speaks.js'
import { openRoute, type Route } from '../proxy/route.js'
import type { TlsOptions } from '../proxy/tls-layer.js'
import { misplacedIn } from '../../base/secrets.js'
import { connectionOver, plainMediaTypes } from './client-connection.js'
import type { ConnectionClass } from './node-connection.js'
import { authorization, type Credentials, refusePlaintext } from './credentials.js'
import { checkEgress, type EgressCheck, type EgressSeen, tellMany } from './egress-check.js'
import { isManaged } from './managed-endpoint.js'
import { type Preflight, preflight } from './preflight.js'
import { type Questions, questionsTo } from './questions.js'
import type { ReachedCluster } from './request.js'
import { attemptsOver } from './ask-connections.js'
import { bounded, type Bounds } from './bounds.js'

export interface ClusterOptions {
  readonly url: URL
  readonly credentials?: Credentials | undefined
  readonly tls?: TlsOptions | undefined
  readonly proxy?: ProxyUrl | undefined
  readonly proxyTls?: TlsOptions | undefined
  readonly connections: number
  readonly timeoutMs: number
  /** Time to build a connection. Absent: the route's own limit. */
  readonly connectTimeoutMs?: number | undefined
  /** Fresh connections that have to agree before the first document is sent. 0: ask GET / once. */
  readonly preflightConnections: number
  readonly ipCheckUrl?: URL | undefined
  readonly staticIps?: readonly string[] | undefined
  /** Send credentials over plain http to another machine. */
  readonly allowPlaintext?: boolean | undefined
  /** Others bring their own credentials: a cluster that asks for some accepts the connection. */
  readonly isLoginOptional?: boolean | undefined
  /** Whether Sluice only reads the cluster: it may then have an older version, or be OpenSearch. */
  readonly isReadOnly?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** Hears that the way to the cluster is not silent. */
  readonly heard?: (() => void) | undefined
  /** Hears of each route before it carries anything, also of that to the address check. It counts what an opening costs that fails. */
  readonly opening?: ((route: Route) => void) | undefined
}

/** The settings of a client over an open route. */
interface ClientSettings {
  readonly node: string
  readonly Connection: ConnectionClass
  readonly maxRetries: number
  readonly requestTimeout: number
  readonly compression: boolean
}

/** The class of an Elasticsearch client, of any version. */
export type ClientClass<C> = new (settings: ClientSettings) => C

/** A cluster that was checked. Owns the connection pool: close it, or destroy it if the run failed. */
export interface Cluster extends AsyncDisposable, ReachedCluster, Questions {
  /** Returns the same cluster with limits on its small requests and probes. If they refuse one, it throws SluiceError RUN_INTERRUPTED. */
  within(bounds: Bounds): Cluster
  /** Opens a client for others over the same pool. Its errors name the cause. Closing it leaves the pool open. */
  openClient<C>(Own: ClientClass<C> | undefined): C | Client
  readonly preflight: Preflight
  /** Whether this is Elastic's managed ingest endpoint: it queues documents, and answers no question about them. */
  readonly isManaged: boolean
  /** The addresses that the egress check saw. Empty without a check. */
  readonly egress: EgressSeen
  readonly warnings: readonly string[]
  /** Checks access again, on as many fresh connections as before and on at least `atLeast`. Throws as `openCluster` does. */
  probe(options?: { readonly atLeast?: number; readonly signal?: AbortSignal }): Promise<Preflight>
  /** Uses other credentials from the next request on. Nothing else of the proxy may change. Throws SluiceError PLAINTEXT_CREDENTIALS. */
  renew(access: { readonly credentials?: Credentials | undefined; readonly proxy?: ProxyUrl | undefined }): void
}

/**
 * Opens one client with one pool over one route, and checks access before it sends anything.
 * Throws SluiceError: PLAINTEXT_CREDENTIALS, and every failure of the proxy, egress and cluster stages.
 */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const { url, timeoutMs } = options
  let { credentials } = options
  refusePlaintext(options)
  const { proxy, proxyTls } = options
  const { connections: most, connectTimeoutMs } = options
  const route = openRoute({ target: url, connections: most, connectTimeoutMs, proxy, targetTls: options.tls, proxyTls })
  options.opening?.(route)
  const prefix = url.pathname.replace(/\/$/, '')
  const display = url.origin + prefix
  // Without a proxy all connections have the same address, so one is enough.
  const connections = proxy === undefined ? 1 : options.preflightConnections
  const preflightMs = answerLimitMs(options)
  // A proxy answers a greeting by itself. One that takes longer than this is too slow to tell apart from one that says nothing.
  const greetingMs = (connectTimeoutMs ?? CONNECT_MS) / 3
  let managed = false
  const ownHeaders = () => authorization(credentials)
  const check = async (atLeast: number, signal: AbortSignal | undefined, keepsLast: boolean) => {
    const seen = await preflight(route, display, {
      connections: Math.max(connections, atLeast),
      prefix,
      headers: ownHeaders(),
      isManaged: managed,
      isLoginOptional: options.isLoginOptional,
      isReadOnly: options.isReadOnly,
      timeoutMs: preflightMs,
      keepsLast,
      signal,
      heard: options.heard,
      greet: proxy && (async () => await answersGreeting(proxy, greetingMs, signal)),
    })
    copeWith(route, seen, most)
    return seen
  }
  const probe: Cluster['probe'] = async ({ atLeast = 1, signal = options.signal } = {}) =>
    await check(atLeast, signal, false)
  try {
    managed = await isManaged(route, { url, headers: ownHeaders(), timeoutMs: preflightMs, signal: options.signal })
    const checked = await check(1, options.signal, true).catch(async (error: unknown) => {
      throw isFiltered(error) ? await nameStrangers(error, options) : error
    })
    const { seen: egress, doubts } = await seeEgress(options)
    const version = Number.parseInt(checked.info?.version ?? '', 10)
    const connection = (isNamed: boolean, isUnknown?: (version: number) => boolean) =>
      connectionOver({
        isNamed,
        isManaged: managed,
        isReadOnly: options.isReadOnly === true,
        open: () => ({
          route,
          headers: given => plainMediaTypes({ ...ownHeaders(), ...given }, isUnknown),
          // The route outlives clients.
          close: async () => await Promise.resolve(),
        }),
      })
    const settings = {
      node: url.href,
      // The sender decides on a resend. The client's own retries might store documents twice.
      maxRetries: 0,
      requestTimeout: timeoutMs,
      compression: false,
    }
    const client = new Client({ ...settings, Connection: connection(false) })
    return withQuestions({
      client,
      openClient: Own =>
        Own === undefined
          ? new Client({ ...settings, Connection: connection(true) })
          : new Own({ ...settings, Connection: connection(true, asked => asked > version) }),
      route,
      display,
      preflight: checked,
      isManaged: managed,
      egress,
      warnings: [...checked.warnings, ...doubts],
      probe,
      renew: access => {
        if (access.credentials !== undefined) {
          refusePlaintext({ ...options, credentials: access.credentials })
          credentials = access.credentials
        }
        if (access.proxy !== undefined) route.renewProxy(access.proxy)
      },
      [Symbol.asyncDispose]: async () => await route.close(),
    })
  } catch (error) {
    await route.destroy()
    const named = await nameSilentPort(error, proxy)
    if (!isSluiceError(named)) throw named
    const known = await nameTlsTarget(tellMisplaced(named.failure, credentials), { target: url, proxy, proxyTls })
    throw known === named.failure ? named : new SluiceError(known, { cause: error })
  }
}

type Limits = Pick<ClusterOptions, 'timeoutMs' | 'connectTimeoutMs'>

/** How long each connection of a preflight waits for an answer. */
function answerLimitMs({ timeoutMs, connectTimeoutMs }: Limits): number {
  return Math.min(timeoutMs, connectTimeoutMs === undefined ? 30_000 : timeoutMs)
}

/** Returns the longest time until a preflight has found out that nothing answers: the first connection, and then others side by side. */
export function longestOpeningMs(limits: Limits): number {
  return 2 * answerLimitMs(limits) + 5_000
}

/** Gives a cluster its questions. Those of `within` keep within the limits. */
export function withQuestions(cluster: Omit<Cluster, 'within' | keyof Questions>): Cluster {
  return {
    ...cluster,
    ...questionsTo(cluster),
    within: bounds => {
      const { preflight: seen, probe } = cluster
      return withQuestions({
        ...cluster,
        bounds,
        probe: async (options = {}) => {
          // The preflight opens at least as many.
          const most = Math.max(seen.probes, options.atLeast ?? 1)
          return await bounded(bounds.budget?.admitConnections(most), async () => await probe(options))
        },
      })
    },
  }
}

function tellMisplaced(failed: Failure, credentials: Credentials | undefined): Failure {
  const misplaced = failed.code === 'CLUSTER_AUTH_REJECTED' ? misplacedIn(credentials ?? {}) : undefined
  return misplaced === undefined ? failed : { ...failed, message: `${failed.message.replace(/\.$/, '')}. ${misplaced}` }
}

/** The route's own limit. */
const CONNECT_MS = 10_000

/** Makes a load work over what works: the other node, or fewer connections. */
function copeWith(route: Route, { half }: Preflight, connections: number): void {
  const isLimit = half?.code === 'PROXY_LIMIT_REACHED' || half?.code === 'GATEWAY_LIMITED'
  route.adapt({
    attempts: attemptsOver(half?.code),
    connections: isLimit ? Math.max(1, Math.min(connections, half.worked)) : connections,
  })
}

function isFiltered(error: unknown): error is SluiceError {
  return isSluiceError(error) && explain(error.code).stage === 'egress'
}

/** Returns the reason why the filter refuses connections, if they leave from addresses that are not the dashboard's. */
async function nameStrangers(error: SluiceError, options: ClusterOptions): Promise<SluiceError> {
  const { strangers, seen } = await seeEgress(options)
  if (strangers !== undefined) return new SluiceError(strangers, { cause: error })
  const addresses = Object.keys(seen)
  if (addresses.length <= 2) return error
  return new SluiceError(
    { ...error.failure, message: `${error.message}, while ${tellMany(addresses)}` },
    { cause: error },
  )
}

/** The check is for the receipt, and never in the way of a load: what it does not show is a doubt. */
async function seeEgress(options: ClusterOptions): Promise<EgressCheck> {
  const { ipCheckUrl, proxy, proxyTls, staticIps, signal, opening } = options
  if (ipCheckUrl === undefined) return { seen: {}, doubts: [] }
  await using route = openRoute({ target: ipCheckUrl, connections: 1, proxy, proxyTls })
  opening?.(route)
  return await checkEgress(route, {
    // Without a proxy all connections have the same address, so one is enough.
    connections: proxy === undefined ? 1 : Math.max(1, options.preflightConnections),
    timeoutMs: Math.min(options.timeoutMs, EGRESS_CHECK_MS),
    // Without a proxy the address is this machine's own.
    staticIps: proxy === undefined ? undefined : staticIps,
    signal,
  })
}

const EGRESS_CHECK_MS = 5_000
