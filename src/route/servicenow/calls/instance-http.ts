import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { RouteResponse } from '../../proxy/route-request.js'
import { explain, type Failure, failure, SluiceError } from '../../../base/failure/failure.js'
import { proxyRefusal } from '../../proxy/proxy-answer.js'
import type { Route } from '../../proxy/route.js'
import { loginHeaders } from '../choose-access.js'
import type { TableAnswer, TableRequest } from '../instance.js'
import type { InstanceAnswer, InstanceJudging, InstanceVerdict, Refusal } from './judge-refusal.js'
import { judgeTableAnswer } from './judge-table-answer.js'
import { abortedByCaller } from './persist.js'
import { Secrets } from './secrets.js'
import { RouteError } from '../../proxy/route-error.js'

const PROBE_MS = 30_000

interface Question {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** `authorization`: of a session. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Uses a connection of its own, so the proxy chooses the egress address again. Default false. */
  readonly isFresh?: boolean
  /** Time beside the limit of a request, for a large answer. */
  readonly moreMs?: number
}

/** Sends every request to the instance, token calls included. */
export interface InstanceHttp {
  /** Scheme, host and port. */
  readonly instance: string
  readonly route: Route
  /** What its answers never show. */
  readonly secrets: Secrets
  /** Resolves to the instance's answer, or to why there is none. Throws SluiceError RUN_INTERRUPTED. */
  ask(question: Question): Promise<InstanceAnswer | Refusal>
  /** The same, but with an answer whose body is not read yet. */
  open(question: Question): Promise<RouteResponse | Refusal>
  judging(): InstanceJudging
  /** Judges an answer of the Table API. */
  judge(answer: InstanceAnswer, request: TableRequest): InstanceVerdict<TableAnswer>
}

export function openInstanceHttp(
  route: Route,
  {
    timeoutMs,
    probeMs = Math.min(timeoutMs, PROBE_MS),
    secrets = new Secrets(),
    now,
  }: { timeoutMs: number; probeMs?: number | undefined; secrets?: Secrets | undefined; now: () => number },
): InstanceHttp {
  const instance = route.target.origin
  const judging = (): InstanceJudging => ({
    instance,
    now: now(),
    quote: (text, length) => secrets.quote(text, length),
  })
  return {
    instance,
    route,
    secrets,
    judging,
    judge: (answer, request) => judgeTableAnswer(answer, request, judging()),
    open,
    ask: async question => {
      try {
        const response = await open(question)
        return 'is' in response ? response : await readInstanceAnswer(response)
      } catch (error) {
        return judgeLost(error, instance)
      }
    },
  }

  async function open({
    method,
    path,
    headers,
    body,
    signal,
    isFresh = false,
    moreMs = 0,
  }: Question): Promise<RouteResponse | Refusal> {
    if (signal?.aborted === true) throw abortedByCaller(signal)
    try {
      const response = await (isFresh ? route.once : route.request).call(route, {
        method,
        path,
        headers: { accept: 'application/json', 'accept-encoding': 'gzip', ...loginHeaders(headers) },
        body: body ?? null,
        timeoutMs: (isFresh ? probeMs : timeoutMs) + moreMs,
        signal,
      })
      const refused = proxyRefusal(response, route)
      if (refused !== undefined) {
        response.body.destroy()
        return judgeProxy(refused)
      }
      return response
    } catch (error) {
      return judgeLost(error, instance)
    }
  }
}

/** Ten thousand rows with every field are tens of megabytes. */
const LONGEST_BYTES = 256 * 1024 * 1024

const unzip = promisify(gunzip)

/** Rejects with RouteError if the connection breaks in the middle. */
export async function readInstanceAnswer({ statusCode, headers, body }: RouteResponse): Promise<InstanceAnswer> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > LONGEST_BYTES) break
    parts.push(part)
  }
  if (bytes > LONGEST_BYTES) body.destroy()
  const whole = Buffer.concat(parts)
  const isZipped = String(headers['content-encoding'] ?? '').toLowerCase() === 'gzip'
  const plain = isZipped && whole.length > 0 ? await unzipped(whole) : whole
  const isTooLong = bytes > LONGEST_BYTES || plain === 'too long'
  return { status: statusCode, headers, text: isTooLong ? '' : plain.toString('utf8'), isTooLong }
}

/** Returns the bytes unchanged if they are not gzip. The judge of the answer then names the problem. */
async function unzipped(bytes: Buffer): Promise<Buffer | 'too long'> {
  try {
    return await unzip(bytes, { maxOutputLength: LONGEST_BYTES })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too long' : bytes
  }
}

/** The proxy answered instead of the instance and forwarded nothing. With a 5xx status it may have tried. */
function judgeProxy(refused: Failure): Refusal {
  if (explain(refused.code).retry === 'no') return { is: 'stop', failure: refused }
  return { is: 'later', failure: refused, undone: false }
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
    case 'CLUSTER_CLIENT_CERT':
      return failure('SERVICENOW_CERT_INVALID', {
        instance,
        reason: `it requires a client certificate (${String(observed)})`,
      })
    case 'CLUSTER_TLS_MISMATCH':
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
