import { isLoopback } from '../cluster/credentials.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { ResolvedTarget } from '../connect/open-target.js'
import type { BatchSection } from '../options/load.js'
import type { AccessOptions } from '../sender/layers/access.js'
import { Sender } from '../sender/sender.js'
import type { FoundRun } from '../state/find-run.js'
import { systemClock } from '../time/system-clock.js'
import type { LockedRun, RunSections } from './locked-run.js'
import { idsOf, sendingOf } from './sending.js'

interface Sending {
  readonly run: LockedRun
  readonly found: FoundRun
  readonly way: ResolvedTarget
  readonly cluster: Cluster
  /** How to act if access is lost. */
  readonly access: AccessOptions
  /** Takes notes for the receipt. */
  readonly notes: string[]
}

export function openSender({ run, found, way, cluster, access, notes }: Sending): Sender {
  const { sections, hooks, stop, tell, record } = run
  const { index, behind } = found.target
  const { connecting, documents, batching, retrying, state } = sections
  const { pipeline, onConflict } = documents
  return new Sender({
    cluster,
    index,
    ...(pipeline === undefined ? {} : { pipeline }),
    ...idsOf(documents, hooks),
    sentBefore: maySendAgain(sections, found),
    onConflict,
    // Only a checkpoint says who sent them before, and where to, unless the run has a name.
    ...(behind === undefined || state.runId !== undefined ? {} : { behind }),
    concurrency: connecting.concurrency,
    batchBytes: batching.batchBytes,
    gzip: compresses(batching.compress, way),
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
    ...sendingOf(hooks),
  })
}

/** Bytes through a proxy are metered and slow. On loopback only the CPU counts. */
function compresses(compress: BatchSection['compress'], { url, proxy }: ResolvedTarget): boolean {
  if (compress !== 'auto') return compress === 'gzip'
  return !isLoopback(url.hostname) || (proxy !== undefined && !isLoopback(proxy.host))
}

/** Returns whether a document may already be stored under the id that it will be sent with. */
function maySendAgain({ documents, state }: RunSections, { plan }: FoundRun): boolean {
  if (documents.ids.from !== 'run') return plan.isDoubtful
  return (
    state.runId !== undefined || plan.continues !== undefined || plan.inputs.some(({ known }) => known !== undefined)
  )
}
