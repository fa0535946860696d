import { explain } from '../../failure/catalogue.js'
import { type Failure, failure } from '../../failure/failure.js'
import { SluiceError } from '../../failure/sluice-error.js'
import { RouteError } from '../../proxy/route-error.js'
import type { Refusal } from './judge-refusal.js'

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

/** Makes the error for a caller that stops before a request is sent. */
export function abortedByCaller(signal: AbortSignal): SluiceError {
  const named = failure('RUN_INTERRUPTED', { reason: 'the calling program aborted the request', settled: 0 })
  return new SluiceError(named, { cause: signal.reason })
}

/** Stops waiting on abort. The work continues, because others may wait for it too. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work
  // Perhaps nobody is left to hear why it failed.
  work.catch(() => {})
  if (signal.aborted) throw abortedByCaller(signal)
  return await new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(abortedByCaller(signal))
    signal.addEventListener('abort', onAbort, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
