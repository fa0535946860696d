import { syncFolder } from '../disk/sync-folder.js'
import { fail } from '../failure/fail.js'
import { type Failure, failure } from '../failure/failure.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import type { Source } from '../flow.js'
import { settledOf } from '../ledger/account.js'
import type { Counts, Receipt } from '../ledger/receipt.js'
import type { IngestEvent, IngestOptions } from '../options/ingest-options.js'
import type { Ending } from '../run/ending.js'
import { commandKey, namesOfInputs } from '../state/find-run.js'
import { spoolFolderOf } from './kept-spools.js'
import { type SpooledStdin, isStdin, openSpool } from './spool.js'

interface Surroundings {
  readonly ending: Pick<Ending, 'stopping' | 'cause'>
  readonly tell: (event: IngestEvent) => void
  /** See `spoolFolder`. */
  readonly folder: string | undefined
}

type Loading<T> = (sources: readonly Source[], spool?: SpooledStdin) => Promise<T>

/**
 * Runs a load with stdin spooled, if the options say so. If the load stops, Sluice still writes stdin down to its end, for the
 * next process, unless the caller aborts.
 * Throws what the load throws, and SluiceError: OPTION_INVALID, STATE_UNWRITABLE, INPUT_UNREADABLE, RUN_INTERRUPTED.
 */
export async function withSpool<T>(
  { spool: isSpooled, spoolLimit, stdin, runId }: IngestOptions,
  sources: readonly Source[],
  { ending, tell, folder }: Surroundings,
  load: Loading<T>,
): Promise<T> {
  if (isSpooled !== true) return await load(sources)
  const input = sources.find(isStdin)
  if (input === undefined || stdin === undefined) {
    const problem = 'none of the inputs is stdin (-): nothing would be spooled'
    throw fail('OPTION_INVALID', { option: 'spool', problem })
  }
  if (folder === undefined) return await load(sources)
  const warn = (message: string) => tell({ type: 'warning', message })
  const { stopping: signal } = ending
  const opening = openSpool({
    folder: { path: folder, syncFolder },
    input,
    sources,
    stdin,
    isRepeated: runId !== undefined,
    limit: spoolLimit,
    signal,
  })
  await using spool = await opening.catch((error: unknown) => {
    throw ending.cause(error)
  })
  if (spool.hasLeftovers) warn(aboutLeftovers(runId))
  try {
    return await load(spool.sources, spool)
  } catch (error) {
    const why = isSluiceError(error) ? `${error.code}: ${error.message}` : String(error)
    const isTold = spool.isFilling && !signal.aborted
    if (isTold) warn(`the load has stopped, stdin is spooled to its end all the same (${why})`)
    const untaken = await spool.untaken()
    if (untaken === undefined || !isSluiceError(error) || error.failure === untaken.failure) throw error
    if (!isTold) warn(`the load has stopped, too (${why})`)
    throw endedUntaken(error, untaken)
  }
}

/** Returns the folder for the spool of a command. `url`: of the cluster, which may be down. */
export function spoolFolder(
  { source, index, swapAlias, runId = '' }: IngestOptions,
  stateDir: string,
  url: URL,
  isReplay: boolean,
): string {
  const into = swapAlias === undefined ? index : ['alias', swapAlias]
  const parts = [url.href, into, namesOfInputs({ source }), runId, ...(isReplay ? ['replay'] : [])]
  return spoolFolderOf(stateDir, commandKey(parts))
}

/** Returns the failure of a run that has loaded all that was spooled, if the end of that was never seen. `counts`: of the whole run. */
export function cutFailure(spool: SpooledStdin | undefined, counts: Counts): Failure | undefined {
  if (spool === undefined || spool.cut.length === 0) return undefined
  const reason = `the end of stdin was never seen: ${spool.cut.join(', ')}`
  return failure('RUN_INTERRUPTED', { reason, settled: settledOf(counts) })
}

function aboutLeftovers(runId: string | undefined): string {
  const order = 'an unfinished run has spooled stdin: Sluice loads that first, then what stdin holds now'
  return runId === undefined
    ? `${order}. If stdin holds the same data again, its documents are stored twice, unless --ids field names them`
    : `${order}. Both are loaded under the run ID ${runId}: a document that has the number of a stored one counts as duplicate`
}

/** Lost stdin weighs more than a load that can be resumed, so the run ends with that. */
function endedUntaken(error: SluiceError, untaken: SluiceError): SluiceError {
  const { failure: why } = untaken
  const receipt = error.receipt as Receipt | undefined
  return new SluiceError(why, {
    cause: untaken,
    ...(receipt === undefined ? {} : { receipt: { ...receipt, status: 'failed' as const, failure: why } }),
  })
}
