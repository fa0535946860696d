import type { Cluster } from '../../../src/route/cluster/open-cluster.js'
import type { SenderOptions } from '../../../src/route/sender/sender.js'
import { SkippingClock } from './held-clock.js'

/** A sender that keeps its own ids, gives up at the first loss of access, and waits for nothing. */
export function senderOptions(cluster: Cluster, more: Partial<SenderOptions> = {}): SenderOptions {
  return {
    cluster,
    index: 'logs',
    ownIds: true,
    safeToResend: true,
    sentBefore: false,
    onConflict: 'reject',
    concurrency: 4,
    batchBytes: 1_000_000,
    compress: { isGzip: false },
    maxElapsedMs: 60_000,
    access: { waitMs: 0, renew: async () => undefined, onBlocked: () => undefined, onUnblocked: () => undefined },
    clock: new SkippingClock(),
    wallClock: () => 0,
    random: () => 1,
    onRetry: () => undefined,
    ...more,
  }
}
