/** Opens what documents pass, and what keeps account of them, for one run. */
import { isSluiceError } from '../failure/failure.js'
import type { DeadLetters } from '../ledger/dead-letters.js'
import { Ledger } from '../ledger/ledger.js'
import type { Sender } from '../sender/sender.js'
import { IndexWatch } from '../state/index-watch.js'
import { StateKeeper, statusOf } from '../state/state-keeper.js'
import { accessOf, stepRetrying } from './access-options.js'
import type { BodyFramer } from './hooks.js'
import { openBatcher } from './open-batcher.js'
import { openSender } from './open-sender.js'
import { idsOf } from './sending.js'
import type { LockedRun } from './locked-run.js'
import type { StartedRun } from './start-run.js'

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
): Promise<Pipeline> {
  const { sections, hooks, stop, tell, stateDir, record } = run
  const { plan, path } = found
  const { givenUp } = stop
  const access = accessOf(sections.retrying, way, cluster, tell)
  const ledger = new Ledger(deadLetters, {
    maxRejected: sections.documents.maxRejected,
    before: plan.before.counts,
    resendsUnanswered: idsOf(sections.documents, hooks).safeToResend,
  })
  const watch = new IndexWatch({ found, cluster: open, ledger, givenUp })
  const keeper =
    path === undefined || plan.isDone ? undefined : new StateKeeper({ found, path, watch, ledger, deadLetters })
  await keeper?.start()
  if (keeper !== undefined) record.keptAt(keeper.path)
  const patience = (settled: number) => stepRetrying(sections.retrying, cluster, { stop, access, tell }, settled)
  const started = { cluster, found, ledger, stateDir, isKept: keeper !== undefined, patience }
  try {
    for (const hook of hooks.all) await hook.prepare?.(started)
  } catch (error) {
    await keeper?.finish(isSluiceError(error) ? statusOf(error.failure) : 'failed')
    await keeper?.[Symbol.asyncDispose]()
    throw error
  }
  const notes: string[] = []
  const sender = openSender({ run, found, way, cluster, access, notes })
  const batcher = openBatcher(run, ledger, () => sender.bodyBytes)
  return { batcher, sender, ledger, deadLetters, keeper, watch, notes }
}
