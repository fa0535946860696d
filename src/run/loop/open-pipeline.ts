/** Opens what documents pass, and what keeps account of them, for one run. */
import type { SlotPool } from '../../pipeline/bulk/slots.js'
import { isSluiceError } from '../../base/failure/failure.js'
import type { DeadLetters } from '../../pipeline/ledger/dead-letters.js'
import { Ledger } from '../../pipeline/ledger/ledger.js'
import { Sender, type SenderOptions } from '../../route/sender/sender.js'
import { type Checkpoint, nextLimitFrom } from '../state/checkpoint/checkpoint.js'
import { IndexWatch } from '../state/resume/index-watch.js'
import { StateKeeper } from '../state/resume/state-keeper.js'
import { statusOf } from '../../pipeline/ledger/receipt.js'
import { accessOf, stepRetrying } from './access-options.js'
import type { HookList } from './hook-list.js'
import type { BodyFramer, Retrier, RouteHook, RunSections } from './hooks.js'
import { retryStep } from './retry-step.js'
import { openBatcher } from './open-batcher.js'
import type { LockedRun } from './locked-run.js'
import type { StartedRun } from './start-run.js'
import { isLoopback } from '../../base/addresses.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { ResolvedTarget } from '../../route/connect/open-target.js'
import type { BatchSection, DocumentSection } from '../../options/load.js'
import type { AccessOptions } from '../../route/sender/layers/access.js'
import type { FoundRun } from '../state/resume/find-run.js'
import { systemClock } from '../../base/time/clock.js'
import type { BatchIds } from '../../route/sender/send.js'

export interface Pipeline {
  readonly batcher: BodyFramer
  readonly sender: Sender
  readonly ledger: Ledger
  readonly deadLetters: DeadLetters
  /** Absent: no checkpoint is kept. */
  readonly keeper: StateKeeper | undefined
  readonly watch: IndexWatch
  /** Notes for the receipt. */
  readonly notes: readonly string[]
}

/** Throws SluiceError if the state cannot be written, or a hook cannot begin. */
export async function openPipeline(
  run: LockedRun,
  { way, open, cluster, found }: StartedRun,
  deadLetters: DeadLetters,
  slots: SlotPool,
): Promise<Pipeline> {
  const { sections, hooks, stop, tell, stateDir, record } = run
  const { plan, path } = found
  const { givenUp } = stop
  const access = accessOf(sections.retrying, way, cluster, tell)
  const ledger = new Ledger(deadLetters, {
    maxRejected: sections.documents.maxRejected,
    before: plan.before.counts,
    limitFrom: limitFromOf(found),
    resendsUnanswered: idsOf(sections.documents, hooks).safeToResend,
    rejectedLong: refused => tell({ type: 'rejected', documents: [refused] }),
  })
  const watch = new IndexWatch({ found, cluster: open, ledger, givenUp })
  const keeper =
    path === undefined || plan.isDone ? undefined : new StateKeeper({ found, path, watch, ledger, deadLetters })
  await keeper?.start()
  if (keeper !== undefined) record.keptAt(keeper.path)
  const retrier = (settled: number): Retrier => {
    const patience = stepRetrying(sections.retrying, cluster, { stop, access, tell }, settled)
    return async step => await retryStep(patience, step)
  }
  const started = { cluster, found, ledger, stateDir, isKept: keeper !== undefined, retrier }
  try {
    for (const hook of hooks.all) await hook.prepare?.(started)
  } catch (error) {
    await keeper?.finish(isSluiceError(error) ? statusOf(error.failure) : 'failed')
    await keeper?.[Symbol.asyncDispose]()
    throw error
  }
  const notes: string[] = []
  const sender = openSender({ run, found, way, cluster, access, notes, watch })
  const batcher = openBatcher(run, slots, ledger, () => sender.bodyBytes)
  return { batcher, sender, ledger, deadLetters, keeper, watch, notes }
}

