/** Whether what a run has stored is still where it stored it: an index that was deleted or made anew has nothing of it. */
import { type IndexSeen, seeIndex } from '../cluster/indices.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { Checkpoint } from './checkpoint.js'

/** Indices of a run that were deleted or made anew. */
export interface LostIndices {
  readonly indices: readonly string[]
  /** What the run stored in others is still there. */
  readonly isPart: boolean
  /** Whether the run begins anew; else that is only told. */
  readonly startsAfresh: boolean
}

/** The one index of a load, as it was seen now. */
export function lostIndex({ target, counts }: Checkpoint, seen: IndexSeen): LostIndices | undefined {
  const { index, indexUuid } = target
  const isStored = counts.created + counts.updated + counts.duplicate > 0
  if (!isLost(indexUuid, seen, indexUuid !== undefined || isStored)) return undefined
  return { indices: [index], isPart: false, startsAfresh: true }
}

/**
 * The same of a table, of which only changes would be read: a name that leads to none of the indices any more that it led to has none of
 * its rows, as far as anybody knows.
 */
export function movedIndex({ target }: Checkpoint, seen: IndexSeen): LostIndices | undefined {
  const { index, indexUuid, behind } = target
  const was = behind ?? (indexUuid === undefined ? undefined : [index])
  if (was === undefined || (seen.kind !== 'name' && seen.kind !== 'index')) return undefined
  const now = seen.kind === 'name' ? seen.behind : [index]
  return was.some(name => now.includes(name)) ? undefined : { indices: was, isPart: false, startsAfresh: true }
}

/** Those that dead letters were stored in. */
export async function lostDestinations(
  { target, status }: Checkpoint,
  cluster: Cluster,
  signal: AbortSignal | undefined,
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
  // What is through is not sent again because an old index of many was removed.
  return { indices, isPart, startsAfresh: !isPart || status !== 'finished' }
}

export function sayLost({ indices, isPart, startsAfresh }: LostIndices, run: string): string {
  const are = indices.length === 1 ? 'is not the index' : 'are not the indices'
  const observed = `${indices.join(', ')} ${are} any more that run ${run} loaded into`
  if (!startsAfresh) return `${observed}: all is loaded anew with --again alone`
  const doubt = isPart ? ', and documents without an id are stored twice where they are still there' : ''
  return `${observed}: all is loaded anew${doubt}`
}

function isLost(wasUuid: string | undefined, seen: IndexSeen, wasThere: boolean): boolean {
  if (seen.kind === 'index') return wasUuid !== undefined && wasUuid !== seen.uuid
  return seen.kind === 'missing' && wasThere
}
