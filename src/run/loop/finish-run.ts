/** Finishes a run once every document that was read has an outcome: hooks, checkpoint, receipt. */
import { type Failure, SluiceError } from '../../base/failure/failure.js'
import { sumOf } from '../../pipeline/ledger/account.js'
import { takenOf } from '../../base/operation.js'
import type { DeadLetters } from '../../pipeline/ledger/dead-letters.js'
import type { Ledger } from '../../pipeline/ledger/ledger.js'
import { exitOf, type InputReceipt, type Receipt, statusOf } from '../../pipeline/ledger/receipt.js'
import type { Checkpoint } from '../state/checkpoint/checkpoint.js'
import type { Plan, PlannedInput } from '../state/resume/plan.js'
import type { Loaded } from './hooks.js'
import type { Pipeline } from './open-pipeline.js'
import { isoTime } from '../../base/time/clock.js'
import { targetOf } from './run-record.js'
import type { LockedRun } from './locked-run.js'
import type { StartedRun } from './start-run.js'

/** `elapsedMs`: since the connection was open. Throws SluiceError, with the receipt, if the run had to stop. */
export async function finishRun(
  run: LockedRun,
  started: StartedRun,
  pipeline: Pipeline,
  loaded: Loaded,
  elapsedMs: number,
): Promise<Receipt> {
  const { all: hooks } = run.hooks
  const { ledger, deadLetters, keeper, watch, sender } = pipeline
  const { plan } = started.found
  const { counts } = sumOf(plan.before, ledger)
  const written = writtenTo(deadLetters, plan)
  const save = async () => await keeper?.finish('interrupted')
  // A hook knows better why an input never ended.
  let failure = loaded.failure?.code === 'INPUT_UNENDED' ? otherBrokenInput(ledger) : loaded.failure
  // Only a dry run plans what a load would refuse.
  failure ??= plan.inputs.find(({ refused }) => refused !== undefined)?.refused
  // A request that meets the deletion of its index is refused.
  const mayBeLost = failure === undefined || failure.code === 'REQUEST_REFUSED'
  const lost = mayBeLost && !run.sections.dryRun ? await watch.lost() : undefined
  failure = lost ?? failure
  for (const hook of hooks) failure ??= await hook.complete?.({ counts, deadLetters: written, save })
  const unkept = await keeper?.finish(statusOf(failure))
  // The stored documents were lost with their index. The next run loads them again.
  const isDone = lost === undefined && (plan.isDone || keeper?.isComplete === true)
  for (const hook of hooks) await hook.finished?.({ isDone, sender })
  const stopped = failure ?? unkept
  const receipt = receiptOf(run, started, pipeline, { written, stopped, elapsedMs, bytesRead: loaded.bytesRead })
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

interface Ending {
  /** The file of dead letters, if the run has any. */
  readonly written: string | undefined
  readonly stopped: Failure | undefined
  readonly elapsedMs: number
  readonly bytesRead: number
}

function receiptOf(
  { hooks, sections: { dryRun }, record }: LockedRun,
  { cluster: { route, preflight, egress, display }, found }: StartedRun,
  { ledger, sender, notes }: Pipeline,
  { written, stopped, elapsedMs, bytesRead }: Ending,
): Receipt {
  const { plan, path } = found
  const { connections, bytesSent, bytesReceived } = route.traffic
  const thisProcess = ledger.counts
  const { counts, rejections } = sumOf(plan.before, ledger)
  const failed = stopped === undefined ? {} : { failure: stopped }
  return {
    run: plan.run,
    status: statusOf(stopped),
    ...(dryRun ? { dryRun: true } : {}),
    command: record.command,
    began: isoTime(record.began),
    ended: isoTime(new Date()),
    exit: exitOf({ ...counts, ...failed }),
    target: targetOf(found),
    ...failed,
    inputs: inputsOf(plan, ledger, dryRun),
    ...counts,
    thisProcess,
    rejections,
    bytes: { read: bytesRead, sent: bytesSent, received: bytesReceived },
    ...(sender.compression === undefined ? {} : { compression: sender.compression }),
    requests: sender.requests,
    retries: sender.retries,
    elapsedMs: Math.round(elapsedMs),
    docsPerSecond: Math.round(takenOf(thisProcess) / Math.max(elapsedMs / 1000, 0.001)),
    route: { form: route.form, ...(route.proxy === undefined ? {} : { proxy: route.proxy }), connections },
    egress,
    cluster: {
      url: display,
      ...(preflight.info === undefined ? {} : { name: preflight.info.name, version: preflight.info.version }),
    },
    ...(Object.assign({}, ...hooks.all.map(hook => hook.receipt?.())) as Partial<Receipt>),
    ...(written === undefined ? {} : { deadLetters: written }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(path === undefined ? {} : { checkpoint: path }),
  }
}

/** Lists inputs that were loaded before, inputs that this process read, and in a dry run those that a load would refuse. */
function inputsOf({ inputs }: Plan, ledger: Ledger, dryRun: boolean): InputReceipt[] {
  const loadedBy = loaders()
  return inputs.flatMap((input): InputReceipt[] => {
    const { source, isLoaded, read: before, from, place, refused, moved } = input
    const was = moved === undefined ? {} : { loadedAs: moved }
    const planned = dryRun ? { plan: planOf(input) } : {}
    const by = loadedBy(input)
    if (isLoaded)
      return [{ name: source.name, status: 'finished', read: before, alreadyLoaded: true, ...by, ...was, ...planned }]
    if (refused !== undefined)
      return [{ name: source.name, status: 'unfinished', read: 0, ...by, ...planned, failure: refused }]
    const now = ledger.input(source.id)
    if (now === undefined) return []
    const since = place === undefined ? undefined : source.cursor?.since?.(place)
    return [
      {
        ...now,
        read: before + now.read,
        ...(from === undefined ? {} : { resumedAt: from.document }),
        ...(since === undefined ? {} : { since }),
        ...(dryRun ? by : {}),
        ...was,
        ...planned,
      },
    ]
  })
}

/** Names the run that loaded an input, once for all of its inputs. */
function loaders(): (input: PlannedInput) => Pick<InputReceipt, 'loadedBy'> {
  const known = new Map<Checkpoint, Pick<InputReceipt, 'loadedBy'>>()
  return ({ by, replaces }) => {
    const run = by ?? replaces
    if (run === undefined) return {}
    const named = known.get(run) ?? { loadedBy: { run: run.run, at: run.written } }
    known.set(run, named)
    return named
  }
}

function planOf({ isLoaded, from, place, replaces }: PlannedInput): NonNullable<InputReceipt['plan']> {
  if (isLoaded) return 'known'
  if (replaces !== undefined) return 'changed'
  return from === undefined && place === undefined ? 'new' : 'continues'
}
