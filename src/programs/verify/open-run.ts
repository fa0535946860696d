/** A run and the cluster that it was loaded into, ready for lookups. */
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { openClusterItself } from '../../route/connect/open-target.js'
import { fail } from '../../base/failure/failure.js'
import { isOperation, rowOf } from '../../base/operation.js'
import { isDump } from '../../pipeline/format/formats.js'
import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import { systemClock } from '../../base/time/clock.js'
import { findCheckpoint, type FoundCheckpoint } from './find-checkpoint.js'
import { loadedAgainBy } from './loaded-again.js'
import { type Held, lookAtIndices } from './look-at-indices.js'
import { Pace } from './pace.js'
import { readRejected } from './rejected-numbers.js'
import { idsInInputs, whyNotReadable } from './ids-in-inputs.js'
import { idsOf, type InputIds, type Sought } from './run-ids.js'
import type { RecordedLoad, VerifySection } from './verify-options.js'

/** Closes the route to the cluster when it is disposed. */
export interface OpenRun extends FoundCheckpoint, Held, AsyncDisposable {
  readonly cluster: Cluster
  /** As the user named it. */
  readonly index: string
  readonly inputs: readonly InputIds[]
  /** Numbers of rejected documents by token, as far as the dead letters show them. */
  readonly rejected: ReadonlyMap<string, ReadonlySet<number>>
  /** The run that loaded documents of this run again: see `loadedAgainBy`. */
  readonly loadedBy: string | undefined
  /** Reads the ids from the inputs. Absent: the checkpoint says all. */
  readonly readIds?: () => AsyncIterable<Sought>
  readonly pace: Pace
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: VerifySection['onProgress']
  /** Notes for the person who reads the result. */
  readonly notes: readonly string[]
  /** Notes on dead letters that `rejected` lacks. */
  readonly lettersNotes: readonly string[]
}

/** Ids that no option names. */
const named: Readonly<Record<string, string>> = {
  replay: 'the ids of dead letters',
  offset: 'the offsets of lines in ids',
}

const MOST_IDS = 1000
const IN_FLIGHT = 4

/**
 * Opens a run. `found`: the run's checkpoint, if the caller has it. Throws SluiceError RUN_NOT_FOUND, RUN_UNDONE,
 * RUN_IDS_UNKNOWN and RUN_ELSEWHERE, and errors of `openClusterItself`.
 */
export async function openRun(options: VerifySection, found?: FoundCheckpoint): Promise<OpenRun> {
  const { run, stateDir, maxElapsedMs, connecting, signal, onProgress } = options
  const known = found ?? (await findCheckpoint(stateDir, run))
  const { checkpoint, others, namesakes } = known
  const recorded = await howToReadIds(checkpoint, options)
  const { cluster } = await openClusterItself(connecting, signal)
  try {
    const where = sameCluster(checkpoint, cluster)
    const { index } = checkpoint.target
    const { notes: onIndices, ...held } = await lookAtIndices(checkpoint, cluster)
    const inputs = idsOf(
      checkpoint,
      others.map(one => one.checkpoint),
    )
    const loadedBy = loadedAgainBy(checkpoint, inputs, others)
    const { rejected, notes: lettersNotes } = await readRejected(checkpoint, inputs, recorded === undefined)
    return {
      ...known,
      cluster,
      index,
      inputs,
      rejected,
      lettersNotes,
      loadedBy,
      ...(recorded === undefined ? {} : { readIds: () => idsInInputs(checkpoint, inputs, recorded, signal) }),
      ...held,
      pace: new Pace({
        most: MOST_IDS,
        inFlight: Math.min(IN_FLIGHT, connecting.concurrency),
        maxElapsedMs,
        clock: systemClock,
        wallClock: Date.now,
        random: Math.random,
        signal,
      }),
      signal,
      onProgress,
      notes: [...where, ...namesakes.map(sameName), ...onIndices, ...belongsTo(loadedBy), ...notesOn(checkpoint)],
      [Symbol.asyncDispose]: async () => await cluster.route.destroy(),
    }
  } catch (error) {
    await cluster.route.destroy()
    throw error
  }
}

/**
 * Returns how the inputs of a run are read again, if the ids of its documents stand only there. Throws SluiceError RUN_IDS_UNKNOWN if nothing
 * can say them.
 */
async function howToReadIds(
  checkpoint: Checkpoint,
  { loadedWith }: Pick<VerifySection, 'loadedWith'>,
): Promise<RecordedLoad | undefined> {
  const { run, options, inputs } = checkpoint
  const { ids = 'run', op = 'create', format, transform } = options
  if (isDump(format) || [...inputs].some(({ mark }) => mark.kind === 'actions'))
    throw fail('RUN_IDS_UNKNOWN', { run, ids: 'the ids that its documents had in a dump' })
  if (transform !== undefined) throw fail('RUN_IDS_UNKNOWN', { run, ids: '--transform' })
  if (ids === 'run') return undefined
  const how = named[ids] ?? `--ids ${ids}`
  // Lines of text become documents in a load only.
  const isReadable = isFromFields(ids) && isOperation(op) && rowOf(op).storesNew && format !== 'text'
  const recorded = isReadable ? loadedWith(options) : undefined
  if (recorded === undefined) throw fail('RUN_IDS_UNKNOWN', { run, ids: how })
  const why = await whyNotReadable(checkpoint)
  if (why !== undefined) throw fail('RUN_IDS_UNKNOWN', { run, ids: `${how}, and ${why}` })
  return recorded
}

function isFromFields(ids: string): boolean {
  return ids === 'field' || ids === 'hash'
}

/** Returns a note about the cluster, if one is needed. Throws SluiceError RUN_ELSEWHERE. */
export function sameCluster({ run, target, counts }: Checkpoint, { preflight, display }: Cluster): string[] {
  const uuid = preflight.info?.uuid
  const isKnown = target.clusterUuid !== undefined && uuid !== undefined && uuid !== '_na_'
  if (isKnown && uuid !== target.clusterUuid) throw fail('RUN_ELSEWHERE', { run, loaded: target.url, cluster: display })
  if (isKnown || target.url === display) return []
  if (counts.accepted > 0)
    return [`the run was sent to ${target.url}, and no answer shows whether it stores documents in ${display}`]
  return [
    `the run was loaded into ${target.url}, but the credentials do not show whether ${display} is the same cluster`,
  ]
}

function sameName(path: string): string {
  return `an earlier run with other content had the same name. To verify it, pass the path of its checkpoint: ${path}`
}

function belongsTo(run: string | undefined): string[] {
  if (run === undefined) return []
  return [`run ${run} loaded documents of this run again, under the same ids. Those that are there belong to that run`]
}

function notesOn({ status, options, counts }: Checkpoint): string[] {
  const notes: string[] = []
  if (status === 'running') notes.push('the run is still running, or was killed')
  else if (status !== 'finished') notes.push('the run is not finished')
  if (counts.accepted > 0) notes.push(queued)
  if (options['pipeline'] !== undefined)
    notes.push(`the ingest pipeline ${options['pipeline']} may have changed the ids of documents`)
  return notes
}

const queued =
  'the managed ingest endpoint stores documents some time after it accepted them, and does not promise to keep their ids. Documents that the index rejects are in the failure store of the data stream, if it has one'
