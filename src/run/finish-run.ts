/** Finishes a run once every document that was read has an outcome: hooks, checkpoint, receipt. */
import { type Failure, SluiceError } from '../failure/failure.js'
import { sumOf } from '../ledger/account.js'
import type { DeadLetters } from '../ledger/dead-letters.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Receipt } from '../ledger/receipt.js'
import type { Plan } from '../state/plan.js'
import { statusOf } from '../state/state-keeper.js'
import { composeReceipt } from './compose-receipt.js'
import type { Loaded } from './load-documents.js'
import type { Pipeline } from './open-pipeline.js'
import { targetOf } from './run-record.js'
import type { LockedRun } from './locked-run.js'
import type { StartedRun } from './start-run.js'

/** `elapsedMs`: since the connection was open. Throws SluiceError, with the receipt, if the run had to stop. */
export async function finishRun(
  { hooks: { all: hooks }, sections: { dryRun }, record }: LockedRun,
  { cluster, found }: StartedRun,
  { ledger, deadLetters, keeper, watch, sender, notes }: Pipeline,
  loaded: Loaded,
  elapsedMs: number,
): Promise<Receipt> {
  const { plan, path } = found
  const { counts } = sumOf(plan.before, ledger)
  const written = writtenTo(deadLetters, plan)
  const save = async () => await keeper?.finish('interrupted')
  // A hook knows better why an input never ended.
  let failure = loaded.failure?.code === 'INPUT_UNENDED' ? otherBrokenInput(ledger) : loaded.failure
  // Only a dry run plans what a load would refuse.
  failure ??= plan.inputs.find(({ refused }) => refused !== undefined)?.refused
  if (!dryRun) failure ??= await watch.lost()
  for (const hook of hooks) failure ??= await hook.complete?.({ counts, deadLetters: written, save })
  const unkept = await keeper?.finish(statusOf(failure))
  const isComplete = keeper?.isComplete === true && hooks.every(({ isOpen }) => isOpen !== true)
  const ended = { isDone: plan.isDone || isComplete, learnt: sender.learnt }
  for (const hook of hooks) await hook.finished?.(ended)
  const stopped = failure ?? unkept
  const receipt = composeReceipt({
    command: record.command,
    began: record.began,
    target: targetOf(found),
    plan,
    dryRun,
    ledger,
    cluster,
    more: Object.assign({}, ...hooks.map(hook => hook.receipt?.())) as Partial<Receipt>,
    notes,
    ...(path === undefined ? {} : { checkpoint: path }),
    ...(written === undefined ? {} : { deadLetters: written }),
    requests: sender.requests,
    retries: sender.retries,
    bytesRead: loaded.bytesRead,
    elapsedMs,
    ...(stopped === undefined ? {} : { failure: stopped }),
  })
  if (stopped !== undefined)
    throw new SluiceError(stopped, { receipt, cause: loaded.failure === stopped ? loaded.cause : undefined })
  return receipt
}

/** Returns why an input could not be read to its end, except that the end never came. */
function otherBrokenInput({ broken }: Ledger): Failure | undefined {
  return broken.find(({ code }) => code !== 'INPUT_UNENDED')
}

/** Returns the file of dead letters if the run has any: the one of before, if this process wrote none. */
function writtenTo({ records, path }: DeadLetters, { before, continues }: Plan): string | undefined {
  if (records > 0) return path
  return before.counts.rejected > 0 && path !== undefined ? (continues?.deadLetters?.path ?? path) : undefined
}
