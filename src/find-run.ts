/** Which run this is: a new one, or one that a checkpoint knows of. Nothing is written here. */
import { createHash, randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { type IndexSeen, seeIndex } from './cluster/index-uuid.js'
import type { Cluster } from './cluster/open-cluster.js'
import type { Source } from './flow.js'
import type { IngestOptions } from './ingest-options.js'
import type { Checkpoint, Target } from './ledger/checkpoint.js'
import { checkpointPath, readCheckpoint } from './ledger/checkpoint-file.js'
import { type Plan, planRun } from './ledger/plan-run.js'
import { randomToken, tokenOf } from './ledger/token.js'

export interface FoundRun {
  readonly plan: Plan
  /** Of the checkpoint. Absent where none is kept: no folder for it, or no input that could be read a second time. */
  readonly path?: string
  readonly target: Target
  /** Whether the index has to be asked for its uuid once it is there. */
  readonly isIndexMissing: boolean
  readonly sources: readonly string[]
  readonly options: Checkpoint['options']
  /** What it says of how safely the run is known. */
  readonly notes: readonly string[]
  readonly warnings: readonly string[]
}

/** Throws SluiceError STATE_UNREADABLE, INPUT_CHANGED, RUN_OPTIONS_CHANGED, INPUT_NOT_FOUND, INPUT_UNREADABLE. */
export async function findRun(options: IngestOptions, sources: readonly Source[], cluster: Cluster): Promise<FoundRun> {
  const { index, runId, again = false } = options
  const uuid = cluster.preflight.info?.uuid
  const clusterUuid = uuid === undefined || uuid === '_na_' ? undefined : uuid
  const place = clusterUuid ?? cluster.display
  const names = namesOf(options.source)
  const stateDir = stateDirOf(options, sources)
  const path = stateDir === undefined ? undefined : checkpointPath(stateDir, keyOf([place, index, names, runId ?? '']))
  const last = path === undefined ? undefined : await readCheckpoint(path)
  const seen: IndexSeen | undefined = options.dryRun === true ? undefined : await seeIndex(cluster, index)
  const isOther = last !== undefined && seen !== undefined && isOtherIndex(last, seen)
  const sent = whatIsSent(options)
  const plan = await planRun({
    previous: isOther ? undefined : last,
    sources,
    isLookedAt: path !== undefined || runId !== undefined,
    options: sent,
    again,
    newRunId: () => runId ?? newRunId(),
    newToken: (source, look) => {
      if (runId === undefined) return randomToken()
      // Another content under the same name is another input: its documents would be taken for those that are there.
      // Of stdin, only the name is known before it is read.
      const file = source.spool === undefined ? look : undefined
      return tokenOf(runId, place, index, source.name, file?.size ?? 0, file?.head.sha256 ?? '')
    },
  })
  const isResume = plan.began !== undefined && last?.run === plan.run
  const behind = isResume ? last.target.behind : seen?.kind === 'name' ? seen.behind : undefined
  return {
    plan,
    ...(path === undefined ? {} : { path }),
    target: {
      ...(clusterUuid === undefined ? {} : { clusterUuid }),
      url: cluster.display,
      index,
      ...(seen?.kind === 'index' ? { indexUuid: seen.uuid } : {}),
      ...(behind === undefined ? {} : { behind }),
    },
    isIndexMissing: seen?.kind === 'missing',
    sources: names,
    options: sent,
    notes: path === undefined ? [] : notesOn(clusterUuid, seen),
    warnings: [
      ...(isOther ? [`${index} is not the index any more that run ${last.run} loaded into: all is loaded anew`] : []),
      ...plan.warnings,
      ...doubt(options, plan),
    ],
  }
}

/** Where the state of a run is kept, if it is: undefined for a dry run, and where no input can be read a second time. */
export function stateDirOf({ stateDir, dryRun, spool }: IngestOptions, sources: readonly Source[]): string | undefined {
  const isGone = spool !== true && sources.every(({ file }) => file === undefined)
  return dryRun === true || isGone ? undefined : stateDir
}

/** Where what comes from stdin is kept for this command: known before the cluster is, which may be what is missing. */
export function spoolFolder({ source, index, runId }: IngestOptions, stateDir: string, url: URL): string {
  return join(stateDir, 'spool', keyOf([url.href, index, namesOf(source), runId ?? '']))
}

/** Sortable by time, and unique. */
export function newRunId(): string {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  return `${time}-${randomBytes(3).toString('hex')}`
}

function namesOf(source: IngestOptions['source']): string[] {
  const names = typeof source === 'string' ? [source] : Array.isArray(source) ? (source as unknown[]) : []
  return names.flatMap(name => (typeof name === 'string' ? [name === '-' ? name : resolve(name)] : []))
}

function keyOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

function isOtherIndex({ target, counts }: Checkpoint, seen: IndexSeen): boolean {
  if (seen.kind === 'index') return target.indexUuid !== undefined && target.indexUuid !== seen.uuid
  const wasThere = target.indexUuid !== undefined || counts.created + counts.updated + counts.duplicate > 0
  return seen.kind === 'missing' && wasThere
}

function whatIsSent(options: IngestOptions): Record<string, string> {
  const { op = 'create', ids = 'run', format = 'auto', idField, routingField, pipeline, pick } = options
  const given = { op, ids, format, idField, routingField, pipeline, pick }
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

function doubt({ ids }: IngestOptions, { isDoubtful }: Plan): string[] {
  if (!isDoubtful || ids !== 'cluster') return []
  return ['documents that were under way when the run was cut off may be stored twice: their ids are the cluster’s']
}
