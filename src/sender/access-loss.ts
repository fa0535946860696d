/** Which failures say that the way to the index is barred, though nothing is wrong with what is sent over it. */
import { explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import type { Verdict } from './verdict.js'

/** The proxy, the IP filter, the cluster's credentials, a block of the index. */
export function isAccessLoss({ code }: Failure): boolean {
  const { stage } = explain(code)
  return stage === 'proxy' || stage === 'egress' || code === 'CLUSTER_AUTH_REJECTED' || code === 'INDEX_BLOCKED'
}

/** What a request met, if it was that, and certainly stored nothing. */
export function accessLossIn(verdict: Verdict): Failure | undefined {
  if (verdict.kind === 'done' || verdict.kind === 'there' || verdict.kind === 'split') return undefined
  if (verdict.delivery === 'possible') return undefined
  return isAccessLoss(verdict.failure) ? verdict.failure : undefined
}

/** Of two findings about the same loss the newer one, unless it is one that passes by itself and the older is not. */
export function worseLoss(known: Failure, seen: Failure): Failure {
  const isPassing = explain(seen.code).retry === 'later' && explain(known.code).retry === 'no'
  return isAccessLoss(seen) && !isPassing ? seen : known
}

/** Whether other credentials may be all that is missing. */
export function areCredentialsRefused({ code }: Failure): boolean {
  return code === 'PROXY_AUTH_REJECTED' || code === 'CLUSTER_AUTH_REJECTED'
}
