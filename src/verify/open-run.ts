/** A run and the cluster that it was loaded into, ready to be looked up. */
import { type IndexSeen, refresh, seeIndex } from '../cluster/indices.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { Checkpoint } from '../state/checkpoint.js'
import { openTarget } from '../connect/open-target.js'
import { systemClock } from '../time/system-clock.js'
import { type FoundCheckpoint, findCheckpoint } from './find-checkpoint.js'
import { Pace } from './pace.js'
import { type InputIds, idsOf } from './run-ids.js'
import type { VerifySection } from './verify-options.js'
import { fail } from '../failure/fail.js'

export interface OpenRun extends FoundCheckpoint {
  readonly cluster: Cluster
  readonly inputs: readonly InputIds[]
  readonly by: 'id' | 'search'
  /** Whether all that is stored can be seen. */
  readonly isFresh: boolean
  readonly pace: Pace
  /** What a person should know of what is found. */
  readonly notes: readonly string[]
}

const MOST_IDS = 1000
const IN_FLIGHT = 4

/**
 * `found`: its checkpoint, where that was looked for before. Throws SluiceError RUN_NOT_FOUND, RUN_IDS_UNKNOWN and RUN_ELSEWHERE,
 * and what `openTarget` throws. The cluster's route is the caller's to end.
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
    // Without its routing value, a document is not found by its id alone.
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

/** What has to be said of it. Throws SluiceError RUN_ELSEWHERE. */
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
