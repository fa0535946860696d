import { type IndexSeen, seeIndex } from '../cluster/indices.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { Checkpoint } from '../state/checkpoint.js'
import { type LostIndices, isLost } from '../state/lost-index.js'
import { ReplayBatcher } from '../bulk/replay-batcher.js'
import type { StateSection } from '../options/load.js'
import type { Feature } from '../run/hooks.js'
import { refuseOtherReplay } from './other-replay.js'

/** One place for all dead letters, instead of their own. */
export interface Redirection {
  readonly index?: string
  readonly pipeline?: string
}

/** Reads the inputs as dead letters. Each goes to its original index, unless the redirection names another. */
export function sendDeadLetters(redirection: Redirection, { runId }: StateSection): Feature {
  return ({ stop }) => {
    const seen = new Map<string, Promise<IndexSeen>>()
    const seeOnce = async (cluster: Cluster, index: string) => {
      const asked = seen.get(index) ?? seeIndex(cluster, index, stop.signal)
      seen.set(index, asked)
      return await asked
    }
    return {
      identify: plain => {
        const options = { ids: 'replay', ...redirection }
        return {
          ...plain,
          // Dead letters name their own index, unless the redirection names one for all.
          scope: redirection.index ?? '',
          kind: 'replay',
          options,
          repeatsIds: true,
          doubt: 'documents without an id that Sluice was sending when the replay stopped may be stored twice',
          refuse: async claim => {
            await refuseOtherReplay({ ...claim, runId, sources: plain.sources, options })
          },
          lost: async (last, _seen, cluster) =>
            await lostDestinations(last, async index => await seeOnce(cluster, index)),
        }
      },
      frame: (framing, ledger) =>
        new ReplayBatcher({
          ...framing,
          ...redirection,
          longRecord: async (input, head) => await ledger.longRecord(input, head),
        }),
    }
  }
}

/** Returns the indices with stored dead letters that were deleted or recreated since then. */
async function lostDestinations(
  { target, status }: Checkpoint,
  see: (index: string) => Promise<IndexSeen>,
): Promise<LostIndices | undefined> {
  const { destinations = [] } = target
  const lost = await Promise.all(
    destinations.map(async ({ index, indexUuid }) => {
      return isLost(indexUuid, await see(index), true) ? [index] : []
    }),
  )
  const indices = lost.flat()
  if (indices.length === 0) return undefined
  const isPart = indices.length < destinations.length
  // A finished replay is not sent again because an old index of many was removed.
  return { indices, isPart, startsAfresh: !isPart || status !== 'finished' }
}
