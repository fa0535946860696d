import { explain } from '../../failure/catalogue.js'
import { type Failure, failure } from '../../failure/failure.js'
import { proxyRefusal } from '../../proxy/proxy-answer.js'
import type { Route } from '../../proxy/route.js'
import { type InstanceAnswer, readInstanceAnswer } from './answer.js'
import type { InstanceJudging, Refusal } from './judge-refusal.js'
import { abortedByCaller } from './persist.js'
import type { Secrets } from './secrets.js'
import { fail } from '../../failure/fail.js'
import { isSluiceError, SluiceError } from '../../failure/sluice-error.js'
import { expectsTls } from '../../proxy/expects-tls.js'
import type { ProxyUrl } from '../../proxy/proxy-url.js'
import { RouteError } from '../../proxy/route-error.js'

/** A probe's answer is small. */
const PROBE_MS = 30_000

/** One request to the instance: a token call or a data call. */
interface Question {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Uses a connection of its own, so the proxy chooses the egress address again. Default false. */
  readonly isFresh?: boolean
}

/** The one way to the instance: token calls and data calls alike. */
export interface InstanceHttp {
  /** Scheme, host and port. */
  readonly instance: string
  readonly route: Route
  /**
   * The instance's answer, or why there is none: the proxy's own answers are among these. Throws SluiceError RUN_INTERRUPTED.
   */
  ask(question: Question): Promise<InstanceAnswer | Refusal>
  judging(): InstanceJudging
}

export function openInstanceHttp(
  route: Route,
  { timeoutMs, secrets, now }: { timeoutMs: number; secrets: Secrets; now: () => number },
): InstanceHttp {
  const instance = route.target.origin
  return {
    instance,
    route,
    judging: () => ({ instance, now: now(), quote: (text, length) => secrets.quote(text, length) }),
    ask: async ({ method, path, headers, body, signal, isFresh = false }) => {
      if (signal?.aborted === true) throw abortedByCaller(signal)
      try {
        const response = await (isFresh ? route.once : route.request).call(route, {
          method,
          path,
          headers: { accept: 'application/json', 'accept-encoding': 'gzip', ...headers },
          body: body ?? null,
          timeoutMs: isFresh ? Math.min(timeoutMs, PROBE_MS) : timeoutMs,
          signal,
        })
        const refused = proxyRefusal(response, route)
        if (refused !== undefined) {
          response.body.destroy()
          return judgeProxy(refused)
        }
        return await readInstanceAnswer(response)
      } catch (error) {
        return judgeLost(error, instance)
      }
    },
  }
}

/** The proxy answered instead of the instance and forwarded nothing. With a 5xx status it may have tried. */
function judgeProxy(refused: Failure): Refusal {
  if (explain(refused.code).retry === 'no') return { is: 'stop', failure: refused }
  return { is: 'later', failure: refused, undone: false }
}

/** Checks whether a silent port expects TLS. Such a port closes on plain bytes, and so does a proxy that is down. */
export async function nameSilentPort(error: unknown, proxy: ProxyUrl | undefined): Promise<unknown> {
  const isSilent = isSluiceError(error) && /^(PROXY|SERVICENOW)_UNREACHABLE$/.test(error.code)
  if (!isSilent || proxy === undefined || !/^(http|socks5)$/.test(proxy.scheme)) return error
  if (!(await expectsTls(proxy))) return error
  const observed = `its port expects TLS, and the URL says ${proxy.scheme}://`
  return fail('PROXY_TLS_MISMATCH', { proxy: proxy.display, observed }, { cause: error })
}

/**
 * Judges a missing answer. Throws SluiceError RUN_INTERRUPTED for an abort, and rethrows errors that are not the
 * route's.
 */
export function judgeLost(error: unknown, instance: string): Refusal {
  if (!(error instanceof RouteError)) throw error
  if (error.code === 'ABORTED') throw new SluiceError(error.failure, { cause: error.cause })
  const named = ofTheInstance(error, instance)
  // This process closed the route, and never opens it again.
  if (error.code === 'CLOSED') return { is: 'stop', failure: named }
  if (explain(named.code).retry === 'no') return { is: 'stop', failure: named }
  return { is: 'later', failure: named, undone: error.delivery === 'none' }
}

/** The route calls its target a cluster. */
function ofTheInstance({ failure: known, phase, cause }: RouteError, instance: string): Failure {
  const { problem, observed, limitMs } = known.evidence
  switch (known.code) {
    case 'CLUSTER_CERT_INVALID':
      return failure('SERVICENOW_CERT_INVALID', { instance, reason: String(problem ?? cause) })
    case 'CLUSTER_UNAVAILABLE':
      return failure('SERVICENOW_UNREACHABLE', { instance, observed: String(observed) })
    case 'CLUSTER_TIMEOUT':
      return failure('SERVICENOW_UNREACHABLE', {
        instance,
        observed: `no answer within ${Number(limitMs) / 1000} s (${phase})`,
      })
    default:
      return known
  }
}
