/** Says which features hang on the runs of which program: one table. */
import { fieldsIn } from '../base/text/shown.js'
import type { Load } from '../options/load.js'
import type { Composed, Feature, RunArguments } from '../run/loop/hooks.js'
import type { KeptOrigin } from './another-cluster/open-origin.js'
import { fillIndices } from './destinations/fill-indices.js'
import { loadDumps } from './destinations/load-dumps.js'
import { loadIntoQueue, refuseQueue } from './destinations/load-into-queue.js'
import { runScript } from './destinations/run-script.js'
import { editDocuments } from './edits/edit-documents.js'
import { guardAlias } from './guarded/guard-alias.js'
import { learnLimits } from './limits/learn-limits.js'
import { limitTraffic, type SharedLimits, sharedLimits } from './limits/limit-traffic.js'
import { mapIndex } from './mapping/map-index.js'
import { rehearse } from './mapping/rehearse.js'
import { traceRun } from './metrics/trace-run.js'
import { loadRanges } from './ranges/range-load.js'
import type { KeptServers } from './remote/read-remote.js'
import { type Redirection, sendDeadLetters } from './replay/send-dead-letters.js'
import { recordTimeline } from './report/record-timeline.js'
import { nameUnread } from './rotated/name-unread.js'
import { spoolStdin } from './spool/spool-stdin.js'
import type { OpenPlatform } from './tables/open-platform.js'
import { lineDocuments } from './text/line-documents.js'
import { tuneIndex } from './tuned/tune-index.js'
import { remindOfRejected } from './unreplayed/remind.js'

/**
 * What runs a load: `ingest`, one round of a followed load (`follow`), ranges that a caller planned (`ranges`), ranges that a worker loads
 * over a connection of its own (`worker`), a job whose ranges workers load (`job`), `replay`, and a file of a receiver (`serve`).
 */
export type Program = 'ingest' | 'follow' | 'ranges' | 'worker' | 'job' | 'replay' | 'serve'

/** What all loads of one call share, or of one connection. */
export interface Shared {
  readonly limits: SharedLimits
  /** Where Sluice counts for the plan of the proxy. */
  readonly planDir: string | undefined
  readonly timeline: Feature
  readonly reminder: Feature
}

/** Returns what loads share that follow each other. `planDir`: see `Shared`. `perSecond`: see `sharedLimits`. */
export function sharedOf(load: Load, planDir: string | undefined, perSecond?: () => number): Shared {
  return {
    limits: sharedLimits(load.traffic, perSecond),
    planDir,
    timeline: recordTimeline(load),
    reminder: remindOfRejected({ isFollowed: load.follow !== undefined, ...load }),
  }
}

export interface Given {
  readonly load: Load
  readonly shared: Shared
  /** What OpenTelemetry calls the run. */
  readonly spans: Parameters<typeof traceRun>[0]
  /** The feature that the program itself hangs on its runs. */
  readonly own?: Feature | Composed
  readonly platform?: OpenPlatform | undefined
  /** Absent: the load opens its own connections to servers of objects. */
  readonly servers?: KeptServers | undefined
  /** Absent: the load opens another cluster by itself. */
  readonly origin?: KeptOrigin | undefined
  /** See `RangeJob`. */
  readonly isFirstDelivery?: boolean | undefined
  /** Where dead letters go, if not to their own index. */
  readonly to?: Redirection
}

interface Composing extends Given {
  readonly guard: ReturnType<typeof guardAlias>
}

type Row = readonly [programs: string, hang: (composing: Composing) => Hung | Promise<Hung>]
type Hung = Feature | Composed | undefined

/** One row for each feature, in the order of their endings, and one column for each program. */
const table: readonly Row[] = [
  ['       follow        worker job             ', ({ own }) => own],
  ['ingest follow ranges worker job replay serve', ({ spans }) => traceRun(spans)],
  ['ingest follow ranges worker job replay      ', ({ load, guard }) => spoolStdin(load, guard.isOpen)],
  ['ingest follow ranges worker job             ', ({ load }) => fillIndices(load)],
  ['ingest follow ranges worker job             ', ({ load }) => mapIndex(load)],
  ['ingest follow ranges worker job             ', ({ guard }) => guard.feature],
  ['ingest follow ranges worker job             ', readRemote],
  ['ingest follow ranges worker job             ', readTables],
  ['ingest        ranges worker                 ', readAnotherCluster],
  ['ingest                     job             ', heedPipeline],
  ['                                replay      ', ({ load, to = {} }) => sendDeadLetters(to, load)],
  ['ingest follow ranges worker job replay serve', limitsOf],
  ['ingest follow ranges worker job replay serve', () => learnLimits],
  ['ingest follow                   replay      ', ({ shared }) => shared.timeline],
  ['              ranges worker                 ', ({ isFirstDelivery = false }) => loadRanges(isFirstDelivery)],
  ['                                replay      ', () => refuseQueue],
  ['ingest follow ranges worker job             ', ({ load }) => loadIntoQueue(load)],
  ['ingest follow ranges worker job             ', ({ load }) => runScript(load)],
  ['ingest follow ranges worker job             ', ({ load }) => loadDumps(load)],
  ['ingest follow ranges worker job             ', transformDocuments],
  ['ingest follow ranges worker job             ', ({ load }) => editDocuments(load)],
  ['ingest        ranges worker job             ', ({ load }) => lineDocuments(load)],
  // The code that opened a connection for many loads knows whether its index is tuned.
  ['ingest        ranges        job             ', ({ load }) => tuneIndex(load)],
  ['ingest follow ranges worker job             ', ({ load }) => rehearse(load)],
  ['ingest        ranges                        ', () => nameUnread],
  ['ingest follow                   replay      ', ({ shared }) => shared.reminder],
]

