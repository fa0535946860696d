/**
 * Keeps how each run ended: in its own file, or in a small one in another folder if the run has none, because it never began or its
 * inputs can be read only once. No load reads those.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, replaceFile, stateUnwritable } from '../../../base/disk/safe-files.js'
import { explain, type Failure } from '../../../base/failure/failure.js'
import type { InputReceipt, Receipt } from '../../../pipeline/ledger/receipt.js'
import { isObject, parseJson } from '../../../base/json/parse-json.js'
import { isoTime } from '../../../base/time/clock.js'
import { endInLine, endLine } from '../checkpoint/journal.js'
import type { Checkpoint, CheckpointInput, RunEnd, RunUndone } from '../checkpoint/checkpoint.js'
import { freeName, isJournal, namesIn, runsFolder, runTextOf } from './runs.js'

const FOLDER = 'history'
const VERSION = 2

/** A run that has no state. */
export interface EndedRun {
  readonly path: string
  /** As the user named them, absolute. */
  readonly sources: readonly string[]
  readonly ended: RunEnd
  /** The same for all runs of one command. Undefined if the run was not undone. */
  readonly key: string | undefined
}

/** Returns the folder of runs without a state. */
export function historyFolder(stateDir: string): string {
  return join(stateDir, FOLDER)
}

/** Writes a file of its own for the end of a run. `key`: see `Checkpoint`. Throws errors of the file system. */
export async function recordRun(
  stateDir: string,
  sources: readonly string[],
  ended: RunEnd,
  key?: string,
): Promise<void> {
  const folder = historyFolder(stateDir)
  await makeFolder(folder)
  const { run, began } = ended
  const head = `${JSON.stringify({ sluice: VERSION, run, began, sources, key })}\n`
  await replaceFile(await freeName(folder, run), head + endLine(ended))
}

/**
 * Keeps the end of a run that is forgotten because it was undone, for the list of runs. `undone`: undefined for one whose documents stay.
 * Throws SluiceError STATE_UNWRITABLE.
 */
export async function recordUndone(stateDir: string, run: Checkpoint, undone: RunUndone | undefined): Promise<void> {
  const end = run.ended === undefined ? endOfCheckpoint(run) : wholeEnd(run.ended, run.inputs)
  const inputs = end.inputs ?? []
  const counted = inputs.length > MOST_INPUTS ? { inputCount: inputs.length } : {}
  const ended = {
    ...end,
    inputs: inputs.slice(0, MOST_INPUTS),
    ...counted,
    ...(undone === undefined ? {} : { undone }),
  }
  try {
    await recordRun(stateDir, run.sources, ended, run.key)
  } catch (error) {
    throw stateUnwritable(historyFolder(stateDir), error)
  }
}

/** Adds the end to the file of a run. Does nothing if the file is gone, or ends in a torn line. Throws errors of the file system. */
export async function addEnd(path: string, ended: RunEnd): Promise<void> {
  let file: FileHandle
  try {
    file = await open(path, 'r+')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  try {
    const { size } = await file.stat()
    const last = size === 0 ? undefined : (await file.read(Buffer.alloc(1), 0, 1, size - 1)).buffer[0]
    if (last !== 0x0a) return
    await file.write(endLine(ended), size)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Changes the end of a run, if it is known: the newest one of this name. Throws errors of the file system. */
export async function changeEnd(stateDir: string, run: string, change: (ended: RunEnd) => RunEnd): Promise<void> {
  const found: { readonly path: string; readonly ended: RunEnd }[] = []
  for (const folder of [runsFolder(stateDir), historyFolder(stateDir)]) {
    const names = (await namesIn(folder)).filter(name => name.startsWith(run) && isOfRun(name.slice(run.length)))
    for (const name of names) {
      const path = join(folder, name)
      const ended = lastEnd(runTextOf(path) ?? Buffer.alloc(0))
      if (ended?.run === run) found.push({ path, ended })
    }
  }
  const [newest] = found.toSorted((one, other) => timeOf(other.ended) - timeOf(one.ended))
  if (newest !== undefined) await addEnd(newest.path, change(newest.ended))
}

function isOfRun(rest: string): boolean {
  return /^(~\d+)?\.jsonl$/.test(rest)
}

/** Returns the runs without a state. A file that cannot be understood says nothing. Throws SluiceError STATE_UNREADABLE. */
export async function recordedRuns(stateDir: string): Promise<readonly EndedRun[]> {
  const folder = historyFolder(stateDir)
  const found: EndedRun[] = []
  for (const name of (await namesIn(folder)).filter(isJournal)) {
    const path = join(folder, name)
    const text = runTextOf(path) ?? Buffer.alloc(0)
    const head = parseJson(text.toString('utf8', 0, Math.max(0, text.indexOf(0x0a))))
    const ended = lastEnd(text)
    if (!isObject(head) || ended === undefined) continue
    const { sources, key } = head
    found.push({
      path,
      ended,
      sources: Array.isArray(sources) ? sources.map(String) : [],
      key: typeof key === 'string' ? key : undefined,
    })
  }
  return found
}

/** Returns how the last run of this name was undone, if it was. Throws SluiceError STATE_UNREADABLE. */
export async function undoneRun(stateDir: string, run: string): Promise<RunUndone | undefined> {
  const undone = (await recordedRuns(stateDir)).flatMap(({ ended }) => (ended.run === run ? (ended.undone ?? []) : []))
  return undone.toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at))[0]
}

function lastEnd(text: Buffer): RunEnd | undefined {
  const end = text.lastIndexOf(0x0a)
  const start = end <= 0 ? -1 : text.lastIndexOf(0x0a, end - 1)
  const line = end === -1 ? undefined : parseJson(text.toString('utf8', start + 1, end))
  return endInLine(line)
}

function timeOf({ ended, began }: RunEnd): number {
  return Date.parse(ended ?? began)
}

/** Most inputs that stand in the end of a run. The file of the run lists those that it has read. */
const MOST_INPUTS = 100

/** The facts about a run that never began. */
interface RunRefusal extends Pick<RunEnd, 'run' | 'command'> {
  readonly target: RunEnd['target'] | undefined
  readonly began: Date
  readonly failure: Failure
}

/** Returns the end of a run that never began. */
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

/** Returns the end of a run from its receipt. `isListed`: whether another part of the file lists the inputs. */
export function endOf(receipt: Receipt, isListed: boolean): RunEnd {
  const { inputs } = receipt
  if (inputs.length <= MOST_INPUTS) return receipt
  const told = isListed ? inputs.filter(({ failure }) => failure !== undefined) : inputs
  return { ...receipt, inputs: told.slice(0, MOST_INPUTS), inputCount: inputs.length }
}

/** Returns the end with all inputs that the file of the run lists. */
export function wholeEnd(end: RunEnd, listed: Iterable<CheckpointInput>): RunEnd {
  if (end.inputCount === undefined) return end
  const told = new Map((end.inputs ?? []).map(input => [input.name, input]))
  const inputs = Array.from(listed, input => told.get(input.name) ?? inputReceipt(input))
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
    inputs: Array.from(inputs, inputReceipt),
    ...counts,
    rejections,
    ...(deadLetters === undefined || counts.rejected === 0 ? {} : { deadLetters: deadLetters.path }),
  }
}

function inputReceipt({ name, status, read }: CheckpointInput): InputReceipt {
  return { name, status: status === 'begun' ? 'unfinished' : status, read }
}
