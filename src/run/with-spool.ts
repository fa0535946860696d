import type { Ending } from './ending.js'
import { fail } from '../failure/fail.js'
import { type Failure, failure } from '../failure/failure.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import { spoolFolder } from '../state/find-run.js'
import type { Source } from '../flow.js'
import type { IngestEvent, IngestOptions } from '../options/ingest-options.js'
import type { Load } from '../options/load.js'
import { settledOf } from '../ledger/account.js'
import type { Counts, Receipt } from '../ledger/receipt.js'
import { syncFolder } from '../disk/sync-folder.js'
import { resolveTarget } from '../connect/open-target.js'
import { type Spool, isStdin, openSpool } from '../source/spool.js'

interface Surroundings {
  readonly asked: Load
  readonly ending: Ending
  readonly tell: (event: IngestEvent) => void
  readonly isReplay: boolean
}

type Loading<T> = (sources: readonly Source[], spool?: Spool) => Promise<T>

/**
 * Runs a load whose stdin goes by way of the disk, where that is asked for. Whatever stops the load, stdin is taken to its end
 * first, for the next process; but not if the caller aborts.
 * Throws what the load throws, and SluiceError: OPTION_INVALID, STATE_UNWRITABLE, INPUT_UNREADABLE, RUN_INTERRUPTED.
 */
export async function withSpool<T>(
  options: IngestOptions,
  sources: readonly Source[],
  { asked, ending, tell, isReplay }: Surroundings,
  load: Loading<T>,
): Promise<T> {
  const { stdin, stateDir, again = false } = options
  const { stopping: signal } = ending
  if (options.spool !== true) return await load(sources)
  const input = sources.find(isStdin)
  if (input === undefined || stdin === undefined) {
    const problem = 'none of the inputs is stdin (-): nothing would be spooled'
    throw fail('OPTION_INVALID', { option: 'spool', problem })
  }
  if (options.dryRun === true || stateDir === undefined) return await load(sources)
  const { url } = resolveTarget(asked.connecting)
  const opening = openSpool({
    folder: { path: spoolFolder(options, stateDir, url, isReplay), syncFolder },
    input,
    sources,
    stdin,
    isOther: again,
    limit: options.spoolLimit,
    signal,
    warn: message => tell({ type: 'warning', message }),
  })
  await using spool = await opening.catch((error: unknown) => {
    throw ending.cause(error)
  })
  try {
    return await load(spool.sources, spool)
  } catch (error) {
    const why = isSluiceError(error) ? `${error.code}: ${error.message}` : String(error)
    const isTold = spool.isFilling && !signal.aborted
    if (isTold)
      tell({ type: 'warning', message: `the load has stopped, stdin is spooled to its end all the same (${why})` })
    const untaken = await spool.untaken()
    if (untaken === undefined || !isSluiceError(error) || error.failure === untaken.failure) throw error
    if (!isTold) tell({ type: 'warning', message: `the load has stopped, too (${why})` })
    throw alsoUntaken(error, untaken)
  }
}

/** What nobody has any more weighs more than what can be loaded later: that stdin was lost is how the run ends. */
function alsoUntaken(error: SluiceError, untaken: SluiceError): SluiceError {
  const { failure: why } = untaken
  const receipt = error.receipt as Receipt | undefined
  return new SluiceError(why, {
    cause: untaken,
    ...(receipt === undefined ? {} : { receipt: { ...receipt, status: 'failed' as const, failure: why } }),
  })
}

/** How a run ends that has loaded all that was spooled, where that lacks its end. `counts`: of the whole run. */
export function cutFailure(spool: Spool | undefined, counts: Counts): Failure | undefined {
  if (spool === undefined || spool.cut.length === 0) return undefined
  const reason = `the end of stdin was never seen: ${spool.cut.join(', ')}`
  return failure('RUN_INTERRUPTED', { reason, settled: settledOf(counts) })
}
