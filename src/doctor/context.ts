import type { Answer } from '../cluster/who-answered.js'
import type { Failure } from '../failure/failure.js'
import type { Clock } from '../flow.js'
import type { ResolvedTarget } from '../connect/open-target.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import type { Route, RouteOptions } from '../proxy/route.js'
import type { TlsOptions } from '../proxy/tls-layer.js'
import type { DoctorSection } from './check-doctor-options.js'
import type { InstanceHttp } from '../servicenow/calls/instance-http.js'
import type { InstanceSettings } from '../servicenow/open-instance.js'
import type { Session } from '../servicenow/login/session.js'
import type { TokenRequest } from '../servicenow/login/token-call.js'
import type { Tokens } from '../servicenow/login/tokens.js'

/** Where a probe goes, if not the way of a load: another target, another proxy, or past it. */
export interface OtherRoute {
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
  readonly options: DoctorSection
  /** That to the cluster; to the instance where there is no cluster to look at. */
  readonly way: ResolvedTarget
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
  readonly routeOptions: (to?: OtherRoute) => RouteOptions
  readonly openRoute: (to?: OtherRoute) => Route
  /** On a fresh connection. An abort is thrown. */
  readonly ask: (route: Route, asked: Asked) => Promise<Answer | Failure>
}

/** The way to an instance, and who asks there. */
export type InstanceWay = Pick<InstanceSettings, 'url' | 'access' | 'proxy' | 'tls' | 'tokens'>

/** By which proxy a probe goes, if not by that of the way. */
export type OtherProxy = ProxyUrl | 'none'

export interface InstanceQuestion {
  readonly method?: 'GET' | 'HEAD'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A line of which every request goes over a connection of its own, and is counted. */
export interface DoctorLine extends InstanceHttp, AsyncDisposable {}

export interface InstanceContext {
  readonly way: InstanceWay
  /** Scheme, host and port. */
  readonly display: string
  /** Fresh connections that have to agree. */
  readonly connections: number
  /** The table that is read, and whether somebody named it. */
  readonly table: string
  readonly isTableNamed: boolean
  routeOptions(by?: OtherProxy): RouteOptions
  openLine(by?: OtherProxy): DoctorLine
  readonly session: Session
  /** Token calls so far. */
  tokenCalls(): number
  /** One token call that is kept nowhere. Throws SluiceError. */
  callForTokens(request: TokenRequest): Promise<Tokens>
  /** The header that was taken, for the probes behind the login. */
  readonly proved: { authorization?: string }
  close(): Promise<void>
}

/** The ways that are looked at. */
export interface Ways {
  readonly way: ResolvedTarget
  readonly hasCluster: boolean
  readonly instance?: InstanceWay
}
