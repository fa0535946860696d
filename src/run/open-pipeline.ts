/** What documents pass on their way, and what keeps account of them, opened for one run. */
import type { Batcher } from '../bulk/batcher.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { DeadLetters } from '../ledger/dead-letters.js'
import { Ledger } from '../ledger/ledger.js'
import type { Sender } from '../sender/sender.js'
import { accessOf } from './access.js'
import type { Begun } from './begin.js'
import { type ClusterLimits, openLimits } from '../state/cluster-limits.js'
import { actionOf } from './documents.js'
import { type GuardedLoad, guard } from '../guarded/guarded-load.js'
import type { Deletions } from '../tables/deletions.js'
import { openBatcher } from './open-batcher.js'
import { openDeadLetters } from './open-dead-letters.js'
import { openSender } from './open-sender.js'
import type { Run } from './run.js'
import { StateKeeper, statusOf } from '../state/state-keeper.js'

export interface Pipeline {
  readonly batcher: Pick<Batcher, 'frame' | 'rest' | 'reading'>
  readonly sender: Sender
  readonly ledger: Ledger
  readonly deadLetters: DeadLetters
  /** Absent: no checkpoint is kept, or there is nothing to keep. */
  readonly keeper: StateKeeper | undefined
  readonly guarded: GuardedLoad | undefined
  /** Absent: documents of rows that were deleted stay. */
  readonly deletions: Deletions | undefined
  readonly limits: ClusterLimits
  /** What the receipt has to say besides numbers. */
  readonly notes: readonly string[]
}

/** The file of dead letters; to be disposed of by the caller. */
export async function openRunsDeadLetters({ options, tell }: Run, { found }: Begun): Promise<DeadLetters> {
  const { plan, target } = found
  const isOver = plan.inputs.every(({ isLoaded }) => isLoaded)
  const sources = plan.inputs.map(({ source }) => source)
  return await openDeadLetters(options, sources, plan.run, {
    // A run that has nothing left writes none again, and they may be under repair.
    from: isOver ? undefined : plan.deadLetters,
    index: target.index,
    warn: message => tell({ type: 'warning', message }),
  })
}

/** Throws SluiceError where the state cannot be written, or a guarded load cannot begin. */
export async function openPipeline(run: Run, begun: Begun, deadLetters: DeadLetters): Promise<Pipeline> {
  const { options, ids, replaying, ending, stateDir, tell } = run
  const { way, open, cluster, wire, found } = begun
  const { plan, path } = found
  const { givenUp } = ending
  const access = accessOf(run.asked.retrying, way, cluster, tell)
  const guarded = guard(options, found, cluster, { ending, access, tell })
  const limits = await openLimits(stateDir, found.target, Date.now)
  const ledger = new Ledger(deadLetters, {
    maxRejected: options.maxRejected,
    before: plan.before.counts,
    resendsUnanswered: ids.from !== 'cluster',
  })
  const kept = { found, cluster: open, ledger, deadLetters, givenUp }
  const keeper = path === undefined || plan.isDone ? undefined : new StateKeeper({ ...kept, path })
  await keeper?.start()
  // A load of files does not wait for it.
  const deletions =
    run.platform === undefined
      ? undefined
      : (await import('../tables/deletions.js')).followDeletions(run, begun, access)
  const preparing = async () => {
    await guarded?.prepare()
    await deletions?.prepare()
  }
  await preparing().catch(async (error: unknown) => {
    await keeper?.finish(isSluiceError(error) ? statusOf(error.failure) : 'failed')
    throw error
  })
  const notes: string[] = []
  const sender = openSender({ options, ids, found, way, cluster, access, limits, wire, givenUp, notes, tell })
  const action = actionOf(options, ids)
  const batcher = openBatcher({
    options,
    action,
    replaying,
    ledger,
    bodyBytes: () => sender.bodyBytes,
    slots: run.standing?.slots,
  })
  return { batcher, sender, ledger, deadLetters, keeper, guarded, deletions, limits, notes }
}
