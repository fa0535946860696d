/** Does what follows the end of a run, whatever that end was: writes its report, and runs a command. */
import { diskProblem } from '../../base/disk/safe-files.js'
import { isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { Receipt } from '../../index.js'
import { withoutSecrets } from '../../base/secrets.js'
import { refuseUnsafeOutput } from '../settings/option-files.js'
import type { Effective } from '../settings/resolve.js'
import { endOfRefused } from '../../run/state/runs/history.js'
import type { RunEnd } from '../../run/state/checkpoint/checkpoint.js'
import { stateDir } from './load-options.js'
import { knownReceipt } from './show-load.js'
import { failedJson, nextAfter, knownFailure, sayError } from '../show/say-error.js'
import { receiptParts } from '../show/show-receipt.js'
import { interruptible } from '../terminal/interrupt.js'
import { nextOf } from '../show/say-ending.js'
import { tell } from '../terminal/log.js'
import type { HoldingTerminal } from '../terminal/hold-back.js'
import type { Terminal } from '../terminal/terminal.js'

/** The steps after the end of a run. They happen once. */
export interface AfterRun {
  /** Called with the account of a run, before the user sees it. */
  ended(receipt: Receipt): Promise<void>
  /** Runs a part of a command. If it throws, the run has ended without an account. */
  around<T extends Ended>(work: () => Promise<T>): Promise<T | Ended>
}

interface Ended {
  readonly code: number
  readonly receipt?: Receipt
  readonly error?: unknown
}

/** Throws SluiceError OPTION_INVALID before the run begins if nothing could follow. */
export async function openAfterRun(effective: Effective, terminal: HoldingTerminal): Promise<AfterRun> {
  refuseUnsafeOutput(effective)
  const { report, onFailure, onSuccess, dryRun, alarmTimeoutMs, quiet } = effective.values
  if (report !== undefined) {
    const { checkReportFile } = await import('../../features/report/kept-timeline.js')
    await checkReportFile(report)
  }
  let isReported = report === undefined
  const follow = async (end: () => RunEnd) => {
    if (isReported || report === undefined) return
    isReported = true
    await sayReport(end(), { path: report, stateDir: stateDir(effective, terminal), quiet }, terminal)
  }
  const commands = { failure: isWord(onFailure) ? undefined : onFailure, success: onSuccess }
  let isFollowed = dryRun || (commands.failure === undefined && commands.success === undefined)
  const runCommand = async ({ code, receipt, error }: Ended) => {
    if (isFollowed || (receipt === undefined && error === undefined)) return
    isFollowed = true
    const [option, command] = code === 0 ? ['--on-success', commands.success] : ['--on-failure', commands.failure]
    if (command !== undefined)
      await sayCommand({ option, command, timeoutMs: alarmTimeoutMs }, { receipt, error }, terminal)
  }
  return {
    ended: async receipt => await follow(() => knownReceipt(receipt, terminal.manner)),
    around: async work => {
      try {
        const ended = await work()
        await runCommand(ended)
        return ended
      } catch (error) {
        await follow(() => endOfError(error, terminal))
        if (isFollowed) throw error
        // The user sees the error before the command runs.
        terminal.release()
        const run = isSluiceError(error) ? error.run : undefined
        const ended = {
          code: sayError(terminal, error),
          error: new SluiceError(knownFailure(terminal, error), { run }),
        }
        await runCommand(ended)
        return ended
      }
    },
  }
}

function isWord(onFailure: string): boolean {
  return onFailure === 'nothing' || onFailure === 'incident'
}

/** Runs a command of the user's. Its failure is a warning. */
async function sayCommand(
  { option, command, timeoutMs }: { readonly option: string; readonly command: string; readonly timeoutMs: number },
  { receipt, error }: { readonly receipt: Receipt | undefined; readonly error: unknown },
  terminal: Terminal,
): Promise<void> {
  const account =
    receipt === undefined
      ? [failedJson(terminal, knownFailure(terminal, error), isSluiceError(error) ? error.run : undefined)]
      : receiptParts(knownReceipt(receipt, terminal.manner))
  using interruption = interruptible(terminal, `giving up on the command of ${option}`)
  const { environmentOfCommand, runShellCommand } = await import('./shell-command.js')
  const env = environmentOfCommand(terminal)
  const problem = await runShellCommand({
    command,
    env,
    account,
    timeoutMs,
    secrets: terminal.manner.secrets,
    signal: interruption.signal,
  })
  if (problem === undefined) return
  const message = withoutSecrets(`the command of ${option} ${problem}`, terminal.manner.secrets)
  tell(terminal, { level: 'warn', event: 'command', message, fields: { option } })
}

/** Writes the report. A report that cannot be written changes nothing else. */
async function sayReport(
  end: RunEnd,
  { path, stateDir: folder, quiet }: { readonly path: string; readonly stateDir: string; readonly quiet: boolean },
  terminal: Terminal,
): Promise<void> {
  try {
    await saveReport(end, { path, stateDir: folder }, terminal)
    if (!quiet) tell(terminal, { level: 'info', event: 'report', message: `report: ${path}`, fields: { path } })
  } catch (error) {
    const message = `the report could not be written to ${path}: ${diskProblem(error)}`
    tell(terminal, { level: 'warn', event: 'report', message })
  }
}

/** Writes the report of a run that has ended. Throws errors of the file system. */
export async function saveReport(
  end: RunEnd,
  { path, stateDir: folder }: { readonly path: string; readonly stateDir: string },
  { manner }: Terminal,
): Promise<void> {
  const { recallTimeline, writeReport } = await import('../../features/report/kept-timeline.js')
  const kept = end.dryRun === true ? undefined : await recallTimeline(folder, end.run)
  // An earlier run of this name may have left one.
  const isOfRun = kept?.samples.processes.some(({ began }) => isWithin(Date.parse(began), end)) === true
  await writeReport(path, {
    end,
    timeline: isOfRun ? kept : undefined,
    next: stepsAfter(end),
    version: manner.version ?? '',
    written: new Date(),
  })
}

/** Times in a receipt have no fractions of a second. */
const ROUNDING_MS = 1000

function isWithin(time: number, { began, ended }: RunEnd): boolean {
  return (
    time >= Date.parse(began) - ROUNDING_MS &&
    time <= (ended === undefined ? Infinity : Date.parse(ended) + ROUNDING_MS)
  )
}

function stepsAfter(end: RunEnd): readonly string[] {
  const { failure, checkpoint } = end
  if (failure !== undefined) return [nextAfter(failure, checkpoint !== undefined)].filter(step => step !== undefined)
  return end.thisProcess === undefined ? [] : nextOf(end as RunEnd & Receipt)
}

/** Returns the end of a run that threw: it never began, or this is a bug. */
function endOfError(error: unknown, terminal: Terminal): RunEnd {
  const { command = '', target, run: begun } = terminal.manner
  const run = (isSluiceError(error) ? error.run : undefined) ?? begun ?? 'without a name'
  const failure = knownFailure(terminal, error)
  return endOfRefused({ run, command, began: new Date(performance.timeOrigin), target, failure })
}
