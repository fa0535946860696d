/** From an answer to a verdict: pure, so that every rule of wire and contract can be tested without a server. */
import { nameRefusal } from '../cluster/name-refusal.js'
import { type Answer, type Answered, type RouteFacts, whoAnswered } from '../cluster/who-answered.js'
import { explain } from '../failure/catalogue.js'
import { type Failure, failure } from '../failure/failure.js'
import { type JudgedBody, judgeItems } from './judge-items.js'
import { retryAfterMs } from './retry-after.js'
import type { Delivery, Verdict } from './verdict.js'

export interface Judging {
  readonly body: JudgedBody
  /** The cluster's URL, without credentials, and the way to it. */
  readonly cluster: string
  readonly route: RouteFacts
  /** Milliseconds since the epoch, for a Retry-After that is a date. */
  readonly now: number
}

export function judgeAnswer(answer: Answer, judging: Judging): Verdict {
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

/** Whether the same request may be taken later, with nothing changed by a person. */
function mayPass(status: number, by: Answered['by'], named: Failure): boolean {
  if (by === 'filter') return false
  if (by === 'proxy') return explain(named.code).retry === 'later'
  return status === 429 || status === 502 || status === 503 || status === 504
}

/** A gateway's 502, 503 or 504 may hide a request that went through; the cluster's and the edge's own refusals do not. */
function deliveryOf(status: number, by: Answered['by']): Delivery {
  if (status === 429) return 'none'
  if (status === 503 && (by === 'elasticsearch' || by === 'edge')) return 'none'
  return 'possible'
}
