import { routeErrorOf } from '../cluster/connection.js'
import { explain } from '../failure/catalogue.js'
import { failure } from '../failure/failure.js'
import type { Verdict } from './verdict.js'

/** The verdict on a request that got no answer. Throws the error again when it is none of the way's: a bug. */
export function judgeError(error: unknown, cluster: string): Verdict {
  const lost = routeErrorOf(error)
  if (lost !== undefined) {
    const kind = explain(lost.failure.code).retry === 'later' ? 'wait' : 'stop'
    return { kind, failure: lost.failure, delivery: lost.delivery }
  }
  // Aborted before the client gave it to the way.
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
