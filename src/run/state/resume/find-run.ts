/** Finds the run: a new one, or one with a checkpoint. Writes nothing. */
import type { IndexSeen } from '../../../route/cluster/indices.js'
import type { Cluster } from '../../../route/cluster/open-cluster.js'
import type { Lines, Source } from '../../../base/flow.js'
import type { StateSection } from '../../../options/load.js'
import { type Checkpoint, type Target, lettersOf } from '../checkpoint/checkpoint.js'
import { tokens, runKey } from './run-identity.js'
import { newRunId, randomTokens } from '../../../base/checksum/tokens.js'
import { type RunIdentity, dropPlan, type Plan } from './plan.js'
import { hasStored, type LostIndices, sayLost } from './lost-index.js'
import { type OpenLetters, openLetters } from '../runs/open-letters.js'
import { freePath, isJournal, type KnownRun, stampOf } from '../runs/runs.js'
import { isOfCommand, runsInto } from './runs-into.js'

export interface FoundRun {
  readonly plan: Plan
  /** The path of its file. Absent if no state is kept: there is no state folder, or no input can be read twice. */
  readonly path?: string
  /** The file that the run was read from, if that is another one. */
  readonly oldPath?: string
  /** When the run began. A resume keeps it. ISO 8601. */
  readonly began: string
  /** When this process took the run up. Later than all that the state folder knows, also if somebody has set the clock back. */
  readonly since: string
  /** The same for all runs of one command. */
  readonly key: string
  readonly target: Target
  /** Whether the run fills an index of its own. */
  readonly hasOwnIndex: boolean
  /** Whether the index does not exist yet, so that its uuid must be read later. */
  readonly isIndexMissing: boolean
  /** Whether the index is an alias or a data stream. */
  readonly isName: boolean
  /** Whether periodic refreshes of the index are off. A killed load may have turned them off. */
  readonly isUnrefreshed: boolean
  /** Whether the index, or one behind the name, has a pipeline of its own. */
  readonly isPiped: boolean
  /** The name that the user gave to the run. */
  readonly named: string | undefined
  /** Whether a process whose state is gone may have loaded the same documents under the same ids. */
  readonly isNamed: boolean
  readonly identity: Pick<RunIdentity, 'into' | 'scope' | 'kind' | 'replays'>
  readonly sources: readonly string[]
  readonly options: Checkpoint['options']
  /** Returns what is left of the rejected documents of earlier runs, each file once. */
  openLetters(runs: readonly Checkpoint[]): Promise<readonly OpenLetters[]>
  /** How safely the run is known. */
  readonly notes: readonly string[]
  readonly warnings: readonly string[]
}

interface RunQuery {
  readonly state: StateSection
  readonly dryRun: boolean
  /** Aborted: the run ends. */
  readonly signal: AbortSignal
  readonly identity: RunIdentity
  readonly sources: readonly Source[]
  readonly cluster: Cluster
  /** Absent: no input is known. */
  readonly stateDir: string | undefined
  /** See `Planning`. */
  readonly linesOf?: ((source: Source) => Promise<Lines>) | undefined
  /** The token of the one input, if it has one. */
  readonly token?: string | undefined
  /** Locks the run before Sluice continues it. Until the run is over, no other process may write it. */
  own(path: string): Promise<void>
  /** Throws SluiceError RUN_LOCKED if another process takes back what one of these runs has loaded. */
  rely(paths: readonly string[]): Promise<void>
}

/**
 * Returns the run to resume, or a new one.
 * Throws SluiceError STATE_UNREADABLE, INPUT_CHANGED, RUN_OPTIONS_CHANGED, INPUT_NOT_FOUND, INPUT_UNREADABLE, and what `own` and
 * the identity throw.
 */
export async function findRun(query: RunQuery): Promise<FoundRun> {
  for (;;) {
    const { identity, stateDir, own, rely } = query
    const { found, reliedOn, stamp } = await planFrom(query)
    const { plan, path } = found
    if (stateDir === undefined || path === undefined) return found
    await own(path)
    await rely(reliedOn)
    await identity.refuse?.({ stateDir, path, target: found.target })
    // Another process may have continued or removed the run before it was locked.
    const now = plan.continues === undefined ? undefined : stampOf(found.oldPath ?? path)
    if (now === stamp) return found
    await dropPlan(plan)
  }
}