/** An index of the run's own is used only if the limit allows all that it lacks. */
function limitFromOf({ hasOwnIndex, plan: { continues } }: FoundRun): Checkpoint['limitFrom'] {
  return hasOwnIndex || continues === undefined ? undefined : nextLimitFrom(continues)
}

interface Sending {
  readonly run: LockedRun
  readonly found: FoundRun
  readonly way: ResolvedTarget
  readonly cluster: Cluster
  /** How to act if access is lost. */
  readonly access: AccessOptions
  /** Takes notes for the receipt. */
  readonly notes: string[]
  readonly watch: IndexWatch
}

function openSender({ run, found, way, cluster, access, notes, watch }: Sending): Sender {
  const { sections, hooks, stop, tell, record } = run
  const { index, behind } = found.target
  const { connecting, documents, batching, retrying, state } = sections
  const { pipeline, onConflict } = documents
  const sending = sendingOf(hooks)
  return new Sender({
    cluster,
    index,
    ...(pipeline === undefined ? {} : { pipeline }),
    ...idsOf(documents, hooks),
    followsPlaces: pipeline !== undefined || found.isPiped,
    holders: watch,
    onElsewhere: name => watch.storedIn(name),
    sentBefore: maySendAgain(sections, found),
    leftInDoubt: found.plan.isDoubtful,
    onConflict,
    // Only a checkpoint says who sent them before, and where to, unless the run has a name.
    ...(behind === undefined || state.runId !== undefined ? {} : { behind }),
    concurrency: connecting.concurrency,
    batchBytes: batching.batchBytes,
    compress: compressionOf(batching.compress, way, sending),
    maxElapsedMs: retrying.maxElapsedMs,
    access,
    clock: systemClock,
    wallClock: Date.now,
    random: Math.random,
    givenUp: stop.givenUp,
    masked: record.masked,
    onDoubt: message => {
      notes.push(message)
      tell({ type: 'warning', message })
    },
    onRetry: (why, docs, waitMs) => tell({ type: 'retry', failure: why, documents: docs, waitMs }),
    watcher: {
      onSent: sent => tell({ type: 'sent', ...sent }),
      onAnswered: answered => tell({ type: 'answered', ...answered }),
    },
    ...sending,
  })
}

/** Where bytes may cost money, they are compressed. On loopback only the CPU counts. Any other route is measured. */
export function compressionOf(
  compress: BatchSection['compress'],
  { url, proxy }: Pick<ResolvedTarget, 'url' | 'proxy'>,
  { budget, rates = [] }: NonNullable<RouteHook['sending']>,
): SenderOptions['compress'] {
  if (compress !== 'auto') return { isGzip: compress === 'gzip' }
  if (budget !== undefined || rates.some(({ countsBytes }) => countsBytes))
    return { isGzip: true, why: 'the load has a limit of bytes' }
  if (isLoopback(url.hostname) && (proxy === undefined || isLoopback(proxy.host))) return { isGzip: false }
  if (proxy !== undefined) return { isGzip: true, why: 'a proxy may count the bytes' }
  return 'measured'
}

/** Returns whether a document may already be stored under the id that it will be sent with. */
function maySendAgain({ documents, state }: RunSections, { plan }: FoundRun): boolean {
  if (documents.ids.from !== 'run') return plan.isDoubtful
  return (
    state.runId !== undefined || plan.continues !== undefined || plan.inputs.some(({ known }) => known !== undefined)
  )
}

/** Returns what hooks say of the sender. */
function sendingOf({ all }: HookList): NonNullable<RouteHook['sending']> {
  return Object.assign({}, ...all.map(({ sending }) => sending)) as NonNullable<RouteHook['sending']>
}

/** Returns whose ids documents get, and whether Sluice sends them again if their answer was lost. */
function idsOf({ ids, script, resendUnknown }: DocumentSection, hooks: HookList): BatchIds {
  const isRepeatable = ids.from !== 'cluster' && script === undefined
  const { ownIds = ids.from === 'run', safeToResend = isRepeatable || resendUnknown } = sendingOf(hooks)
  return { ownIds, safeToResend }
}
