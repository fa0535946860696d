import { fail, type Failure, failure, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { Source } from '../../base/flow.js'
import { settledOf } from '../../pipeline/ledger/account.js'
import type { Counts, Receipt } from '../../pipeline/ledger/receipt.js'
import type { InputSection, SpoolSection, StateSection } from '../../options/load.js'
import type { Composed, EndingHook, Run, RunPlace } from '../../run/loop/hooks.js'
import { keyOf } from '../../base/checksum/tokens.js'
import { isStdin, openSpool, type SpooledStdin } from './open-spool.js'
import { spoolFolderOf } from './segments.js'

interface SpoolSections {
  readonly spool: SpoolSection | undefined
  readonly inputs: InputSection
  readonly state: StateSection
}

/**
 * Spools stdin, if the options say so. If the load stops, Sluice still writes stdin down to its end, unless the caller aborts.
 * `isOpen` returns true if all documents are loaded, but a resume must still complete the run. Then Sluice keeps the spool.
 * The copies throw SluiceError: OPTION_INVALID, STATE_UNWRITABLE, INPUT_UNREADABLE, RUN_INTERRUPTED.
 */
export function spoolStdin(sections: SpoolSections, isOpen: () => boolean): Composed | undefined {
  if (sections.spool === undefined) return undefined
  let spool: SpooledStdin | undefined
  return {
    copies: {
      folder: place => folderOf(place, sections.state.runId),
      open: async (run, sources, folder) => {
        spool = await open(sections, run, sources, folder)
        return spool?.sources ?? sources
      },
    },
    feature: run => {
      spool = undefined
      return hookOf(run, () => spool, isOpen)
    },
  }
}

function hookOf(run: Run, spooled: () => SpooledStdin | undefined, isOpen: () => boolean): EndingHook {
  let isGone = false
  return {
    complete: async ({ counts }) => await Promise.resolve(cutFailure(spooled(), counts)),
    finished: async ({ isDone }) => {
      if (!isDone || isOpen()) return
      isGone = true
      await spooled()
        ?.remove()
        .catch((error: unknown) => {
          isGone = false
          if (!isSluiceError(error)) throw error
          run.tell({ type: 'warning', message: error.message })
        })
    },
    receipt: () => {
      const spool = spooled()
      return spool === undefined || isGone ? {} : { spool: spool.path }
    },
    failed: async error => {
      const spool = spooled()
      return spool === undefined ? error : await takeRest(run, spool, error)
    },
    dispose: async () => await spooled()?.[Symbol.asyncDispose](),
  }
}

function folderOf({ stateDir, url, identity: { into, sources, kind } }: RunPlace, runId = ''): string {
  return spoolFolderOf(stateDir, keyOf([url.href, into, sources, runId, ...(kind === undefined ? [] : [kind])]))
}

async function open(
  sections: SpoolSections,
  { stop, tell }: Run,
  sources: readonly Source[],
  folder: string | undefined,
): Promise<SpooledStdin | undefined> {
  const { stdin } = sections.inputs
  const { runId } = sections.state
  const input = sources.find(isStdin)
  if (input === undefined || stdin === undefined) {
    const problem = 'none of the inputs is stdin (-), so there is nothing to spool'
    throw fail('OPTION_INVALID', { option: 'spool', problem })
  }
  if (folder === undefined) return undefined
  const opening = openSpool({
    folder,
    input,
    sources,
    stdin,
    isRepeated: runId !== undefined,
    limit: sections.spool?.limit,
    signal: stop.stopping,
  })
  const spool = await opening.catch((error: unknown) => {
    throw stop.cause(error)
  })
  if (spool.hasLeftovers) tell({ type: 'warning', message: aboutLeftovers(runId) })
  return spool
}

function aboutLeftovers(runId: string | undefined): string {
  const order = 'an unfinished run has spooled stdin. Sluice loads that data first, then the new stdin'
  return runId === undefined
    ? `${order}. If stdin holds the same data again, Sluice stores its documents twice. To prevent this, use --ids field`
    : `${order}. Sluice loads both under the run ID ${runId}. Documents at the same position get the same id, and the second counts as duplicate`
}

function cutFailure(spool: SpooledStdin | undefined, counts: Counts): Failure | undefined {
  if (spool === undefined || spool.cut.length === 0) return undefined
  return failure('RUN_INTERRUPTED', { reason: 'stdin never ended', settled: settledOf(counts) })
}

async function takeRest({ stop, tell }: Run, spool: SpooledStdin, error: unknown): Promise<unknown> {
  const warn = (message: string) => tell({ type: 'warning', message })
  const why = isSluiceError(error) ? `${error.code}: ${error.message}` : String(error)
  const isTold = spool.isFilling && !stop.stopping.aborted
  if (isTold) warn(`the load has stopped, but Sluice still spools stdin to its end (${why})`)
  const untaken = await spool.untaken()
  if (untaken === undefined || !isSluiceError(error) || error.failure === untaken.failure) return error
  if (!isTold) warn(`the load has stopped too (${why})`)
  return endedUntaken(error, untaken)
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
