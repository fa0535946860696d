/** What a run does when access is lost: with a body under way, or with a step of a guarded load. */
import type { Cluster } from '../cluster/open-cluster.js'
import type { IngestOptions } from '../options/ingest-options.js'
import type { RetrySection } from '../options/load.js'
import type { ResolvedTarget } from '../connect/open-target.js'
import { DEFAULT_MAX_ELAPSED_MS } from '../options/defaults.js'
import { AccessGate, type AccessOptions, PROBES_OF_LOST_ACCESS } from '../sender/layers/access.js'
import { systemClock } from '../time/system-clock.js'
import type { Ending } from './ending.js'
import type { Tell } from './listener.js'
import type { StepRetrying } from './retry-step.js'
import { renewCredentials } from './renew-credentials.js'

/** As the options say. */
export function accessOf(retrying: RetrySection, way: ResolvedTarget, cluster: Cluster, tell: Tell): AccessOptions {
  return {
    waitMs: retrying.blockWaitMs,
    renew: async () => await renewCredentials(retrying, way, cluster),
    onBlocked: blocked => tell({ type: 'blocked', ...blocked }),
    onUnblocked: (what, waitedMs) => tell({ type: 'unblocked', failure: what, waitedMs }),
  }
}

/** For the steps that a run takes beside its documents. `settled`: documents of the run that have their outcome. */
export function stepRetrying(
  options: IngestOptions,
  cluster: Cluster,
  { ending, access, tell }: { readonly ending: Ending; readonly access: AccessOptions; readonly tell: Tell },
  settled: number,
): StepRetrying {
  return {
    maxElapsedMs: options.maxElapsedMs ?? DEFAULT_MAX_ELAPSED_MS,
    gate: openGate(access, cluster, ending.signal),
    clock: systemClock,
    random: Math.random,
    ending,
    settled,
    onRetry: (why, waitMs) => tell({ type: 'retry', failure: why, documents: 0, waitMs }),
  }
}

/** For requests that no sender makes. `halted`: aborted when nothing more may be sent. */
function openGate(access: AccessOptions, cluster: Pick<Cluster, 'probe'>, halted: AbortSignal): AccessGate {
  return new AccessGate({
    ...access,
    clock: systemClock,
    wallClock: Date.now,
    random: Math.random,
    halted,
    probe: async signal => await cluster.probe({ atLeast: PROBES_OF_LOST_ACCESS, signal }),
  })
}
