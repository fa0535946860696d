/** Compares the number of rejected documents with the user's limit. */
import { type Failure, failure } from '../../base/failure/failure.js'
import type { RejectionLimit } from '../../base/flow.js'
import type { Counts } from './receipt.js'

/** Returns TOO_MANY_REJECTED if the limit allows fewer. `shareFrom`: documents that must be read before a share counts. Default 0. */
export function tooManyRejected(
  limit: RejectionLimit | undefined,
  { read, rejected }: Pick<Counts, 'read' | 'rejected'>,
  shareFrom = 0,
): Failure | undefined {
  if (limit === undefined) return undefined
  if (typeof limit === 'number') {
    return rejected > limit ? failure('TOO_MANY_REJECTED', { rejected, limit }) : undefined
  }
  const tooMany = read >= shareFrom && rejected * 100 > Number.parseFloat(limit) * read
  return tooMany ? failure('TOO_MANY_REJECTED', { rejected, limit: `${limit} of ${read}` }) : undefined
}
