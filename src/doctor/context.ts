import type { ClusterAnswer } from '../cluster/answers.js'
import type { Failure } from '../failure/failure.js'
import type { Clock } from '../flow.js'
import type { ResolvedTarget } from '../connect/open-target.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import type { Route, RouteOptions } from '../proxy/route.js'
import type { TlsOptions } from '../proxy/tls-layer.js'
import type { DoctorSection } from './doctor-options.js'
import type { InstanceHttp } from '../servicenow/calls/instance-http.js'
import type { InstanceSettings } from '../servicenow/open-instance.js'
import type { Session } from '../servicenow/login/session.js'
import type { TokenRequest } from '../servicenow/login/token-call.js'
import type { Tokens } from '../servicenow/login/tokens.js'
import type { Facts } from './facts.js'
import type { Step } from './report.js'

/** The route of a probe that does not use the load's: another target, another proxy, or no proxy. */
export interface OtherRoute {
  readonly target?: URL | undefined
  readonly proxy?: ProxyUrl | 'none' | undefined
}

export interface Asked {
  readonly method?: string | undefined
  readonly path: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
  /** Sends it even after an abort, because it completes something that must not stay half done. */
  readonly isToTheEnd?: true | undefined
}

/** Everything that a probe receives: the resolved target, and the means to ask. */
export interface Context {
  readonly options: DoctorSection
  /** The cluster's, or the instance's if no cluster is checked. */
  readonly way: ResolvedTarget
  /** The cluster's URL without credentials. Empty if no cluster is checked. */
  readonly cluster: string
  /** Absent if no instance is checked. */
  readonly instance?: InstanceContext | undefined
  /** Path of the cluster's URL, without a slash at its end. */
  readonly prefix: string
  /** The cluster's credentials as headers. Empty if they may not be sent. */
  readonly headers: Readonly<Record<string, string>>
  /** Why they may not. */
  readonly plaintext?: Failure | undefined
  /** Fresh connections that have to agree. */
  readonly connections: number
  /** Limit for building one connection, and for answering one request. */
  readonly limitMs: number
  readonly clock: Clock
  /** The machine's time of day, in milliseconds since the epoch. */
  readonly today: () => number
  readonly signal: AbortSignal | undefined
  /** Counts the requests so far. */
  readonly sent: () => number
  readonly countOne: () => void
  /** Date headers of answers, and when they came, for the clock. */
  readonly dates: { readonly header: string; readonly at: number; readonly from: string }[]
  readonly proxyTls?: TlsOptions | undefined
  readonly routeOptions: (to?: OtherRoute) => RouteOptions
  readonly openRoute: (to?: OtherRoute) => Route
  /** On a fresh connection. An abort is thrown. */
  readonly ask: (route: Route, asked: Asked) => Promise<ClusterAnswer | Failure>
}

/** The way to an instance, and who asks there. */
export type InstanceWay = Pick<InstanceSettings, 'url' | 'access' | 'proxy' | 'tls' | 'tokens'>

/** Another proxy for a probe, or none. */
export type OtherProxy = ProxyUrl | 'none'

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
  /** Counts the token calls so far. */
  tokenCalls(): number
  /** Makes one token call and keeps no token. Throws SluiceError. */
  callForTokens(request: TokenRequest): Promise<Tokens>
  /** The header that was taken, for the probes behind the login. */
  readonly proved: { authorization?: string }
  close(): Promise<void>
}

/** The ways that are looked at. */
export interface Ways {
  readonly way: ResolvedTarget
  readonly hasCluster: boolean
  readonly instance?: InstanceWay | undefined
}

/** The result of a probe: facts for the findings, and a line for the reader. */
export interface ProbeResult {
  readonly detail: string
  /** A problem exists. The findings name it. */
  readonly failed?: boolean | undefined
  readonly facts?: Partial<Facts> | undefined
  /** Time of the requests. Default: time of the whole look. */
  readonly ms?: number | undefined
  /** Further steps that the probe saw. */
  readonly more?: readonly Step[] | undefined
}

/** One look at the path. It judges nothing: the findings combine the facts of all probes. */
export interface Probe {
  readonly name: string
  /** Sends nothing, so it shows no time. */
  readonly isPure?: true | undefined
  /** Returns why the look is skipped, given the facts so far. Undefined: look. */
  readonly leaveOut?: (context: Context, facts: Facts) => string | undefined
  readonly look: (context: Context, facts: Facts) => Promise<ProbeResult> | ProbeResult
}

/** Returns the instance that a probe looks at. Paths without an instance have no such probe. */
export function checkedInstance({ instance }: Context): InstanceContext {
  if (instance === undefined) throw new Error('no instance is checked')
  return instance
}
