import { type Failure, fail } from '../../base/failure/failure.js'
import { isRunError } from '../../pipeline/ledger/receipt.js'
import { outcomes } from '../../base/operation.js'
import type { IngestEvent, IngestOptions, Receipt } from '../../index.js'
import { interruptible } from '../terminal/interrupt.js'
import { masked } from '../../base/secrets.js'
import { follow } from '../terminal/progress.js'
import { showProgress } from '../terminal/show-progress.js'
import { stopOf } from '../show/say-error.js'
import { tell } from '../terminal/log.js'
import { sayEnding } from '../show/say-ending.js'
import { balanceOf, receiptParts, showReceipt } from '../show/show-receipt.js'
import { type Asking, tellingCause } from './ask-doctor.js'
import type { HoldingTerminal } from '../terminal/hold-back.js'
import type { LogEntry, Terminal } from '../terminal/terminal.js'
import { optimiseSooner, spareMemory, spareOptimising } from './tune-engine.js'
import { fstatSync } from 'node:fs'
import { namedIn } from '../../options/names.js'
import { visibleLines } from '../../base/text/shown.js'

/** Holds the shared steps of commands that run a load: ingest, replay and demo. */

/** Returns the exit code. With `quiet`, says only what a person should look at. */
export async function sayReceipt(account: Receipt, terminal: Terminal, json: boolean, quiet = false): Promise<number> {
  const receipt = knownReceipt(account, terminal.manner)
  const { exit: code } = receipt
  if (json) await pourReceipt(receipt, terminal)
  else if (!quiet) terminal.out(showReceipt(receipt))
  if (code !== 0 || !quiet) tell(terminal, endOf(receipt, code, quiet))
  return code
}

/** Writes a part when the reader has taken the one before: all parts of a list of very many inputs would wait in memory. */
async function pourReceipt(receipt: Receipt, terminal: Terminal): Promise<void> {
  for (const part of receiptParts(receipt)) if (!(await terminal.pour(Buffer.from(visibleLines(part))))) return
}

/** `quiet`: stderr holds all that people read. Otherwise they read the receipt, too. */
function endOf(receipt: Receipt, exit: number, quiet: boolean): LogEntry {
  const { run, failure, deadLetters } = receipt
  const counts = Object.fromEntries(outcomes.map(name => [name, receipt[name]]))
  const fields = { run, exit, read: receipt.read, ...counts, ...(deadLetters === undefined ? {} : { deadLetters }) }
  if (failure !== undefined) return stopOf(failure, { fields, ...(quiet ? { text: sayEnding(receipt) } : {}) })
  const level = exit === 0 ? 'info' : 'warn'
  return { level, event: 'finished', message: balanceOf(receipt), fields, text: quiet ? sayEnding(receipt) : '' }
}

/**
 * Runs the load to its receipt. A stopped run also has a receipt. Throws if the run stopped before the first
 * document.
 */
export async function showLoad(
  options: IngestOptions,
  terminal: Terminal,
  quiet: boolean,
  { asking, hear }: Besides = {},
): Promise<Receipt> {
  const load = async (heard: Heard) => {
    // Loaded only here, so that help and wrong options do not wait for it.
    const { ingest } = await import('../../ingest.js')
    spareOptimising()
    return await ingest({ ...options, ...stdinFor(options.source, terminal), ...heard })
  }
  const doing = options.follow === true ? 'loading what the files hold so far' : undefined
  return await followed(terminal, quiet, load, { asking, hear, doing })
}

/** With `quiet`, stderr is for a mail. Otherwise nothing is kept back. */
export function mailOnly(terminal: HoldingTerminal, quiet: boolean): void {
  terminal.manner.isMailed = quiet
  if (!quiet) terminal.release()
}

/** The listeners that show a run's progress and can interrupt it. */
export interface Heard {
  readonly signal: AbortSignal
  readonly onEvent: (event: IngestEvent) => void
}

/** The helpers that run beside a load. */
interface Besides {
  /** How to find the cause of a refusal. Absent: Sluice does not look for it. */
  readonly asking?: Asking | undefined
  /** Hears every event. */
  readonly hear?: ((event: IngestEvent) => void) | undefined
  /** The work of Sluice after a signal. */
  readonly doing?: string | undefined
}

/** Runs a load to its receipt and shows its progress. */
export async function followed(
  terminal: Terminal,
  quiet: boolean,
  run: (heard: Heard) => Promise<Receipt>,
  { asking, hear, doing = 'finishing open requests' }: Besides = {},
): Promise<Receipt> {
  using interruption = interruptible(terminal, doing)
  using progress = showProgress(terminal, { quiet })
  const { signal } = interruption
  const show = follow(progress)
  let inputs = 0
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'planning') inputs = event.inputs
    if (event.type === 'begun') terminal.manner.run = event.run
    // Finding inputs leaves much garbage, and so does planning.
    if (event.type === 'planning') optimiseSooner(event.inputs)
    if (event.type === 'planning' || event.type === 'begun') spareMemory(inputs)
    show(event)
    hear?.(event)
  }
  const running = toReceipt(run({ signal, onEvent }))
  return asking === undefined ? await running : await tellingCause(running, asking, signal)
}

async function toReceipt(running: Promise<Receipt>): Promise<Receipt> {
  try {
    return await running
  } catch (error) {
    if (isRunError(error) && error.receipt !== undefined) return error.receipt
    throw error
  }
}

/** Returns a receipt in a form that may be shown. */
export function knownReceipt(receipt: Receipt, { secrets, typed = known => known }: Terminal['manner']): Receipt {
  const { failure, inputs, notes, rejections } = receipt
  return {
    ...receipt,
    inputs: masked(inputs, secrets),
    rejections: masked(rejections, secrets),
    ...(notes === undefined ? {} : { notes: masked(notes, secrets) }),
    ...(failure === undefined ? {} : { failure: masked(typed(withPosition(failure, receipt)), secrets) }),
  }
}

/** Says of an interrupted run that a second one cannot continue it, if that is so. */
function withPosition(why: Failure, { checkpoint, dryRun }: Receipt): Failure {
  const isInterrupted = why.code === 'RUN_INTERRUPTED' && !why.message.includes('never ended')
  return isInterrupted && checkpoint === undefined && dryRun !== true
    ? { ...why, message: `${why.message}. Sluice keeps no position in this input` }
    : why
}

/** Refuses a directory as stdin, which reads as an empty stream. Throws SluiceError INPUT_UNREADABLE. */
export function checkStdin(names: readonly string[]): void {
  const stdin = names.find(isStdin)
  if (stdin === undefined || !fstatSync(0).isDirectory()) return
  throw fail('INPUT_UNREADABLE', { input: stdin, problem: 'it is a directory' })
}

export function stdinFor(source: unknown, terminal: Terminal): { readonly stdin?: NodeJS.ReadStream } {
  return namedIn(source).some(isStdin) ? { stdin: terminal.stdin } : {}
}

function isStdin(name: string): boolean {
  return name === '-' || name === '/dev/stdin'
}
