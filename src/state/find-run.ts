/** Which run this is: a new one, or one that a checkpoint knows of. Nothing is written here. */
import { createHash, randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { type AliasFacts, readAlias } from '../cluster/alias.js'
import { type IndexSeen, seeIndex } from '../cluster/indices.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { Source } from '../flow.js'
import type { IngestOptions } from '../options/ingest-options.js'
import type { Checkpoint, Target } from './checkpoint.js'
import { checkpointPath, readCheckpoint } from './checkpoint-file.js'
import { type Plan, type Planning, planRun } from './plan-run.js'
import { randomToken, tokenOf } from './token.js'
import { lostDestinations, lostIndex, movedIndex, sayLost } from './lost-index.js'
import type { Replaying } from '../run/open-batcher.js'
import { refuseOtherReplay } from './other-replay.js'
import { freshIndex, leadsTo, planGuarded } from '../guarded/plan-guarded.js'
import { instanceOf, isTable, namedIn } from '../options/table-names.js'
import { fail } from '../failure/fail.js'

export interface FoundRun {
  readonly plan: Plan
  /** The checkpoint of an earlier run, whose place that of this one takes. */
  readonly replaces?: Checkpoint
  /** Of the checkpoint. Absent where none is kept: no folder for it, or no input that could be read a second time. */
  readonly path?: string
  readonly target: Target
  /** Of a guarded load: as it stands. */
  readonly alias?: AliasFacts
  /** Whether the index has to be asked for its uuid once it is there. */
  readonly isIndexMissing: boolean
  /** Whether a process whose state is gone may have loaded the same documents under the same ids. */
  readonly isNamed: boolean
  readonly sources: readonly string[]
  readonly options: Checkpoint['options']
  /** What it says of how safely the run is known. */
  readonly notes: readonly string[]
  readonly warnings: readonly string[]
}

/**
 * Throws SluiceError STATE_UNREADABLE, INPUT_CHANGED, RUN_OPTIONS_CHANGED, INPUT_NOT_FOUND, INPUT_UNREADABLE; for a guarded
 * load ALIAS_CONFLICT, and every failure of asking for the alias; and what `own` throws, which is called with the path of the
 * checkpoint before that is read: until the run is over nobody else may write it. `token`: of the one input, where it has one.
 */
export async function findRun(
  options: IngestOptions,
  named: readonly Source[],
  cluster: Cluster,
  replaying: Replaying | undefined,
  own: (path: string) => Promise<void> = async () => await Promise.resolve(),
  token?: string,
): Promise<FoundRun> {
  const { swapAlias, runId, again = false, signal } = options
  const alias = swapAlias === undefined ? undefined : await readAlias(cluster, swapAlias)
  // No index has a blank in its name.
  const index = swapAlias === undefined ? (options.index ?? '') : `alias ${swapAlias}`
  const uuid = cluster.preflight.info?.uuid
  const clusterUuid = uuid === undefined || uuid === '_na_' ? undefined : uuid
  const place = clusterUuid ?? cluster.display
  const names = namesOfInputs(options)
  const stateDir = stateDirOf(options, areRepeatable(named))
  // Where dead letters go they say themselves, unless it is said for all of them.
  const parts = replaying === undefined ? [index, names] : [replaying.index ?? '', names, 'replay']
  const key = commandKey([place, ...parts, runId ?? ''])
  const path = stateDir === undefined ? undefined : checkpointPath(stateDir, key)
  if (path !== undefined) await own(path)
  const last = path === undefined ? undefined : await readCheckpoint(path)
  const sent: Checkpoint['options'] = replaying === undefined ? whatIsSent(options) : { ids: 'replay', ...replaying }
  const where = { ...(clusterUuid === undefined ? {} : { clusterUuid }), url: cluster.display }
  if (replaying !== undefined && stateDir !== undefined && path !== undefined)
    await refuseOtherReplay(stateDir, { path, runId, sources: names, target: where, options: sent })
  // A glob that asks for dead letters finds those that the interrupted run itself wrote.
  const written = last?.status === 'finished' ? undefined : last?.deadLetters?.path
  const sources = named.filter(({ file }) => file === undefined || file.path !== written)
  const lastIndex = alias === undefined ? index : last?.target.index
  const seen: IndexSeen | undefined =
    options.dryRun === true || lastIndex === undefined ? undefined : await seeIndex(cluster, lastIndex, signal)
  const hasTables = named.some(({ rows }) => rows !== undefined)
  // A data stream drops its oldest indices, and stays what it is.
  const readsChanges = hasTables && options.op !== 'create'
  const lost =
    last === undefined || seen === undefined
      ? undefined
      : replaying === undefined
        ? (lostIndex(last, seen) ?? (readsChanges ? movedIndex(last, seen) : undefined))
        : await lostDestinations(last, cluster, signal)
  // A table may have had no row to store, and so nothing that could be missing.
  const isOther = lost?.startsAfresh === true || (hasTables && seen?.kind === 'missing')
  const planning: Planning = {
    previous: isOther ? undefined : last,
    sources,
    isLookedAt: path !== undefined || runId !== undefined,
    options: sent,
    again,
    readsTablesWhole: alias !== undefined,
    newRunId: () => runId ?? newRunId(),
    newToken: (source, look) => {
      if (token !== undefined) return token
      if (runId === undefined) return randomToken()
      // Another content under the same name is another input: its documents would be taken for those that are there.
      // Of stdin, only the name is known before it is read.
      const file = source.copy === undefined ? look : undefined
      const name = source.copy?.of ?? source.name
      return tokenOf(runId, place, index, name, file?.size ?? 0, file?.head.sha256 ?? '')
    },
  }
  const plan =
    alias === undefined
      ? await planRun(planning)
      : await planGuarded({ ...planning, isSwitched: leadsTo(alias, lastIndex), isNamed: runId !== undefined })
  const into = swapAlias === undefined ? index : freshIndex(swapAlias, plan.run)
  const known = into === lastIndex ? seen : undefined
  if (hasTables) refuseDataStream(options, known, into)
  const isResume = plan.began !== undefined && last?.run === plan.run
  const goesOn = isResume || plan.inputs.some(input => input.place !== undefined)
  // What could not be read this time was read before.
  const wasUuid = goesOn && known?.kind === 'unreadable' ? last?.target.indexUuid : undefined
  const indexUuid = known?.kind === 'index' ? known.uuid : wasUuid
  const behind = isResume ? last.target.behind : known?.kind === 'name' ? known.behind : undefined
  return {
    plan,
    ...(last === undefined || plan.began !== undefined ? {} : { replaces: last }),
    ...(path === undefined ? {} : { path }),
    target: {
      ...where,
      index: into,
      ...(swapAlias === undefined ? {} : { alias: swapAlias }),
      ...(indexUuid === undefined ? {} : { indexUuid }),
      ...(behind === undefined ? {} : { behind }),
      ...(isResume && last.target.destinations !== undefined ? { destinations: last.target.destinations } : {}),
    },
    ...(alias === undefined ? {} : { alias }),
    isIndexMissing: into !== lastIndex || seen?.kind === 'missing',
    isNamed: runId !== undefined && (options.ids ?? 'run') === 'run',
    sources: names,
    options: sent,
    notes: [
      ...(path === undefined ? [] : notesOn(clusterUuid, seen)),
      ...plan.notes,
      ...(alias === undefined ? [] : [`loading into ${into}; ${alias.name} is on ${alias.on?.name ?? 'no index yet'}`]),
    ],
    warnings: [
      ...(lost === undefined || last === undefined ? [] : [sayLost(lost, last.run)]),
      ...plan.warnings,
      ...doubt(options, plan, replaying !== undefined),
    ],
  }
}

/** Returns the folder for the state of a run, or undefined if there is nothing to keep: a dry run, or no input that can be read twice. */
export function stateDirOf({ stateDir, dryRun }: IngestOptions, isRepeatable: boolean): string | undefined {
  return dryRun === true || !isRepeatable ? undefined : stateDir
}

/** Tells whether one of the inputs can be read twice. */
export function areRepeatable(sources: readonly Source[]): boolean {
  return sources.some(({ file, rows }) => file !== undefined || rows !== undefined)
}

/** Sortable by time, and unique. */
export function newRunId(): string {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  return `${time}-${randomBytes(3).toString('hex')}`
}

/** Returns the inputs as the user named them, but absolute. */
export function namesOfInputs({ source, servicenow }: Pick<IngestOptions, 'source' | 'servicenow'>): string[] {
  const instance = servicenow === undefined ? undefined : instanceOf(servicenow)
  return namedIn(source).map(name => {
    if (instance !== undefined && isTable(name)) return `${name} at ${instance}`
    return name === '-' ? name : resolve(name)
  })
}

/** Throws SluiceError OPTION_INVALID: what was read before is read again as it is now, which replaces a document. */
function refuseDataStream({ op = 'create' }: IngestOptions, known: IndexSeen | undefined, index: string): void {
  const isStream = known?.kind === 'name' && known.behind.some(name => name.includes(`.ds-${index}-`))
  if (!isStream || op === 'create') return
  const ways = 'load the table into an index, or keep each row as it was first read: --op create --on-conflict skip'
  const problem = `is '${op}', and ${index} is a data stream, which takes new documents alone: ${ways}`
  throw fail('OPTION_INVALID', { option: 'op', problem })
}

/** Returns a file name that stands for a command. */
export function commandKey(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

function whatIsSent(options: IngestOptions): Record<string, string> {
  const { op = 'create', ids = 'run', format = 'auto', idField, routingField, pipeline, pick } = options
  const body = options.indexBody === undefined ? undefined : commandKey([options.indexBody]).slice(0, 8)
  const given = { op, ids, format, idField, routingField, pipeline, pick, indexBody: body }
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

function notesOn(clusterUuid: string | undefined, seen: IndexSeen | undefined): string[] {
  const notes: string[] = []
  if (clusterUuid === undefined)
    notes.push("the cluster's uuid may not be read: the checkpoint belongs to its URL and the name of the index")
  if (seen?.kind === 'unreadable')
    notes.push(`the index's uuid may not be read (${seen.observed}): that it was made anew would not be noticed`)
  return notes
}

function doubt({ ids }: IngestOptions, { isDoubtful }: Plan, isReplay: boolean): string[] {
  if (!isDoubtful) return []
  if (isReplay) return ['documents without an id that were under way when the replay was cut off may be stored twice']
  if (ids !== 'cluster') return []
  return ['documents that were under way when the run was cut off may be stored twice: their ids are the cluster’s']
}
