/** A run and the cluster that it was loaded into, ready for lookups. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readIndices } from '../../route/cluster/alias.js'
import { viewOf } from '../../route/cluster/alias-view.js'
import { type IndexSeen, refresh, seeIndex } from '../../route/cluster/indices.js'
import { refreshAll, seeIndices } from '../../route/cluster/many-indices.js'
import { mayRead } from '../../route/cluster/privileges.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { openClusterItself } from '../../route/connect/open-target.js'
import { fail } from '../../base/failure/failure.js'
import { isDump } from '../../pipeline/format/dump-formats.js'
import { nearest } from '../../options/nearest.js'
import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import type { InputLocks } from '../../base/lock/lock.js'
import { ownRuns } from '../../run/state/runs/run-locks.js'
import { isRun, type KnownRun, knownRuns, readRun, stateDirAround } from '../../run/state/runs/runs.js'
import { systemClock } from '../../base/time/system-clock.js'
import { isGone } from '../../run/state/resume/lost-index.js'
import { loadedAgainBy } from './loaded-again.js'
import { Pace } from './pace.js'
import { readRejected } from './rejected-numbers.js'
import { idsOf, type InputIds } from './run-ids.js'
import type { VerifySection } from './verify-options.js'

interface FoundCheckpoint {
  readonly path: string
  readonly checkpoint: Checkpoint
  /** All others in the state folder, newest first. */
  readonly others: readonly KnownRun[]
  /** Paths of the checkpoints of earlier runs with the same name, which are not meant. */
  readonly namesakes: readonly string[]
}

/** Closes the route to the cluster when it is disposed. */
export interface OpenRun extends FoundCheckpoint, AsyncDisposable {
  readonly cluster: Cluster
  /** As the user named it. */
  readonly index: string
  readonly holders: string | readonly string[]
  readonly inputs: readonly InputIds[]
  /** Numbers of rejected documents by token, as far as the dead letters show them. */
  readonly rejected: ReadonlyMap<string, ReadonlySet<number>>
  /** The run that loaded documents of this run again: see `loadedAgainBy`. */
  readonly loadedBy: string | undefined
  readonly by: 'id' | 'search'
  /** Whether all that is stored can be seen. */
  readonly isFresh: boolean
  /** The names that may be aliases which hide documents. The credentials do not show whether they are. */
  readonly mayHide: readonly string[]
  readonly pace: Pace
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: VerifySection['onProgress']
  /** Notes for the person who reads the result. */
  readonly notes: readonly string[]
}

/** Ids that no option names. */
const named: Readonly<Record<string, string>> = {
  replay: 'the ids of dead letters',
  offset: 'the offsets of lines in ids',
}

const MOST_IDS = 1000
const IN_FLIGHT = 4

/**
 * Opens a run. `found`: the run's checkpoint, if the caller has it. Throws SluiceError RUN_NOT_FOUND, RUN_IDS_UNKNOWN and
 * RUN_ELSEWHERE, and errors of `openClusterItself`.
 */
export async function openRun(options: VerifySection, found?: FoundCheckpoint): Promise<OpenRun> {
  const { run, stateDir, maxElapsedMs, connecting, signal, onProgress } = options
  const known = found ?? (await findCheckpoint(stateDir, run))
  const { checkpoint, others, namesakes } = known
  const ids = checkpoint.options['ids'] ?? 'run'
  if (ids !== 'run') {
    throw fail('RUN_IDS_UNKNOWN', { run: checkpoint.run, ids: named[ids] ?? `--ids ${ids}` })
  }
  if (isDump(checkpoint.options['format']) || checkpoint.inputs.some(({ mark }) => mark.kind === 'actions'))
    throw fail('RUN_IDS_UNKNOWN', { run: checkpoint.run, ids: 'the ids that its documents had in a dump' })
  if (checkpoint.options['transform'] !== undefined)
    throw fail('RUN_IDS_UNKNOWN', { run: checkpoint.run, ids: '--transform' })
  const { cluster } = await openClusterItself(connecting, signal)
  try {
    const where = sameCluster(checkpoint, cluster)
    const { index } = checkpoint.target
    const own =
      checkpoint.target.indices === undefined ? await lookAt(checkpoint, cluster) : await lookAtAll(checkpoint, cluster)
    const held = await lookElsewhere(await noteFormer(own, checkpoint, cluster), checkpoint, cluster)
    const inputs = idsOf(
      checkpoint,
      others.map(one => one.checkpoint),
    )
    const loadedBy = loadedAgainBy(checkpoint, inputs, others)
    const { rejected, notes } = await readRejected(checkpoint, inputs)
    return {
      ...known,
      cluster,
      index,
      inputs,
      rejected,
      loadedBy,
      holders: held.holders,
      by: held.by,
      isFresh: held.isFresh,
      mayHide: held.mayHide,
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
      notes: [
        ...where,
        ...namesakes.map(sameName),
        ...held.notes,
        ...belongsTo(loadedBy),
        ...notesOn(checkpoint),
        ...notes,
      ],
      [Symbol.asyncDispose]: async () => await cluster.route.destroy(),
    }
  } catch (error) {
    await cluster.route.destroy()
    throw error
  }
}

