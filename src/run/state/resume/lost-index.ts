/** Finds out whether an index still holds the documents of a run. An index that was deleted or recreated does not. */
import { isOperation, rowOf } from '../../../base/operation.js'
import type { IndexSeen } from '../../../route/cluster/indices.js'
import type { Cluster } from '../../../route/cluster/open-cluster.js'
import { haveStayed } from './witnesses.js'
import type { Checkpoint, IndexHolder } from '../checkpoint/checkpoint.js'

/** Stands for the uuid of an index that was deleted before Sluice knew it. No index has it. */
export const DELETED = '(deleted)'

/** Indices of a run that were deleted or recreated. */
export interface LostIndices {
  /** Empty: nothing that was stored is known to be lost. */
  readonly indices: readonly string[]
  /** Whether what the run stored in others is still there. */
  readonly isPart: boolean
  /** Whether the run starts from the beginning. Otherwise Sluice only warns. */
  readonly startsAfresh: boolean
}

/** Returns the index of a load if it is lost. `seen`: its present state. Never throws. */
export async function lostIndex(
  run: Checkpoint,
  seen: IndexSeen | undefined,
  cluster: Cluster,
): Promise<LostIndices | undefined> {
  if (seen === undefined) return undefined
  const { target, status } = run
  const { index, indexUuid, elsewhere = [], witnesses = [] } = target
  // If a pipeline chose another index for all documents, their own index was never made.
  const isStored = elsewhere.length === 0 && hasStored(run)
  const isOther = seen.kind === 'index' && (await haveStayed(cluster, index, witnesses)) === false
  // Who copies an index into another one, and gives its name to an alias, keeps the documents of a finished load.
  const mayBeCopied = seen.kind === 'name' && status === 'finished'
  if (!isOther && (mayBeCopied || !isIndexLost(indexUuid, seen, indexUuid !== undefined || isStored)))
    return await lostHolders(run, seen, cluster)
  return { indices: [index], isPart: false, startsAfresh: true }
}

/**
 * Whether documents of a run were in its index. After a lost answer, Sluice may only know that an id exists, or needs no change. Skipped
 * documents show nothing: they may be blank lines, or documents that a function left out.
 */
export function hasStored({ counts, options }: Pick<Checkpoint, 'counts' | 'options'>): boolean {
  const { created, updated, duplicate, noop, unknown } = counts
  if (created + updated + duplicate > 0) return true
  const { op, script } = options
  return isOperation(op) && rowOf(op).repeat === 'conflict' ? unknown > 0 : noop > 0 && script === undefined
}

/**
 * Returns the indices of a run that stored documents under another name, and that were deleted or made again. A finished load is not
 * repeated because an old index is gone, as a retention removes it. `seen`: the name's present state. Never throws.
 */
export async function lostHolders(
  { target: { holders = [] }, status }: Pick<Checkpoint, 'target' | 'status'>,
  seen: IndexSeen | undefined,
  cluster: Cluster,
): Promise<LostIndices | undefined> {
  if (holders.length === 0) return undefined
  const isOver = status === 'finished'
  // There may be very many finished runs, and only an index that was made again matters to them.
  const asked = isOver && seen !== undefined ? [] : holders.map(({ index }) => index)
  const now = await cluster.indices.seeBehind(seen, asked)
  const lost = await lostOf(holders, now, { isOver, isGone: isIndexGone }, cluster)
  return lost.length === 0 ? undefined : { indices: lost, isPart: lost.length < holders.length, startsAfresh: true }
}

interface HowLost {
  /** Whether the load is finished. Then an index that is missing was removed on purpose. */
  readonly isOver: boolean
  isGone(wasUuid: string | undefined, seen: IndexSeen | undefined): boolean
}

/** Returns the indices that were deleted or made again. `now`: their present state. Never throws. */
async function lostOf(
  all: readonly IndexHolder[],
  now: ReadonlyMap<string, IndexSeen>,
  { isOver, isGone: isLostNow }: HowLost,
  cluster: Cluster,
): Promise<readonly string[]> {
  const lost: string[] = []
  for (const { index, indexUuid, witnesses = [] } of all) {
    const seen = now.get(index)
    const isOther = seen?.kind === 'index' && (await haveStayed(cluster, index, witnesses)) === false
    if (isOther || (isLostNow(indexUuid, seen) && (!isOver || seen?.kind === 'index'))) lost.push(index)
  }
  return lost
}

/** Returns whether an index that stored documents is another one now, or none. */
export function isIndexGone(wasUuid: string | undefined, seen: IndexSeen | undefined): boolean {
  return seen?.kind === 'name' || (seen !== undefined && isIndexLost(wasUuid, seen, true))
}

/** Returns the warning, if there is anything to warn of. */
export function sayLost({ indices, isPart, startsAfresh }: LostIndices, run: string): string[] {
  if (indices.length === 0) return []
  const are = indices.length === 1 ? 'is no longer the index' : 'are no longer the indices'
  const observed = `${indices.join(', ')} ${are} that run ${run} loaded into`
  if (!startsAfresh) return [`${observed}. To load everything again, pass --again`]
  const doubt = isPart ? '. If documents without an id still exist, it stores them twice' : ''
  return [`${observed}. Sluice loads everything again${doubt}`]
}

/** `wasThere`: whether the run stored anything in it. */
export function isIndexLost(wasUuid: string | undefined, seen: IndexSeen, wasThere: boolean): boolean {
  if (seen.kind === 'index') return wasUuid !== undefined && wasUuid !== seen.uuid
  // An alias has its name now.
  if (seen.kind === 'name') return wasUuid !== undefined
  return seen.kind === 'missing' && wasThere
}

/** A name that is an alias or a data stream has no uuid, and stays. */
export function isNameGone(uuid: string | undefined, seen: IndexSeen | undefined): boolean {
  return seen !== undefined && isIndexLost(uuid, seen, true)
}

/**
 * Returns the indices of a load that were deleted or made again. A finished load is not repeated because old indices were removed, as
 * a retention does. Never throws.
 */
export async function lostNamed(
  { target: { indices = [] }, status }: Pick<Checkpoint, 'target' | 'status'>,
  cluster: Cluster,
): Promise<LostIndices | undefined> {
  const taken = indices.filter(({ documents }) => documents > 0)
  if (taken.length === 0) return undefined
  const seen = await cluster.indices.seeAll(taken.map(({ index }) => index))
  const isOver = status === 'finished'
  const lost = await lostOf(taken, seen, { isOver, isGone: isNameGone }, cluster)
  if (lost.length === 0) return undefined
  return { indices: lost, isPart: lost.length < taken.length, startsAfresh: !isOver }
}
