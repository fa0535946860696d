/** How a run ended, as its file keeps it: the receipt, or the failure of a run that never began. */
import { explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import type { InputReceipt, Receipt } from '../ledger/receipt.js'
import { isoTime } from '../time/local-time.js'
import type { Checkpoint, CheckpointInput, RunEnd } from './checkpoint.js'

/** Most inputs that stand in the end of a run. The file of the run lists those that it has read. */
const MOST_INPUTS = 100

/** What a run that never began says of itself. */
export interface RunRefusal extends Pick<RunEnd, 'run' | 'command'> {
  readonly target: RunEnd['target'] | undefined
  readonly began: Date
  readonly failure: Failure
}

export function endOfRefused({ run, command, began, target, failure }: RunRefusal): RunEnd {
  const { exit } = explain(failure.code)
  return {
    run,
    status: exit === 5 ? 'interrupted' : 'failed',
    command,
    began: isoTime(began),
    ended: isoTime(new Date()),
    exit,
    ...(target === undefined ? {} : { target }),
    failure,
  }
}

/** `isListed`: whether another part of the file lists the inputs. */
export function endOf(receipt: Receipt, isListed: boolean): RunEnd {
  const { inputs } = receipt
  if (inputs.length <= MOST_INPUTS) return receipt
  const told = isListed ? inputs.filter(({ failure }) => failure !== undefined) : inputs
  return { ...receipt, inputs: told.slice(0, MOST_INPUTS), inputCount: inputs.length }
}

/** Returns the end with all inputs that the file of the run lists. */
export function wholeEnd(end: RunEnd, listed: readonly CheckpointInput[]): RunEnd {
  if (end.inputCount === undefined) return end
  const told = new Map((end.inputs ?? []).map(input => [input.name, input]))
  const inputs = listed.map(input => told.get(input.name) ?? inputReceipt(input))
  const { inputCount, ...rest } = end
  return { ...rest, inputs, ...(inputs.length === inputCount ? {} : { inputCount }) }
}

/** Returns what is known of a run without an end: it runs, was killed, or an older Sluice loaded it. */
export function endOfCheckpoint(run: Checkpoint): RunEnd {
  const { status, kind, began, written, target, inputs, counts, rejections, deadLetters } = run
  const { url, index, alias } = target
  return {
    run: run.run,
    status,
    command: kind === 'replay' ? 'replay' : 'ingest',
    began: isoTime(began),
    ...(status === 'running' ? {} : { ended: isoTime(written) }),
    target: { url, index, ...(alias === undefined ? {} : { alias }) },
    inputs: inputs.map(inputReceipt),
    ...counts,
    rejections,
    ...(deadLetters === undefined || counts.rejected === 0 ? {} : { deadLetters: deadLetters.path }),
  }
}

function inputReceipt({ name, status, read }: CheckpointInput): InputReceipt {
  return { name, status: status === 'begun' ? 'unfinished' : status, read }
}
