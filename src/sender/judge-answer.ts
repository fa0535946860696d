/** Turns an answer, or an error, into a verdict. Pure, so that tests of every rule need no server. */
import { routeErrorOf } from '../cluster/client-connection.js'
import { type ClusterAnswer, type Answered, type RouteFacts, nameRefusal, whoAnswered } from '../cluster/answers.js'
import { explain } from '../failure/catalogue.js'
import { type Failure, failure } from '../failure/failure.js'
import { retryAfterMs } from '../time/retry.js'
import { type JudgedBody, judgeItems } from './judge-items.js'
import type { Delivery, Verdict } from './verdict.js'

export interface Judging {
  readonly body: JudgedBody
  /** The cluster's URL without credentials, and the route to it. */
  readonly cluster: string
  readonly route: RouteFacts
  /** Milliseconds since the epoch, for a Retry-After that is a date. */
  readonly now: number
}

export function judgeAnswer(answer: ClusterAnswer, judging: Judging): Verdict {
  const { statusCode: status } = answer
  if (status === 200) return judgeItems(answer, judging.body, judging.cluster)
  const answered = whoAnswered(answer, judging.route)
  const named = nameRefusal(answer, answered, judging.cluster)
  const type = answered.by === 'elasticsearch' ? (answered.type ?? 'error') : named.code
  const refusal = { status, type, reason: 'reason' in answered ? (answered.reason ?? named.message) : named.message }

  if (status === 413) return { kind: 'split', refusal, delivery: 'none' }
  if (mayPass(status, answered.by, named)) {
    const after = retryAfterMs(answer.headers['retry-after'], judging.now)
    const delivery = deliveryOf(status, answered.by)
    return { kind: 'wait', failure: named, delivery, ...(after === undefined ? {} : { retryAfterMs: after }) }
  }
  if (answered.by === 'elasticsearch' && (status === 400 || status === 500)) {
    const alike = failure('REQUEST_REFUSED', { cluster: judging.cluster, status, reason: refusal.reason, type })
    return { kind: 'split', refusal, alike, delivery: 'possible' }
  }
  return { kind: 'stop', failure: named, delivery: status >= 500 || status < 400 ? 'possible' : 'none' }
}

/** Returns whether the same request may succeed later although nobody changes anything. */
function mayPass(status: number, by: Answered['by'], named: Failure): boolean {
  if (by === 'filter') return false
  if (by === 'proxy') return explain(named.code).retry === 'later'
  return status === 429 || status === 502 || status === 503 || status === 504
}

/** Returns whether the request may have gone through: a gateway's 502, 503 or 504 may hide that. */
function deliveryOf(status: number, by: Answered['by']): Delivery {
  if (status === 429) return 'none'
  if (status === 503 && (by === 'elasticsearch' || by === 'edge')) return 'none'
  return 'possible'
}

/** Judges a request that got no answer. Throws any error again that is not one of the route: a bug. */
export function judgeError(error: unknown, cluster: string): Verdict {
  const lost = routeErrorOf(error)
  if (lost !== undefined) {
    const kind = explain(lost.failure.code).retry === 'later' ? 'wait' : 'stop'
    return { kind, failure: lost.failure, delivery: lost.delivery }
  }
  // Aborted before the client used the route.
  if (error instanceof Error && error.name === 'RequestAbortedError') {
    return { kind: 'wait', failure: failure('RUN_INTERRUPTED', { reason: 'aborted', settled: 0 }), delivery: 'none' }
  }
  if (error instanceof Error && error.name === 'ProductNotSupportedError') {
    const observed = 'status 200 without the x-elastic-product header'
    return { kind: 'stop', failure: failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed }), delivery: 'possible' }
  }
  // An error of the client holds the request, and with it the credentials.
  if (error instanceof Error && 'meta' in error) throw new Error(`${error.name}: ${error.message}`)
  throw error
}
