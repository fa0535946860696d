/** Decides what a run does if a body or a step beside the documents loses access. */
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { credentialsOf, type ResolvedTarget } from '../../route/connect/open-target.js'
import type { RetrySection } from '../../options/load.js'
import { AccessGate, type AccessOptions, PROBES_OF_LOST_ACCESS } from '../../route/sender/layers/access.js'
import { systemClock } from '../../base/time/clock.js'
import type { StopSignals } from './stop-signals.js'
import type { Tell } from './hooks.js'
import type { StepRetrying } from './retry-step.js'
import { checkFreshCredentials } from '../../options/check-options.js'
import { isSluiceError } from '../../base/failure/failure.js'
import { parseProxyUrl } from '../../route/proxy/proxy-url.js'

export function accessOf(retrying: RetrySection, way: ResolvedTarget, cluster: Cluster, tell: Tell): AccessOptions {
  return {
    waitMs: retrying.blockWaitMs,
    renew: async () => await renewCredentials(retrying, way, cluster),
    onBlocked: blocked => tell({ type: 'blocked', ...blocked }),
    onUnblocked: (what, waitedMs) => tell({ type: 'unblocked', failure: what, waitedMs }),
  }
}

/** Returns how to retry the steps that a run takes beside its documents. `settled`: documents of the run that have their outcome. */
export function stepRetrying(
  { maxElapsedMs }: RetrySection,
  cluster: Cluster,
  { stop, access, tell }: { readonly stop: StopSignals; readonly access: AccessOptions; readonly tell: Tell },
  settled: number,
): StepRetrying {
  return {
    maxElapsedMs,
    gate: openGate(access, cluster, stop.signal),
    clock: systemClock,
    random: Math.random,
    stop,
    settled,
    onRetry: (why, waitMs) => tell({ type: 'retry', failure: why, documents: 0, waitMs }),
  }
}

/** Opens a gate for requests that no sender makes. `halted`: aborted when nothing more may be sent. */
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

/**
 * Asks the caller for credentials, and gives them to the cluster and to the proxy route. Missing fields stay
 * unchanged. Resolves to the reason if there are no new credentials: a file may be missing while it is replaced.
 */
export async function renewCredentials(
  { refreshCredentials, freshProxyOrigin }: Pick<RetrySection, 'refreshCredentials' | 'freshProxyOrigin'>,
  way: Pick<ResolvedTarget, 'proxy' | 'credentials'>,
  cluster: Pick<Cluster, 'renew'>,
): Promise<string | undefined> {
  if (refreshCredentials === undefined) return undefined
  try {
    const fresh = await refreshCredentials()
    checkFreshCredentials(fresh)
    const { apiKey, password, username = usernameOf(way.credentials) } = fresh
    const proxy = fresh.proxy === undefined ? undefined : parseProxyUrl(String(fresh.proxy), freshProxyOrigin)
    const isSame = proxy?.display === way.proxy?.display
    cluster.renew({
      ...(apiKey === undefined && password === undefined
        ? {}
        : { credentials: credentialsOf({ apiKey, username, password }) }),
      ...(isSame ? { proxy } : {}),
    })
    const isOther = proxy !== undefined && way.proxy !== undefined && !isSame
    return isOther ? 'only the credentials of a proxy may change during a run, not its address' : undefined
  } catch (error) {
    // An error from the caller's function may contain the secret itself.
    return `no new credentials: ${isSluiceError(error) ? error.message : 'refreshCredentials failed'}`
  }
}

function usernameOf(credentials: ResolvedTarget['credentials']): string | undefined {
  return credentials !== undefined && 'username' in credentials ? credentials.username : undefined
}
