import { isBroken } from '../cluster/preflight.js'
import type { ClusterAnswer } from '../cluster/answers.js'
import type { Failure } from '../failure/failure.js'
import { askUnbroken } from '../proxy/fresh-connections.js'
import type { Route } from '../proxy/route.js'
import type { Asked, Context } from './context.js'

/** A connection that took longer to break will not be better a second time, and a person waits. */
export const BREAKS_WITHIN_MS = 1_000

/**
 * Asks on fresh connections until one does not break, like a preflight. One broken connection among many is no
 * finding.
 */
export async function askAgain(
  { ask, clock }: Context,
  route: Route,
  asked: Asked,
): Promise<{ readonly answer: ClusterAnswer | Failure; readonly broken: number }> {
  const until = clock.now() + BREAKS_WITHIN_MS
  return await askUnbroken(
    async () => await ask(route, asked),
    answer => isBroken(answer) && clock.now() < until,
  )
}
