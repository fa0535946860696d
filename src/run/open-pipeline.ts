/** Opens what documents pass, and what keeps account of them, for one run. */
import { isSluiceError } from '../failure/sluice-error.js'
import type { DeadLetters } from '../ledger/dead-letters.js'
import { Ledger } from '../ledger/ledger.js'
import type { Sender } from '../sender/sender.js'
import { StateKeeper, statusOf } from '../state/state-keeper.js'
import { accessOf, stepRetrying } from './access-options.js'
import type { BodyFramer } from './hooks.js'
import { openBatcher } from './open-batcher.js'
import { openSender } from './open-sender.js'
import type { LockedRun } from './locked-run.js'
import type { StartedRun } from './start-run.js'

export interface Pipeline {
  readonly batcher: BodyFramer
  readonly sender: Sender
  readonly ledger: Ledger
  readonly deadLetters: DeadLetters
  /** Absent: no checkpoint is kept. */
  readonly keeper: StateKeeper | undefined
  /** Notes for the receipt. */
  readonly notes: readonly string[]
}

/** Throws SluiceError if the state cannot be written, or a hook cannot begin. */
export async function openPipeline(
  run: LockedRun,
  { way, open, cluster, found }: StartedRun,
  deadLetters: DeadLetters,
): Promise<Pipeline> {
  const { sections, hooks, stop, tell, stateDir } = run
  const { plan, path } = found
  const { givenUp } = stop
  const access = accessOf(sections.retrying, way, cluster, tell)
  const ledger = new Ledger(deadLetters, {
    maxRejected: sections.documents.maxRejected,
    before: plan.before.counts,
    resendsUnanswered: sections.documents.ids.from !== 'cluster',
  })
  const kept = { found, cluster: open, ledger, deadLetters, givenUp }
  const keeper = path === undefined || plan.isDone ? undefined : new StateKeeper({ ...kept, path })
  await keeper?.start()
  const patience = (settled: number) => stepRetrying(sections.retrying, cluster, { stop, access, tell }, settled)
  const started = { cluster, found, ledger, stateDir, isKept: keeper !== undefined, patience }
  try {
    for (const hook of hooks.all) await hook.prepare?.(started)
  } catch (error) {
    await keeper?.finish(isSluiceError(error) ? statusOf(error.failure) : 'failed')
    throw error
  }
  const notes: string[] = []
  const sender = openSender({ run, found, way, cluster, access, notes })
  const batcher = openBatcher(run, ledger, () => sender.bodyBytes)
  return { batcher, sender, ledger, deadLetters, keeper, notes }
}
