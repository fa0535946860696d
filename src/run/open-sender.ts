import type { Ids } from '../bulk/action-line.js'
import { isLoopback } from '../cluster/credentials.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { IngestOptions } from '../options/ingest-options.js'
import type { ResolvedTarget } from '../connect/open-target.js'
import { DEFAULT_CONCURRENCY, DEFAULT_MAX_ELAPSED_MS } from '../options/defaults.js'
import type { AccessOptions } from '../sender/layers/access.js'
import { Sender } from '../sender/sender.js'
import { systemClock } from '../time/system-clock.js'
import type { MeteredWire } from './budgets.js'
import type { ClusterLimits } from '../state/cluster-limits.js'
import type { FoundRun } from '../state/find-run.js'
import type { Tell } from './listener.js'
import { DEFAULT_BATCH_BYTES } from './open-batcher.js'

interface Sending {
  readonly options: IngestOptions
  readonly ids: Ids
  readonly found: FoundRun
  readonly way: ResolvedTarget
  readonly cluster: Cluster
  /** What to do when access is lost. */
  readonly access: AccessOptions
  readonly limits: ClusterLimits
  readonly wire: MeteredWire | undefined
  /** Aborted when requests under way are given up. */
  readonly givenUp: AbortSignal
  /** Takes what the receipt has to say besides numbers. */
  readonly notes: string[]
  readonly tell: Tell
}

export function openSender(sending: Sending): Sender {
  const { options, ids, found, way, cluster, access, limits, wire, givenUp, notes, tell } = sending
  const { index, behind } = found.target
  const { concurrency = DEFAULT_CONCURRENCY, batchBytes = DEFAULT_BATCH_BYTES } = options
  return new Sender({
    cluster,
    index,
    ...(options.pipeline === undefined ? {} : { pipeline: options.pipeline }),
    ownIds: ids.from === 'run',
    safeToResend: ids.from !== 'cluster',
    sentBefore: maySendAgain(options, found, ids.from === 'run'),
    onConflict: options.onConflict ?? 'reject',
    // Who sent them before, and where to, is known from the checkpoint alone, unless the run has a name: then also without it.
    ...(behind === undefined || options.runId !== undefined ? {} : { behind }),
    concurrency,
    batchBytes,
    gzip: compresses(options, way),
    maxElapsedMs: options.maxElapsedMs ?? DEFAULT_MAX_ELAPSED_MS,
    access,
    clock: systemClock,
    wallClock: Date.now,
    random: Math.random,
    learnt: limits.learnt,
    ...(wire === undefined ? {} : { budget: wire.budget }),
    givenUp,
    onDoubt: message => {
      notes.push(message)
      tell({ type: 'warning', message })
    },
    onRetry: (why, documents, waitMs) => tell({ type: 'retry', failure: why, documents, waitMs }),
  })
}

/** Bytes through a proxy are metered and slow; on loopback only the CPU counts. */
function compresses({ compress = 'auto' }: IngestOptions, { url, proxy }: ResolvedTarget): boolean {
  if (compress !== 'auto') return compress === 'gzip'
  return !isLoopback(url.hostname) || (proxy !== undefined && !isLoopback(proxy.host))
}

/** Whether a document may already be stored under the id that it will be sent with. */
function maySendAgain({ runId }: IngestOptions, { plan }: FoundRun, ownIds: boolean): boolean {
  if (!ownIds) return plan.isDoubtful
  return runId !== undefined || plan.began !== undefined || plan.inputs.some(({ from }) => from !== undefined)
}
