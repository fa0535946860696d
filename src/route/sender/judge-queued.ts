/**
 * Judges the answers of a managed ingest endpoint. It takes a whole batch into its queue, or nothing of it, and does not know ids:
 * a second send is stored a second time. A 201 says that a document is queued.
 */
import { type ClusterAnswer, whoAnswered } from '../cluster/answers.js'
import { nameManagedRefusal, reasonIn } from '../cluster/managed-endpoint.js'
import { failure } from '../../base/failure/failure.js'
import { retryAfterMs } from '../../base/time/retry.js'
import { type Judging, judgeAnswer } from './judge-answer.js'
import type { Settled, Verdict } from './send.js'

export function judgeQueued(answer: ClusterAnswer, judging: Judging): Verdict {
  const { statusCode: status } = answer
  if (status < 300) {
    const verdict = judgeAnswer({ ...answer, statusCode: 200 }, judging)
    return 'settled' in verdict ? { ...verdict, settled: queued(verdict.settled) } : verdict
  }
  const answered = whoAnswered(answer, judging.route)
  if (answered.by === 'proxy' || answered.by === 'filter') return judgeAnswer(answer, judging)
  const { cluster } = judging
  if (status === 400) {
    const refusal = {
      status,
      type: answered.by === 'elasticsearch' ? (answered.type ?? 'error') : 'bad_request',
      reason: reasonIn(answered),
    }
    return { kind: 'split', refusal, alike: failure('REQUEST_REFUSED', { cluster, ...refusal }), delivery: 'none' }
  }
  const named = nameManagedRefusal(answer, answered, cluster)
  if (status < 500 && status !== 429)
    return status === 403 ? { kind: 'stop', failure: named, delivery: 'none' } : judgeAnswer(answer, judging)
  const after = retryAfterMs(answer.headers, judging.now)
  // The endpoint says 429 or 503 if it could not queue a batch. Any other answer may come from a gateway that lost the endpoint's own.
  const delivery = status === 429 || status === 503 ? 'none' : 'possible'
  return { kind: 'wait', failure: named, delivery, ...(after === undefined ? {} : { retryAfterMs: after }) }
}

/** An item that is queued says nothing of its end, whatever its status. */
function queued({ created, updated, dropped = 0, ...settled }: Settled): Settled {
  return { ...settled, created: 0, updated: 0, accepted: created + updated + dropped }
}