interface Planned {
  readonly found: FoundRun
  /** Files of runs that have loaded inputs of this one. */
  readonly reliedOn: readonly string[]
  /** Stamp of the run to continue (see `stampOf`). */
  readonly stamp: string | undefined
}

async function planFrom(query: RunQuery): Promise<Planned> {
  const { identity, dryRun, signal, sources: named, cluster, stateDir } = query
  const { runId, again } = query.state
  await identity.look?.(cluster)
  const { where, place } = placeOf(cluster)
  const places = [...new Set([place, where.url])]
  const { known, rejecting, lastMs } =
    stateDir === undefined ? { known: [], rejecting: [], lastMs: 0 } : await runsInto(where, query)
  const since = new Date(Math.max(Date.now(), lastMs + 1)).toISOString()
  const [newest] = known
  const lastIndex = identity.lastIndex(newest?.checkpoint)
  const isSeen = lastIndex !== undefined && (!dryRun || newest !== undefined)
  const seen = isSeen ? await cluster.indices.see(lastIndex, signal) : undefined
  const lost = await lostOf(
    known.map(one => one.checkpoint),
    seen,
    query,
  )
  const startsAfresh = lost.filter(one => one.lost.startsAfresh).map(one => one.run)
  // A run that fills its own index, or reads tables, begins with another one.
  const isBound = isOfCommand(query)
  const runs = known.map(one => one.checkpoint).filter(run => !isBound || !startsAfresh.includes(run))
  const [previous] = runs
  // A glob that asks for dead letters finds those that the interrupted run itself wrote.
  const written = new Set(
    runs.flatMap(run => (run.status === 'finished' ? [] : lettersOf(run).map(({ path }) => path))),
  )
  const plan = await identity.plan({
    runs,
    rejecting,
    lost: new Set(startsAfresh),
    sources: named.filter(({ file }) => file === undefined || !written.has(file.path)),
    options: identity.options,
    again,
    key: runKey(place, identity, runId),
    named: runId,
    newRunId: () => runId ?? newRunId(),
    newToken: tokens({ ...query, idsIn: async (index, ids) => await idsIn(cluster, index, ids, signal) }, places, runs),
    linesOf: query.linesOf,
    ...(query.token === undefined && runId === undefined ? { tokenOfFile: randomTokens() } : {}),
    listsRefusals: dryRun,
  })
  const index = identity.index(plan.run)
  const seenNow = index === lastIndex ? seen : undefined
  identity.refuseIndex?.(seenNow, index)
  const continued = known.find(one => one.checkpoint === plan.continues)
  const file = await fileOf(plan, continued, dryRun ? undefined : stateDir)
  const by = new Set(plan.inputs.map(input => input.by))
  const reliedOn = known.filter(one => by.has(one.checkpoint)).map(one => one.path)
  const found: FoundRun = {
    plan,
    ...file,
    began: plan.continues?.began ?? since,
    since,
    key: runKey(place, identity, runId),
    target: { ...where, index, ...identity.target, ...seenOf(plan, previous, seenNow, startsAfresh.length > 0) },
    hasOwnIndex: identity.hasOwnIndex === true,
    isIndexMissing: index !== lastIndex || seen?.kind === 'missing',
    ...looksOf(seenNow),
    named: runId,
    isNamed: runId !== undefined && identity.repeatsIds,
    identity,
    sources: identity.sources,
    options: identity.options,
    openLetters: async runs => await openLetters(stateDir, runs),
    notes: [
      ...(file.path === undefined ? [] : notesOn(where, seen)),
      ...plan.notes,
      ...(identity.notes?.(index) ?? []),
    ],
    warnings: [
      ...lost.filter(one => isMeant(one, plan, isBound)).flatMap(one => sayLost(one.lost, one.run.run)),
      ...plan.warnings,
      ...doubtsOf(plan, identity),
    ],
  }
  // They may take much memory, and the plan has taken what it needs of them.
  for (const one of [...known.map(({ checkpoint }) => checkpoint), ...rejecting])
    if (one !== plan.continues) one.inputs.forget?.()
  return { found, reliedOn, stamp: continued?.stamp }
}

/** Returns the ids among these that an index holds. An index that is missing, or may not be read, holds none. */
async function idsIn(cluster: Cluster, index: string, ids: readonly string[], signal: AbortSignal): Promise<string[]> {
  const looked = await cluster.documents.find({ index, by: 'id', wanted: ids.map(id => ({ id })), signal })
  return looked.kind === 'found' ? looked.documents.map(({ id }) => id) : []
}

