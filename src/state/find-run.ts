/** Finds the run: a new one, or one with a checkpoint. Writes nothing. */
import { type IndexSeen, seeIndex } from '../cluster/indices.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { FileLook, Source } from '../flow.js'
import type { StateSection } from '../options/load.js'
import type { Checkpoint, Target } from './checkpoint.js'
import { checkpointPath, readCheckpoint } from './checkpoint-file.js'
import { sayLost } from './lost-index.js'
import type { Plan, Planning } from './plan.js'
import { newRunId, randomToken, type RunIdentity, runKey, tokenOf } from './run-identity.js'

export interface FoundRun {
  readonly plan: Plan
  /** The checkpoint of an earlier run, whose place that of this one takes. */
  readonly replaces?: Checkpoint
  /** Path of the checkpoint. Absent if none is kept: there is no state folder, or no input can be read twice. */
  readonly path?: string
  readonly target: Target
  /** Whether the run fills an index of its own. */
  readonly hasOwnIndex: boolean
  /** Whether the index does not exist yet, so that its uuid must be read later. */
  readonly isIndexMissing: boolean
  /** Whether a process whose state is gone may have loaded the same documents under the same ids. */
  readonly isNamed: boolean
  readonly sources: readonly string[]
  readonly options: Checkpoint['options']
  /** How safely the run is known. */
  readonly notes: readonly string[]
  readonly warnings: readonly string[]
}

export interface RunQuery {
  readonly state: StateSection
  readonly dryRun: boolean
  /** Aborted: the run ends. */
  readonly signal: AbortSignal
  readonly identity: RunIdentity
  readonly sources: readonly Source[]
  readonly cluster: Cluster
  /** Absent: no checkpoint is kept. */
  readonly stateDir: string | undefined
  /** The token of the one input, if it has one. */
  readonly token?: string | undefined
  /** Locks the checkpoint before Sluice reads it. Until the run is over, no other run may write it. */
  own(path: string): Promise<void>
}

/**
 * Returns the run to resume, or a new one.
 * Throws SluiceError STATE_UNREADABLE, INPUT_CHANGED, RUN_OPTIONS_CHANGED, INPUT_NOT_FOUND, INPUT_UNREADABLE, and what `own` and
 * the identity throw.
 */
export async function findRun(query: RunQuery): Promise<FoundRun> {
  const { identity, dryRun, signal, sources: named, cluster, stateDir, own } = query
  const { runId, again } = query.state
  await identity.look?.(cluster)
  const { where, place } = placeOf(cluster)
  const path = stateDir === undefined ? undefined : checkpointPath(stateDir, runKey(place, identity, runId))
  if (path !== undefined) await own(path)
  const last = path === undefined ? undefined : await readCheckpoint(path)
  if (stateDir !== undefined && path !== undefined) await identity.refuse?.({ stateDir, path, target: where })
  // A glob that asks for dead letters finds those that the interrupted run itself wrote.
  const written = last?.status === 'finished' ? undefined : last?.deadLetters?.path
  const lastIndex = identity.lastIndex(last)
  const seen = dryRun || lastIndex === undefined ? undefined : await seeIndex(cluster, lastIndex, signal)
  const lost = last === undefined || seen === undefined ? undefined : await identity.lost(last, seen, cluster)
  const plan = await identity.plan({
    previous: lost?.startsAfresh === true ? undefined : last,
    sources: named.filter(({ file }) => file === undefined || file.path !== written),
    isLookedAt: path !== undefined || runId !== undefined,
    options: identity.options,
    again,
    newRunId: () => runId ?? newRunId(),
    newToken: tokens(query, place),
  })
  const index = identity.index(plan.run)
  const known = index === lastIndex ? seen : undefined
  identity.refuseIndex?.(known, index)
  return {
    plan,
    ...(last === undefined || plan.began !== undefined ? {} : { replaces: last }),
    ...(path === undefined ? {} : { path }),
    target: { ...where, index, ...identity.target, ...seenOf(plan, last, known) },
    hasOwnIndex: identity.hasOwnIndex === true,
    isIndexMissing: index !== lastIndex || seen?.kind === 'missing',
    isNamed: runId !== undefined && identity.repeatsIds,
    sources: identity.sources,
    options: identity.options,
    notes: [...(path === undefined ? [] : notesOn(where, seen)), ...plan.notes, ...(identity.notes?.(index) ?? [])],
    warnings: [
      ...(lost === undefined || last === undefined ? [] : sayLost(lost, last.run)),
      ...plan.warnings,
      ...(plan.isDoubtful && identity.doubt !== undefined ? [identity.doubt] : []),
    ],
  }
}

function placeOf({ preflight, display }: Cluster): { where: Pick<Target, 'clusterUuid' | 'url'>; place: string } {
  const uuid = preflight.info?.uuid
  const clusterUuid = uuid === undefined || uuid === '_na_' ? undefined : uuid
  return {
    where: { ...(clusterUuid === undefined ? {} : { clusterUuid }), url: display },
    place: clusterUuid ?? display,
  }
}

function tokens({ state: { runId }, identity, token }: RunQuery, place: string): Planning['newToken'] {
  return (source: Source, look: FileLook | undefined) => {
    if (token !== undefined) return token
    if (runId === undefined) return randomToken()
    // A file with other content under the same name is another input: otherwise its documents would get the ids of
    // stored documents. For stdin only the name is known before reading.
    const file = source.copy === undefined ? look : undefined
    const name = source.copy?.of ?? source.name
    return tokenOf(runId, place, identity.into, name, file?.size ?? 0, file?.head.sha256 ?? '')
  }
}

/** Returns what the target is known by, as it was seen now, or before if it cannot be read this time. */
function seenOf(
  plan: Plan,
  last: Checkpoint | undefined,
  known: IndexSeen | undefined,
): Pick<Target, 'indexUuid' | 'behind' | 'destinations'> {
  const before = plan.began !== undefined && last?.run === plan.run ? last.target : undefined
  const continues = before !== undefined || plan.inputs.some(input => input.place !== undefined)
  const wasUuid = continues && known?.kind === 'unreadable' ? last?.target.indexUuid : undefined
  const indexUuid = known?.kind === 'index' ? known.uuid : wasUuid
  const behind = before === undefined ? (known?.kind === 'name' ? known.behind : undefined) : before.behind
  return {
    ...(indexUuid === undefined ? {} : { indexUuid }),
    ...(behind === undefined ? {} : { behind }),
    ...(before?.destinations === undefined ? {} : { destinations: before.destinations }),
  }
}

function notesOn({ clusterUuid }: Pick<Target, 'clusterUuid'>, seen: IndexSeen | undefined): string[] {
  const notes: string[] = []
  if (clusterUuid === undefined)
    notes.push(
      "the credentials may not read the cluster's uuid, so the checkpoint belongs to the URL and the index name",
    )
  if (seen?.kind === 'unreadable')
    notes.push(
      `the credentials may not read the index's uuid (${seen.observed}), so Sluice cannot notice a new index of that name`,
    )
  return notes
}
