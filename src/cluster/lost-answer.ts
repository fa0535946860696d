import { explain } from '../failure/catalogue.js'
import { type Failure, failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import { routeErrorOf } from './connection.js'

/** A request that got no answer, or none of Elasticsearch's. */
export interface LostAnswer {
  readonly failure: Failure
  /** Whether the same request may succeed later. */
  readonly mayPass: boolean
  readonly delivery: 'none' | 'possible'
}

/** Why there was no answer to a question that no run depends on: a bug is one reason more. */
export function whyUnanswered(error: unknown, cluster: string): Failure {
  if (isSluiceError(error)) return error.failure
  return routeErrorOf(error)?.failure ?? failure('CLUSTER_UNAVAILABLE', { cluster, observed: 'no answer' })
}

/** What an error of the client says of the way. Throws it again for an abort, and for a bug. */
export function lostAnswer(error: unknown, cluster: string): LostAnswer {
  const lost = routeErrorOf(error)
  if (lost !== undefined && lost.code !== 'ABORTED') {
    const mayPass = explain(lost.failure.code).retry === 'later'
    return { failure: lost.failure, mayPass, delivery: lost.delivery }
  }
  if (error instanceof Error && error.name === 'ProductNotSupportedError') {
    const observed = 'an answer without the x-elastic-product header'
    const named = failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed })
    return { failure: named, mayPass: false, delivery: 'possible' }
  }
  // An error of the client holds the request, and with it the credentials.
  if (error instanceof Error && 'meta' in error && lost === undefined)
    throw new Error(`${error.name}: ${error.message}`)
  throw error
}