/** A run keeps its file. Only a file of an older Sluice is replaced by one of this version. */
async function fileOf(
  { run }: Plan,
  continued: KnownRun | undefined,
  stateDir: string | undefined,
): Promise<Pick<FoundRun, 'path' | 'oldPath'>> {
  const was = continued?.isForgotten === true ? undefined : continued?.path
  if (stateDir === undefined) return was === undefined ? {} : { oldPath: was }
  if (was === undefined) return { path: await freePath(stateDir, run) }
  return isJournal(was) ? { path: was } : { path: await freePath(stateDir, run), oldPath: was }
}

/** What the index is, as it was seen. */
function looksOf(seen: IndexSeen | undefined): Pick<FoundRun, 'isName' | 'isUnrefreshed' | 'isPiped'> {
  return {
    isName: seen?.kind === 'name',
    isUnrefreshed: seen !== undefined && 'isUnrefreshed' in seen,
    isPiped: seen !== undefined && 'isPiped' in seen,
  }
}

function doubtsOf({ isDoubtful }: Plan, { doubt }: Pick<RunIdentity, 'doubt'>): readonly string[] {
  return isDoubtful && doubt !== undefined ? [doubt] : []
}

interface Lost {
  readonly run: Checkpoint
  readonly lost: LostIndices
}

async function lostOf(
  runs: readonly Checkpoint[],
  seen: IndexSeen | undefined,
  { identity, cluster }: RunQuery,
): Promise<Lost[]> {
  const found: Lost[] = []
  for (const run of runs) {
    const lost = await identity.lost(run, seen, cluster)
    if (lost !== undefined) found.push({ run, lost })
  }
  return found
}

/** Returns whether the loss of a run matters to this one. */
function isMeant({ run }: Lost, { inputs, continues }: Plan, isBound: boolean): boolean {
  return isBound || continues === run || inputs.some(({ by }) => by === run)
}

function placeOf({ preflight, display }: Cluster): { where: Pick<Target, 'clusterUuid' | 'url'>; place: string } {
  const uuid = preflight.info?.uuid
  const clusterUuid = uuid === undefined || uuid === '_na_' ? undefined : uuid
  return {
    where: { ...(clusterUuid === undefined ? {} : { clusterUuid }), url: display },
    place: clusterUuid ?? display,
  }
}

/** Returns what the target is known by, as it was seen now, or before if it cannot be read this time. */
function seenOf(
  plan: Plan,
  last: Checkpoint | undefined,
  known: IndexSeen | undefined,
  loadsAgain: boolean,
): Pick<Target, 'indexUuid' | 'witnesses' | 'behind' | 'holders' | 'destinations' | 'indices' | 'elsewhere'> {
  const before = plan.continues?.target
  const continues = before !== undefined || plan.inputs.some(input => input.place !== undefined)
  const wasUuid = continues && known?.kind === 'unreadable' ? last?.target.indexUuid : undefined
  const indexUuid = known?.kind === 'index' ? known.uuid : wasUuid
  // Documents of a run that is loaded again may be in any of them.
  const isKnown = before === undefined && !loadsAgain
  const behind = isKnown && known?.kind === 'name' ? known.behind : before?.behind
  return {
    ...(indexUuid === undefined ? {} : { indexUuid }),
    // The cluster may not have answered when they were looked for.
    ...(before?.witnesses === undefined ? {} : { witnesses: before.witnesses }),
    ...(behind === undefined ? {} : { behind }),
    ...(before?.holders === undefined ? {} : { holders: before.holders }),
    ...(before?.indices === undefined ? {} : { indices: before.indices }),
    ...(before?.elsewhere === undefined ? {} : { elsewhere: before.elsewhere }),
    // The indices of a run that stored nothing so far have refused its documents.
    ...(before?.destinations === undefined || plan.continues === undefined || !hasStored(plan.continues)
      ? {}
      : { destinations: before.destinations }),
  }
}

function notesOn({ clusterUuid }: Pick<Target, 'clusterUuid'>, seen: IndexSeen | undefined): string[] {
  const notes: string[] = []
  if (clusterUuid === undefined)
    notes.push("no answer shows the cluster's uuid, so the checkpoint belongs to the URL and the index name")
  if (seen?.kind === 'unreadable')
    notes.push(
      `the credentials cannot read the index's uuid (${seen.observed}), so Sluice cannot notice a new index of that name`,
    )
  return notes
}
