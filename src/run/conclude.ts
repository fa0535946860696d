/** All that was read has an outcome. Whatever the run ends with: its state is written, and its receipt. */
import type { Failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'
import { sumOf } from '../ledger/account.js'
import { composeReceipt } from './compose-receipt.js'
import type { DeadLetters } from '../ledger/dead-letters.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Plan } from '../state/plan-run.js'
import type { Receipt } from '../ledger/receipt.js'
import type { Begun } from './begin.js'
import type { Loaded } from './load.js'
import type { Pipeline } from './open-pipeline.js'
import type { Run } from './run.js'
import { statusOf } from '../state/state-keeper.js'

/** `elapsedMs`: since the way was open. Throws SluiceError, with the receipt, for a run that had to stop. */
export async function conclude(
  { spool, platform }: Run,
  { cluster, found }: Begun,
  { ledger, deadLetters, keeper, guarded, deletions, limits, sender, notes }: Pipeline,
  loaded: Loaded,
  elapsedMs: number,
): Promise<Receipt> {
  const { plan, path } = found
  const why = loaded.failure?.code === 'INPUT_UNENDED' ? otherBrokenInput(ledger) : loaded.failure
  const { counts } = sumOf(plan.before, ledger)
  const named = why ?? (await spool?.complete({ counts }))
  const save = async () => await keeper?.finish('interrupted')
  const written = writtenTo(deadLetters, plan)
  const unswitched = named ?? (await guarded?.complete(counts, written.deadLetters, save))
  const undeleted = unswitched ?? (await deletions?.complete(counts, save))
  const unkept = await keeper?.finish(statusOf(undeleted))
  await limits.keep(sender.learnt)
  const stopped = undeleted ?? unkept
  // What was not switched in is loaded, and checked, once more.
  const isOver = plan.isDone || (keeper?.isComplete === true && guarded?.receipt.switched !== false)
  await spool?.finished({ isDone: isOver })
  const receipt = composeReceipt({
    plan,
    ledger,
    cluster,
    ...(guarded === undefined ? {} : { alias: guarded.receipt }),
    ...(deletions === undefined ? {} : { deletions: deletions.receipt }),
    notes,
    ...(platform === undefined ? {} : { platform }),
    ...(path === undefined ? {} : { checkpoint: path }),
    ...spool?.receipt(),
    ...written,
    requests: sender.requests,
    retries: sender.retries,
    bytesRead: loaded.bytesRead,
    elapsedMs,
    ...(stopped === undefined ? {} : { failure: stopped }),
  })
  if (stopped !== undefined) throw new SluiceError(stopped, { receipt })
  return receipt
}

/** Why an input could not be read to its end, but for one that was spooled so. */
function otherBrokenInput({ inputs }: Ledger): Failure | undefined {
  return inputs
    .map(({ failure: broken }) => broken)
    .find(broken => broken !== undefined && broken.code !== 'INPUT_UNENDED')
}

/** The file of dead letters, if the run has any: where this process wrote none, that of before. */
function writtenTo({ records, path }: DeadLetters, { before, deadLetters }: Plan): { readonly deadLetters?: string } {
  const file =
    records > 0 ? path : before.counts.rejected > 0 && path !== undefined ? (deadLetters?.path ?? path) : undefined
  return file === undefined ? {} : { deadLetters: file }
}
