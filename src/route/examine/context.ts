import type { ClusterAnswer } from '../cluster/answers.js'
import { authorization, refusePlaintext } from '../cluster/credentials.js'
import { mayBeOneOfMany } from '../cluster/ask-connections.js'
import { ask, type FreshQuestion } from '../cluster/request.js'
import { type ResolvedTarget, targetTls } from '../connect/open-target.js'
import { type Failure, isSluiceError } from '../../base/failure/failure.js'
import { nameTlsTarget } from '../proxy/trace.js'
import { manyListeners } from '../proxy/fresh-connections.js'
import { answersGreeting } from '../proxy/port-speaks.js'
import type { ProxyUrl } from '../proxy/proxy-url.js'
import type { Route } from '../proxy/route.js'
import { systemClock } from '../../base/time/clock.js'
import type { DoctorSection, Tools } from './examine-options.js'
import type { Facts, Step } from './facts.js'
import { type InstanceContext, type InstanceWay, openInstanceContext } from './instance-context.js'
import { askOthers, type Means, openCounted, type OtherProxy, routeTo } from './means.js'

/** One look at the path. It judges nothing: the findings combine the facts of all probes. */
export interface Probe {
  readonly name: string
  /** Sends nothing, so it shows no time. */
  readonly isPure?: true | undefined
  /** Returns why the look is skipped, given the facts so far. Undefined: look. */
  readonly leaveOut?: (context: Context, facts: Facts) => string | undefined
  readonly look: (context: Context, facts: Facts) => Promise<ProbeResult> | ProbeResult
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

/** A load may wait for minutes. Here a person waits, so a longer delay is a finding. */
const PATIENCE_MS = 4_000
/** Patience if the user set a time limit: then a long wait is expected. */
const LONG_PATIENCE_MS = 30_000

/** The route of a probe that does not use the load's: another target, another proxy, or no proxy. */
export interface OtherRoute {
  readonly target?: URL | undefined
  readonly proxy?: OtherProxy | undefined
}

type Asked = Omit<FreshQuestion, 'timeoutMs' | 'signal'>

export type Context = ReturnType<typeof openContext>

/** Opens everything that a probe receives: the resolved target, and the means to ask. */
export function openContext(
  options: DoctorSection,
  /** `way` leads to the cluster, or to the instance if no cluster is checked. */
  { way, hasCluster, instance }: { way: ResolvedTarget; hasCluster: boolean; instance?: InstanceWay | undefined },
  { clock = systemClock, today = Date.now, patience = 1 }: Tools,
  given: AbortSignal | undefined,
) {
  const { target, timeoutMs, connectTimeoutMs, proxy, preflightConnections } = options.connecting
  const limitMs = Math.min(timeoutMs, connectTimeoutMs === undefined ? PATIENCE_MS * patience : LONG_PATIENCE_MS)
  const signal = given && manyListeners(given)
  const proxyTls = { ca: proxy.ca }
  const means: Means = { clock, today, signal, patience, limitMs, proxyTls, requests: { sent: 0 }, skews: [] }
  const plaintext = plaintextProblem(way, target.allowPlaintext === true)
  const { cert: _, key: __, ...withoutOwn } = targetTls(target)
  const routeOptions = ({ target: other, proxy: by }: OtherRoute = {}) => {
    // A client certificate is a credential, so it is not shown past the proxy.
    const tls = by === 'none' ? withoutOwn : targetTls(target)
    return routeTo(means, other === undefined ? { ...way, tls } : { url: other, proxy: way.proxy }, by)
  }
  const prefix = way.url.pathname.replace(/\/$/, '')
  // Without a proxy, all connections leave from one address, so one is enough.
  const connectionsBy = (by: ProxyUrl | undefined) => (by === undefined ? 1 : Math.max(1, preflightConnections))
  return {
    ...means,
    options,
    way,
    /** The cluster's URL without credentials. Empty if no cluster is checked. */
    cluster: hasCluster ? way.url.origin + prefix : '',
    /** Absent if no instance is checked. */
    instance: instance && openInstanceContext(means, instance, connectionsBy(instance.proxy), options.table),
    /** Path of the cluster's URL, without a slash at its end. */
    prefix,
    /** The cluster's credentials as headers. Empty if they may not be sent. */
    headers: plaintext === undefined ? authorization(way.credentials) : {},
    /** Why they may not. */
    plaintext,
    /** Fresh connections that have to agree. */
    connections: connectionsBy(way.proxy),
    routeOptions,
    openRoute: (to?: OtherRoute): Route => openCounted(means, routeOptions(to)),
    /** Names a target of http:// that is silent because its port expects TLS. */
    nameTlsTarget: async (known: Failure): Promise<Failure> =>
      await nameTlsTarget(known, routeOptions(), () => (means.requests.sent += 1)),
    /** Greets the proxy on a fresh connection: see `askConnections`. */
    greet:
      way.proxy &&
      (async () => {
        means.requests.sent += 1
        return way.proxy !== undefined && (await answersGreeting(way.proxy, limitMs, signal))
      }),
    /** Asks on one fresh connection. Throws an abort. */
    askOnce: async (route: Route, asked: Asked): Promise<ClusterAnswer | Failure> =>
      await ask(route, { ...asked, timeoutMs: limitMs, signal }),
    /** Asks a question that may be repeated, on other connections too if one fails that others may not. Throws an abort. */
    ask: async (route: Route, asked: Asked): Promise<ClusterAnswer | Failure> =>
      await askOthers(
        means,
        async until => await ask(route, { ...asked, timeoutMs: limitMs, signal: until }),
        answer => {
          const failed = 'code' in answer ? answer : route.refusal(answer)
          return failed !== undefined && mayBeOneOfMany(failed, route.proxy)
        },
      ),
  }
}

function plaintextProblem(way: ResolvedTarget, allowPlaintext: boolean): Failure | undefined {
  try {
    refusePlaintext({ ...way, allowPlaintext })
    return undefined
  } catch (error) {
    if (isSluiceError(error)) return error.failure
    throw error
  }
}

/** Returns the instance that a probe looks at. Paths without an instance have no such probe. */
export function checkedInstance({ instance }: Pick<Context, 'instance'>): InstanceContext {
  if (instance === undefined) throw new Error('no instance is checked')
  return instance
}
