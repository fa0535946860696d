/** Finds the failures that say: access to the index is lost, and nothing is wrong with the documents. */
import { explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import type { Verdict } from './verdict.js'

/** The proxy, the IP filter, the cluster's credentials, a block of the index. */
export function isAccessLoss({ code }: Failure): boolean {
  const { stage } = explain(code)
  return stage === 'proxy' || stage === 'egress' || code === 'CLUSTER_AUTH_REJECTED' || code === 'INDEX_BLOCKED'
}

/** Returns the loss of access that a request met, if it certainly stored nothing. */
export function accessLossIn(verdict: Verdict): Failure | undefined {
  if (verdict.kind !== 'retryItems' && verdict.kind !== 'wait' && verdict.kind !== 'stop') return undefined
  if (verdict.delivery === 'possible') return undefined
  return isAccessLoss(verdict.failure) ? verdict.failure : undefined
}

/** Returns the newer of two findings about the same loss, unless only the newer one may pass by itself. */
export function worseLoss(known: Failure, seen: Failure): Failure {
  const isPassing = explain(seen.code).retry === 'later' && explain(known.code).retry === 'no'
  return isAccessLoss(seen) && !isPassing ? seen : known
}

/** Returns whether other credentials may be enough. */
export function areCredentialsRefused({ code }: Failure): boolean {
  return code === 'PROXY_AUTH_REJECTED' || code === 'CLUSTER_AUTH_REJECTED'
}
