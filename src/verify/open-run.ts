/** A run and the cluster that it was loaded into, ready to be looked up. */
import { type IndexSeen, refresh, seeIndex } from '../cluster/indices.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { Checkpoint } from '../state/checkpoint.js'
import { openTarget } from '../connect/open-target.js'
import { systemClock } from '../time/system-clock.js'
import { findCheckpoint, type FoundCheckpoint } from './find-checkpoint.js'
import { Pace } from './pace.js'
import { idsOf, type InputIds } from './run-ids.js'
import type { VerifySection } from './verify-options.js'
import { fail } from '../failure/fail.js'
import type { InputLocks } from '../state/lock.js'
import { ownRuns, stateDirAround } from '../state/run-locks.js'
import { readIndices } from '../cluster/alias.js'

export interface OpenRun extends FoundCheckpoint {
  readonly cluster: Cluster
  readonly inputs: readonly InputIds[]
  readonly by: 'id' | 'search'
  /** Whether all that is stored can be seen. */
  readonly isFresh: boolean
  readonly pace: Pace
  /** Notes for the person who reads the result. */
  readonly notes: readonly string[]
}

const MOST_IDS = 1000
const IN_FLIGHT = 4

/**
 * `found`: the run's checkpoint, if the caller has it. Throws SluiceError RUN_NOT_FOUND, RUN_IDS_UNKNOWN and
 * RUN_ELSEWHERE, and errors of `openTarget`. The caller closes the cluster's route.
 */
export async function openRun(options: VerifySection, found?: FoundCheckpoint): Promise<OpenRun> {
  const { run, stateDir, maxElapsedMs, connecting, signal } = options
  const known = found ?? (await findCheckpoint(stateDir, run))
  const { checkpoint, others, namesakes } = known
  const ids = checkpoint.options['ids'] ?? 'run'
  if (ids !== 'run') {
    const named = ids === 'replay' ? 'the ids of dead letters' : `--ids ${ids}`
    throw fail('RUN_IDS_UNKNOWN', { run: checkpoint.run, ids: named })
  }
  const { cluster } = await openTarget(connecting, signal)
  try {
    const where = sameCluster(checkpoint, cluster)
    const { index } = checkpoint.target
    const seen = await seeIndex(cluster, index)
    // A document with a routing value cannot be found by its id alone.
    const by = seen.kind === 'index' && checkpoint.options['routingField'] === undefined ? 'id' : 'search'
    const isFresh = by === 'id' || seen.kind === 'missing' || (await refresh(cluster, index)) === undefined
    return {
      ...known,
      cluster,
      inputs: idsOf(checkpoint, others),
      by,
      isFresh,
      pace: new Pace({
        most: MOST_IDS,
        inFlight: Math.min(IN_FLIGHT, connecting.concurrency),
        maxElapsedMs,
        clock: systemClock,
        wallClock: Date.now,
        random: Math.random,
        ...(signal === undefined ? {} : { signal }),
      }),
      notes: [...where, ...namesakes.map(sameName), ...notesOn(checkpoint, seen, isFresh)],
    }
  } catch (error) {
    await cluster.route.destroy()
    throw error
  }
}

/** Returns a note about the cluster, if one is needed. Throws SluiceError RUN_ELSEWHERE. */
function sameCluster({ run, target }: Checkpoint, { preflight, display }: Cluster): string[] {
  const uuid = preflight.info?.uuid
  const isKnown = target.clusterUuid !== undefined && uuid !== undefined && uuid !== '_na_'
  if (isKnown && uuid !== target.clusterUuid) {
    throw fail('RUN_ELSEWHERE', { run, loaded: target.url, cluster: display })
  }
  if (isKnown || target.url === display) return []
  return [
    `the run was loaded into ${target.url}, and the credentials may not read whether ${display} is the same cluster`,
  ]
}

function sameName(path: string): string {
  return `an earlier run with other content had the same name: to verify it, pass the path of its checkpoint, ${path}`
}

function notesOn({ target, status, options }: Checkpoint, seen: IndexSeen, isFresh: boolean): string[] {
  const { index, indexUuid } = target
  const notes: string[] = []
  if (seen.kind === 'missing') notes.push(`the index ${index} no longer exists`)
  if (seen.kind === 'index' && indexUuid !== undefined && seen.uuid !== indexUuid)
    notes.push(`${index} is a new index, not the one that the run was loaded into`)
  if (!isFresh) notes.push(`the credentials may not refresh ${index}, so the newest documents may not be visible yet`)
  if (status === 'running') notes.push('the run is still running, or was killed')
  else if (status !== 'finished') notes.push('the run is not finished')
  if (options['pipeline'] !== undefined)
    notes.push(`the ingest pipeline ${options['pipeline']} may have dropped documents, or changed their ids or indices`)
  return notes
}

/**
 * Finds the checkpoint of a run that is to be undone, and keeps every load away from it until the locks are given back.
 * Throws SluiceError RUN_LOCKED, STATE_UNWRITABLE, and what `findCheckpoint` throws.
 */
export async function ownRun(
  stateDir: string,
  run: string,
): Promise<{ readonly known: FoundCheckpoint; readonly locks: InputLocks }> {
  for (;;) {
    const { path, checkpoint } = await findCheckpoint(stateDir, run)
    const [input] = checkpoint.inputs
    const owned = { path, run: checkpoint.run, input: input?.name ?? '', index: checkpoint.target.index }
    const locks = await ownRuns(stateDirAround(path) ?? stateDir, [owned], { isUndo: true })
    try {
      // A load that ended meanwhile may have rewritten the checkpoint, or made it an earlier one.
      const known = await findCheckpoint(stateDir, run)
      if (known.path === path) return { known, locks }
    } catch (error) {
      await locks[Symbol.asyncDispose]()
      throw error
    }
    await locks[Symbol.asyncDispose]()
  }
}

/**
 * A guarded load is taken back by a rollback: its index is not emptied while searches go there.
 * Throws SluiceError UNDO_BEHIND_ALIAS, and what asking for the index throws.
 */
export async function refuseBehindAlias(cluster: Cluster, { run, target }: Checkpoint): Promise<void> {
  const { alias, index } = target
  if (alias === undefined) return
  const isBehind = (await readIndices(cluster, index)).some(({ aliases }) => aliases[alias] !== undefined)
  if (isBehind) throw fail('UNDO_BEHIND_ALIAS', { run, index, alias })
}
