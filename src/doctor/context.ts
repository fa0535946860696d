import { authorization } from '../cluster/credentials.js'
import { ask } from '../cluster/ask.js'
import { forMany } from '../cluster/for-many.js'
import { refusePlaintext } from '../cluster/open-cluster.js'
import type { Answer } from '../cluster/who-answered.js'
import type { Failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { Clock } from '../flow.js'
import { type Way, proxyOptions, targetTls } from '../connect/open-target.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import { type Route, type RouteOptions, openRoute } from '../proxy/route.js'
import type { TlsOptions } from '../proxy/tls-layer.js'
import { counted } from './counted-route.js'
import type { DoctorOptions } from './doctor-options.js'
import { type InstanceContext, type InstanceWay, openInstanceContext } from './instance-context.js'

/** Where a probe goes, if not the way of a load: another target, another proxy, or past it. */
export interface Destination {
  readonly target?: URL
  readonly proxy?: ProxyUrl | 'none'
}

export interface Asked {
  readonly method?: string
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Asked also after an abort: it belongs to something that must not be left half done. */
  readonly isToTheEnd?: true
}

/** What every probe is given: the way of a load, and the means to ask along it. */
export interface Context {
  readonly options: DoctorOptions
  /** That to the cluster; to the instance where there is no cluster to look at. */
  readonly way: Way
  /** The cluster's URL without credentials; empty where there is none to look at. */
  readonly cluster: string
  /** Absent where no instance is to be looked at. */
  readonly instance?: InstanceContext
  /** Path of the cluster's URL, without a slash at its end. */
  readonly prefix: string
  /** The cluster's credentials as headers; empty where they may not be sent. */
  readonly headers: Readonly<Record<string, string>>
  /** Why they may not. */
  readonly plaintext?: Failure
  /** Fresh connections that have to agree. */
  readonly connections: number
  /** For one connection to be built, and for one request to be answered. */
  readonly limitMs: number
  readonly clock: Clock
  /** The machine's time of day, in milliseconds since the epoch. */
  readonly today: () => number
  readonly signal: AbortSignal | undefined
  /** What was sent so far. */
  readonly sent: () => number
  readonly countOne: () => void
  /** Date headers of answers, and when they came, for the clock. */
  readonly dates: { readonly header: string; readonly at: number; readonly from: string }[]
  readonly proxyTls?: TlsOptions
  readonly routeOptions: (to?: Destination) => RouteOptions
  readonly openRoute: (to?: Destination) => Route
  /** On a fresh connection. An abort is thrown. */
  readonly ask: (route: Route, asked: Asked) => Promise<Answer | Failure>
}

/** What takes longer is a finding: so that a person has an answer, while a load may wait for minutes. */
const PATIENCE_MS = 4_000

/** The ways that are looked at. */
export interface Ways {
  readonly way: Way
  readonly hasCluster: boolean
  readonly instance?: InstanceWay
}

export function openContext(
  options: DoctorOptions,
  { way, hasCluster, instance }: Ways,
  { clock, today }: { readonly clock: Clock; readonly today: () => number },
): Context {
  const { target } = options
  const signal = options.signal === undefined ? undefined : forMany(options.signal)
  const { ca } = proxyOptions(options.proxy)
  const limitMs = Math.min(options.timeoutMs ?? PATIENCE_MS, PATIENCE_MS)
  const plaintext = plaintextProblem(way, target.allowPlaintext ?? false)
  let sent = 0
  const countOne = (): void => void (sent += 1)
  const { cert: _, key: __, ...withoutOwn } = targetTls(target)
  const routeOptions: Context['routeOptions'] = (to = {}) => {
    const proxy = to.proxy === 'none' ? undefined : (to.proxy ?? way.proxy)
    return {
      target: to.target ?? way.url,
      connections: 1,
      connectTimeoutMs: limitMs,
      // A client certificate is a credential: past the proxy it is not shown.
      ...(to.target === undefined ? { targetTls: to.proxy === 'none' ? withoutOwn : targetTls(target) } : {}),
      ...(proxy === undefined ? {} : { proxy }),
      ...(ca === undefined ? {} : { proxyTls: { ca } }),
    }
  }
  const context: Context = {
    options,
    way,
    cluster: hasCluster ? way.url.origin + prefixOf(way.url) : '',
    prefix: prefixOf(way.url),
    headers: plaintext === undefined ? authorization(way.credentials) : {},
    ...(plaintext === undefined ? {} : { plaintext }),
    // Without a proxy every connection leaves from the same address: more than one asks the same question again.
    connections: way.proxy === undefined ? 1 : Math.max(1, options.preflightConnections ?? 16),
    limitMs,
    clock,
    today,
    signal,
    sent: () => sent,
    countOne,
    dates: [],
    ...(ca === undefined ? {} : { proxyTls: { ca } }),
    routeOptions,
    openRoute: to => counted(openRoute(routeOptions(to)), countOne),
    ask: async (route, { method = 'GET', path, headers = {}, body, isToTheEnd }) =>
      await ask(route, {
        method,
        path,
        headers,
        timeoutMs: limitMs,
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined || isToTheEnd === true ? {} : { signal }),
      }),
  }
  return instance === undefined
    ? context
    : { ...context, instance: openInstanceContext(context, instance, options.table) }
}

function prefixOf(url: URL): string {
  return url.pathname.replace(/\/$/, '')
}

function plaintextProblem(way: Way, allowPlaintext: boolean): Failure | undefined {
  try {
    refusePlaintext({ ...way, allowPlaintext })
    return undefined
  } catch (error) {
    if (isSluiceError(error)) return error.failure
    throw error
  }
}
