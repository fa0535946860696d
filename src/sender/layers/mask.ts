/** The layer that removes credentials from what a server said. It may repeat them, and reasons go to the dead letters. */
import type { Send, Settled, Verdict } from '../send.js'

export type Mask = <T>(said: T) => T

export function mask(masked: Mask | undefined, inner: Send): Send {
  if (masked === undefined) return inner
  return async request => maskVerdict(await inner(request), masked)
}

function maskVerdict(verdict: Verdict, masked: Mask): Verdict {
  switch (verdict.kind) {
    case 'done':
      return { ...verdict, settled: maskSettled(verdict.settled, masked) }
    case 'retryItems':
      return { ...verdict, settled: maskSettled(verdict.settled, masked), failure: masked(verdict.failure) }
    default:
      return masked(verdict)
  }
}

/** Looks at text only, because a body may have many thousand refusals. */
function maskSettled(settled: Settled, masked: Mask): Settled {
  const refused = settled.refused.map(one => ({ ...one, type: masked(one.type), reason: masked(one.reason) }))
  return { ...settled, refused }
}
