import { seeIndex } from '../cluster/indices.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { Checkpoint } from '../state/checkpoint.js'
import { type LostIndices, isLost } from '../state/lost-index.js'

/** Returns the indices that dead letters were stored in and that were deleted or made anew since. */
export async function lostDestinations(
  { target, status }: Checkpoint,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<LostIndices | undefined> {
  const { destinations = [] } = target
  const lost = await Promise.all(
    destinations.map(async ({ index, indexUuid }) => {
      return isLost(indexUuid, await seeIndex(cluster, index, signal), true) ? [index] : []
    }),
  )
  const indices = lost.flat()
  if (indices.length === 0) return undefined
  const isPart = indices.length < destinations.length
  // A finished replay is not sent again because an old index of many was removed.
  return { indices, isPart, startsAfresh: !isPart || status !== 'finished' }
}