/** Finds the checkpoint of a run by its name or its own path. Throws SluiceError RUN_NOT_FOUND, OPTION_INVALID, STATE_UNREADABLE. */
async function findCheckpoint(stateDir: string, run: string): Promise<FoundCheckpoint> {
  const { known } = await knownRuns(stateDir)
  const foundAs = (path: string, checkpoint: Checkpoint, namesakes: readonly string[]): FoundCheckpoint => {
    const others = known.filter(one => resolve(one.path) !== resolve(path))
    return { path, checkpoint, others, namesakes }
  }
  if (isRun(run) && (await isFile(run))) {
    const checkpoint = await readRun(run)
    if (checkpoint !== undefined) return foundAs(run, checkpoint, [])
  }
  const named = known.filter(({ checkpoint, isForgotten }) => checkpoint.run === run && !isForgotten)
  const last = named.filter(({ isEarlier }) => !isEarlier)
  const [first, ...others] = last.length > 0 ? last : named
  if (first === undefined) {
    const names = known.filter(one => !one.isForgotten).map(({ checkpoint }) => checkpoint.run)
    const near = nearest(run, names)
    const hint = near === undefined ? '' : ` (did you mean ${near}?)`
    throw fail('RUN_NOT_FOUND', { run, folder: `${stateDir}${hint}` })
  }
  if (others.length === 0) {
    const namesakes = named.filter(one => one !== first).map(({ path }) => path)
    return foundAs(first.path, first.checkpoint, namesakes)
  }
  const paths = [first, ...others].map(({ path, checkpoint }) => `${path} (into ${checkpoint.target.index})`)
  const problem = `${run} is the name of ${paths.length} runs. Pass the path of one checkpoint: ${paths.join(', ')}`
  throw fail('OPTION_INVALID', { option: 'run', problem })
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    found => found.isFile(),
    () => false,
  )
}