/** Returns the features of a run, and the arguments that they give to it. */
export async function featuresOf(
  program: Program,
  given: Given,
): Promise<RunArguments & { readonly features: Feature[] }> {
  const composing = { ...given, guard: guardAlias(given.load) }
  const features: Feature[] = []
  let all: RunArguments = { decoding: () => ({ takesDumps: false }) }
  for (const [programs, hang] of table) {
    const hung = programs.split(/ +/).includes(program) ? await hang(composing) : undefined
    if (typeof hung === 'function') features.push(hung)
    else if (hung !== undefined) {
      const { feature, ...more } = hung
      features.push(feature)
      all = { ...all, ...more }
    }
  }
  const idColumns = idColumnsOf(given.load)
  return { ...all, decoding: cluster => ({ idColumns, ...all.decoding?.(cluster) }), features }
}

/** Returns the fields of which ids are made, unless documents get other fields on their way. */
function idColumnsOf({ documents: { ids }, edits, transform }: Load): readonly string[] | undefined {
  return 'field' in ids && edits === undefined && transform === undefined ? fieldsIn(ids.field) : undefined
}

function limitsOf({ load, shared }: Composing): Feature {
  return limitTraffic(load, shared.limits, shared.planDir)
}

/** Loads the code that reads another cluster, which a load of files does not need. */
async function readAnotherCluster({ load: { from, retrying }, origin }: Composing): Promise<Hung> {
  if (from === undefined) return undefined
  const { readIndices } = await import('./another-cluster/read-indices.js')
  return readIndices({ from, retrying }, origin)
}

/** Only documents of another cluster are compared with those of the target. */
async function heedPipeline({ load }: Composing): Promise<Hung> {
  if (load.from === undefined) return undefined
  const { warnOfPipeline } = await import('./another-cluster/warn-of-pipeline.js')
  return warnOfPipeline(load)
}

/** Loads the code that shares indices of another cluster among workers. */
export async function loadSpans(): Promise<typeof import('./another-cluster/shard-spans.js')> {
  return await import('./another-cluster/shard-spans.js')
}

/** Holds another cluster for loads that follow each other over one connection. */
export function keepOrigin(): KeptOrigin & AsyncDisposable {
  const kept: KeptOrigin = { found: new Map() }
  return Object.assign(kept, {
    [Symbol.asyncDispose]: async () => {
      const cluster = await kept.open?.catch(() => undefined)
      await cluster?.route.destroy()
    },
  })
}

/** Loads the code that writes documents of another cluster as a dump. No run needs it. */
export async function loadPull(): Promise<typeof import('./another-cluster/pull-indices.js')> {
  return await import('./another-cluster/pull-indices.js')
}

/** Loads the code that reads tables, which a load of files does not need. */
async function readTables({ load: { tables, ...load }, platform = openPlatform }: Composing): Promise<Hung> {
  if (tables === undefined) return undefined
  const feature = await import('./tables/read-tables.js')
  return feature.readTables({ ...load, tables }, platform)
}

const openPlatform: OpenPlatform = async (...given) => {
  const platform = await import('./tables/open-platform.js')
  return await platform.openPlatform(...given)
}

/** Loads the code that reads from servers. */
async function readRemote({ load: { remote, ...load }, servers }: Composing): Promise<Hung> {
  if (remote === undefined) return undefined
  const feature = await import('./remote/read-remote.js')
  return feature.readRemote({ ...load, remote }, servers)
}

/** Loads the code that runs functions of the user's. */
async function transformDocuments({ load: { transform } }: Composing): Promise<Hung> {
  if (transform === undefined) return undefined
  const feature = await import('./transform/transform-documents.js')
  return feature.transformDocuments({ transform })
}
