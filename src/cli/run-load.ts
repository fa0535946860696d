import { explain } from '../failure/catalogue.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { IngestOptions, Receipt } from '../index.js'
import { interruptible } from './terminal/interrupt.js'
import { masked } from './terminal/mask.js'
import { follow } from './terminal/progress.js'
import { showProgress } from './terminal/show-progress.js'
import { sayFailure } from './show/say-error.js'
import { plural } from './show/columns.js'
import { receiptJson, showReceipt } from './show/show-receipt.js'
import { type Asking, tellingCause } from './tell-cause.js'
import type { Terminal } from './terminal/terminal.js'
import { spareOptimising } from './spare-optimising.js'
import { fstatSync } from 'node:fs'
import { namedIn } from '../options/table-names.js'
import { fail } from '../failure/fail.js'

/** Holds the shared steps of commands that run a load: ingest, replay and demo. */

/** Returns the exit code. */
export function sayReceipt(account: Receipt, terminal: Terminal, json: boolean, quiet = false): number {
  const receipt = withMaskedFailures(account, terminal.manner.secrets)
  terminal.out(json ? receiptJson(receipt) : showReceipt(receipt))
  if (receipt.failure !== undefined) terminal.err(sayFailure(receipt.failure))
  else if (json && quiet) terminal.err(whatIsMissing(receipt))
  return exitCodeOf(receipt)
}

/** Returns a line for the mail of a job whose receipt goes to a file, or nothing if every document is stored. */
function whatIsMissing({ rejected, unknown, deadLetters }: Receipt): string {
  const repair = deadLetters === undefined ? '' : `. Repair ${deadLetters}, then run \`sluice replay ${deadLetters}\``
  const lines = [
    ...(rejected === 0 ? [] : [`${plural(rejected, 'document')} rejected${repair}\n`]),
    ...(unknown === 0
      ? []
      : [`${plural(unknown, 'document')} with unknown outcome: no answer says whether they are stored\n`]),
  ]
  return lines.map(line => `warning: ${line}`).join('')
}

/**
 * Runs the load to its receipt. A stopped run also has a receipt. Throws if the run stopped before the first
 * document.
 */
export async function runLoad(
  options: IngestOptions,
  terminal: Terminal,
  quiet: boolean,
  asking?: Asking,
): Promise<Receipt> {
  const load = async (heard: Heard) => {
    // The engine takes as long to load as all that comes before it: help and wrong options do not wait for it.
    const { ingest } = await import('../ingest.js')
    spareOptimising()
    return await ingest({ ...options, ...stdinFor(options.source, terminal), ...heard })
  }
  return await followed(terminal, quiet, load, asking)
}

/** The listeners that show a run's progress and can interrupt it. */
export type Heard = Required<Pick<IngestOptions, 'signal' | 'onEvent'>>

/**
 * Runs a load to its receipt and shows its progress. `asking`: how to find the cause of a refusal. Absent: Sluice
 * does not look for it.
 */
export async function followed(
  terminal: Terminal,
  quiet: boolean,
  run: (heard: Heard) => Promise<Receipt>,
  asking?: Asking,
): Promise<Receipt> {
  using interruption = interruptible(terminal, 'finishing requests in flight')
  using progress = await showProgress(terminal, { quiet })
  const { signal } = interruption
  const running = toReceipt(run({ signal, onEvent: follow(progress) }))
  return asking === undefined ? await running : await tellingCause(running, asking, signal)
}

async function toReceipt(running: Promise<Receipt>): Promise<Receipt> {
  try {
    return await running
  } catch (error) {
    // Narrowed by what throws: of the library's functions only `ingest` and `replay` attach a receipt.
    if (isSluiceError(error) && error.receipt !== undefined) return error.receipt as Receipt
    throw error
  }
}

function withMaskedFailures(receipt: Receipt, secrets: readonly string[]): Receipt {
  const { failure, inputs, notes } = receipt
  return {
    ...receipt,
    inputs: masked(inputs, secrets),
    ...(notes === undefined ? {} : { notes: masked(notes, secrets) }),
    ...(failure === undefined ? {} : { failure: masked(failure, secrets) }),
  }
}

export function exitCodeOf({ failure, rejected, unknown }: Receipt): number {
  if (failure !== undefined) return explain(failure.code).exit
  return rejected > 0 || unknown > 0 ? 1 : 0
}

/** Refuses a directory as stdin, which reads as an empty stream. Throws SluiceError INPUT_UNREADABLE. */
export function checkStdin(names: readonly string[]): void {
  const stdin = names.find(isStdin)
  if (stdin === undefined || !fstatSync(0).isDirectory()) return
  throw fail('INPUT_UNREADABLE', { input: stdin, problem: 'it is a directory' })
}

/** Opens stdin only if it is an input. */
export function stdinFor(source: IngestOptions['source'], terminal: Terminal): Pick<IngestOptions, 'stdin'> {
  return namedIn(source).some(isStdin) ? { stdin: terminal.stdin } : {}
}

function isStdin(name: string): boolean {
  return name === '-' || name === '/dev/stdin'
}