/** Returns a note about the cluster, if one is needed. Throws SluiceError RUN_ELSEWHERE. */
function sameCluster({ run, target, counts }: Checkpoint, { preflight, display }: Cluster): string[] {
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

/** The indices of a run, and the way to find its documents in them. */
interface Held extends Pick<OpenRun, 'holders' | 'by' | 'isFresh' | 'mayHide'> {
  readonly notes: readonly string[]
  /** Indices that the names of the run lead to. */
  readonly behind: readonly string[]
}

async function lookAt({ target, options }: Checkpoint, cluster: Cluster): Promise<Held> {
  const { index, indexUuid } = target
  const seen = await seeIndex(cluster, index)
  // A document with a routing value cannot be found by only its id.
  const by = seen.kind === 'index' && options['routingField'] === undefined ? 'id' : 'search'
  const isFresh = by === 'id' || seen.kind === 'missing' || (await refresh(cluster, index)) === undefined
  const { names, mayHide } = await viewOf(cluster, index, seen)
  const [only = index] = names
  return {
    holders: names.length === 1 ? only : names,
    by,
    isFresh,
    mayHide: mayHide ? [index] : [],
    behind: behindOf(index, seen),
    notes: [...noteOn(index, seen, indexUuid), ...unfresh(index, isFresh)],
  }
}

/** Looks at all indices that took documents of the run. */
async function lookAtAll({ target: { index, indices = [] } }: Checkpoint, cluster: Cluster): Promise<Held> {
  const named = indices.map(one => one.index)
  await mayRead(cluster, named, 'Sluice cannot look up documents')
  const seen = await seeIndices(cluster, named)
  const isFresh = (await refreshAll(cluster, named)) === undefined
  const holders = new Set<string>()
  const mayHide: string[] = []
  for (const name of named) {
    const view = await viewOf(cluster, name, seen.get(name))
    for (const one of view.names) holders.add(one)
    if (view.mayHide) mayHide.push(name)
  }
  const notes = indices.flatMap(one => noteOn(one.index, seen.get(one.index), one.indexUuid))
  const more = notes.length - MOST_NOTES
  const first = notes.slice(0, MOST_NOTES)
  const others = more > 0 ? [`the same is true of ${more} more indices`] : []
  return {
    holders: [...holders],
    by: 'search',
    isFresh,
    mayHide,
    behind: named.flatMap(name => behindOf(name, seen.get(name))),
    notes: [...first, ...others, ...unfresh(index, isFresh)],
  }
}

function behindOf(name: string, seen: IndexSeen | undefined): readonly string[] {
  return seen?.kind === 'name' ? seen.behind : [name]
}

/**
 * Notes the indices that stored documents, and to which an alias or a data stream no longer leads. One of them may be a copy of another,
 * so Sluice looks only where the name leads. One that is gone holds nothing.
 */
async function noteFormer(held: Held, { target }: Checkpoint, cluster: Cluster): Promise<Held> {
  const { index: name, holders = [], elsewhere = [] } = target
  const looked = new Set([...held.behind, ...elsewhere])
  const left = holders.filter(({ index }) => !looked.has(index))
  if (left.length === 0) return held
  const seen = await seeIndices(
    cluster,
    left.map(({ index }) => index),
  )
  const former = left.flatMap(one => (isGone(one.indexUuid, seen.get(one.index)) ? [] : [one.index]))
  if (former.length === 0) return held
  const [first] = former
  const names = former.length === 1 ? first : `${first} and ${former.length - 1} more indices`
  const note = `the run also stored documents in ${names}, to which ${name} no longer leads. Sluice did not look there. To include them, let ${name} lead there, and run this command again`
  return { ...held, isFresh: false, notes: [...held.notes, note] }
}

/** Adds the indices that pipelines chose. The target itself may be missing. */
async function lookElsewhere(held: Held, { target }: Checkpoint, cluster: Cluster): Promise<Held> {
  const { elsewhere = [] } = target
  if (elsewhere.length === 0) return held
  const holders = [...new Set([held.holders, elsewhere].flat())]
  await mayRead(cluster, holders, 'Sluice cannot look up documents')
  const isFresh = held.isFresh && (await refreshAll(cluster, holders)) === undefined
  const [first] = elsewhere
  const names = elsewhere.length === 1 ? first : `${first} and ${elsewhere.length - 1} more indices`
  const note = `a pipeline stored documents in ${names}, and Sluice looked there too`
  const unseen = held.isFresh && !isFresh ? unfresh(elsewhere.join(', '), false) : []
  return { ...held, holders, by: 'search', isFresh, notes: [...held.notes, note, ...unseen] }
}

const MOST_NOTES = 5

function noteOn(index: string, seen: IndexSeen | undefined, uuid: string | undefined): string[] {
  if (seen?.kind === 'missing') return [`the index ${index} no longer exists`]
  if (seen?.kind !== 'index' || uuid === undefined || seen.uuid === uuid) return []
  return [`${index} is a new index, not the one that the run was loaded into`]
}

function unfresh(index: string, isFresh: boolean): string[] {
  return isFresh ? [] : [`the credentials cannot refresh ${index}, so the newest documents might not be visible yet`]
}

/** Returns a note on documents that are missing, and may only be hidden. */
export function hiddenNote({ mayHide }: Pick<OpenRun, 'mayHide'>): string[] {
  if (mayHide.length === 0) return []
  const [first] = mayHide
  const names = mayHide.length === 1 ? first : `${first} and ${mayHide.length - 1} more`
  return [
    `the credentials do not show whether ${names} is an alias with a filter, which hides documents. Grant view_index_metadata, and run this command again`,
  ]
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

/**
 * Finds the checkpoint of a run to undo, and keeps every load away from it until the locks are given back.
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

/** Keeps documents that belong to a later run. Throws SluiceError UNDO_LOADED_AGAIN. */
export function refuseLoadedAgain({ checkpoint: { run }, loadedBy }: OpenRun): void {
  if (loadedBy !== undefined) throw fail('UNDO_LOADED_AGAIN', { run, later: loadedBy })
}

/** Keeps the index behind the alias of a guarded load: a rollback takes such a load back. Throws SluiceError UNDO_BEHIND_ALIAS, and as `call` does. */
export async function refuseBehindAlias(cluster: Cluster, { run, target }: Checkpoint): Promise<void> {
  const { alias, index } = target
  if (alias === undefined) return
  const isBehind = (await readIndices(cluster, index)).some(({ aliases }) => aliases[alias] !== undefined)
  if (isBehind) throw fail('UNDO_BEHIND_ALIAS', { run, index, alias })
}
