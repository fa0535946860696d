/** Judges what is left to load of an input, from what earlier runs have loaded of it. */
import { isOperation, rowOf } from '../../../base/operation.js'
import { type Failure, SluiceError } from '../../../base/failure/failure.js'
import type { Lines, Mark, Source } from '../../../base/flow.js'
import { type Checkpoint, type CheckpointInput, START } from '../checkpoint/checkpoint.js'
import type { Recognised, Streamed } from '../inputs/recognised.js'
import type { InputNotes } from './input-notes.js'
import { passLineEnd, passTail } from './pass-tail.js'
import {
  changedNames,
  differences,
  inputChanged,
  LoadedFile,
  NewFile,
  optionsChanged,
  type PlannedInput,
  type Planning,
} from './plan.js'

/** An input that a run has read, at least in part. */
interface Read {
  readonly source: Source
  readonly planning: Planning
  readonly notes: InputNotes
  readonly input: CheckpointInput
  readonly run: Checkpoint
  readonly isFinished: boolean
  /** Whether its documents were lost with their index. */
  readonly isLost: boolean
}

type Known = Extract<Recognised, { kind: 'known' }>

/** The first reason in this order decides. Throws SluiceError INPUT_CHANGED, RUN_OPTIONS_CHANGED, INPUT_UNREADABLE. */
export async function judge(
  source: Source,
  recognised: Recognised | undefined,
  planning: Planning,
  notes: InputNotes,
): Promise<PlannedInput> {
  if (recognised === undefined) return await unread(source, planning)
  if (recognised.kind === 'new') return await another(source, recognised, planning, notes)
  const { input, run } = recognised.known
  const isFinished = input.status === 'finished'
  const read = { source, planning, notes, input, run, isFinished, isLost: planning.lost.has(run) }
  if (isWantedAgain(read)) return await fresh(source, planning)
  if (recognised.kind === 'changed') return await refuse(read, changedBytes(read, recognised.observed))
  const other = withOtherOptions(read)
  if (other !== undefined) return await other
  const known = knownAs(read, recognised)
  // Sluice sends these documents again under the same ids. If one is still there, it counts as `duplicate`.
  if (read.isLost) return { ...known, isLoaded: false, read: 0 }
  const isLoaded = hasNothingLeft(read, recognised)
  if (recognised.moved !== undefined) notes.moved(source, recognised.moved, run, isFinished, !isLoaded)
  if (isLoaded && recognised.file === undefined) return loadedAsBefore(read)
  return { ...known, ...(await whereToContinue(read, recognised, isLoaded)), isLoaded }
}

/** No run has read it. */
async function unread(source: Source, planning: Planning): Promise<PlannedInput> {
  const { tokenOfFile } = planning
  if (tokenOfFile === undefined || source.file === undefined) return await fresh(source, planning)
  return new NewFile(source, tokenOfFile)
}

async function fresh(source: Source, { newToken }: Planning): Promise<PlannedInput> {
  return { source, token: await newToken(source), isLoaded: false, read: 0 }
}

/** Runs have read something like it. */
async function another(
  source: Source,
  { twin, replaces, differs, opened }: Extract<Recognised, { kind: 'new' }>,
  planning: Planning,
  notes: InputNotes,
): Promise<PlannedInput> {
  if (twin !== undefined) notes.twin(source, twin.input.name, twin.run)
  // A person who only added rows would not expect that all of them are read again.
  const other = differs ?? (twin === undefined ? replaces : undefined)
  if (other !== undefined) notes.differs(source, other)
  return {
    ...(await fresh(source, planning)),
    ...(opened === undefined ? {} : { opened }),
    ...(replaces === undefined ? {} : { replaces: replaces.run, replacedFile: replaces.input.file }),
  }
}

/** Into another index, the documents get the ids that they had: some may be there since the index was deleted. */
function isWantedAgain({ isFinished, isLost, planning: { again } }: Read): boolean {
  return isFinished && again && !isLost
}

function changedBytes({ source, run, input: { mark } }: Read, observed: string): Failure {
  return inputChanged(source.name, run.run, mark.document - 1, observed, mark.offset)
}

async function refuse({ source, planning, run }: Read, why: Failure): Promise<PlannedInput> {
  if (planning.listsRefusals !== true) throw new SluiceError(why)
  return { ...(await fresh(source, planning)), replaces: run, refused: why }
}

/** Returns undefined if the options are as they were, or if only lines that come later have others. */
function withOtherOptions(read: Read): Promise<PlannedInput> | undefined {
  const { source, planning, notes, input, run, isFinished } = read
  const { options, readsWhole = false } = planning
  const changed = changedNames(run.options, options)
  if (changed.length === 0) return undefined
  const how = differences(run.options, options)
  const isOfNewLines = changed.every(name => isOnlyOfNewLines(name, run.options, options))
  if (isFinished && input.hasStored && !readsWhole && isOfNewLines) {
    notes.changed(source, how)
    return undefined
  }
  // A document of before would stay as it was sent then. A process that was killed may have stored more than its marks say.
  const hasStored = input.hasStored || (!isFinished && run.isDoubtful)
  if (!hasStored || (isFinished && readsWhole)) return fresh(source, planning)
  return refuse(read, optionsChanged(run.run, how, isFinished ? source.name : undefined))
}

function knownAs({ source, input, run }: Read, { file, moved, packed }: Known): Omit<PlannedInput, 'isLoaded'> {
  const { token, read } = input
  const isPacked = (packed === undefined ? input.content : packed.content)?.bytes !== undefined
  return {
    source,
    token,
    known: input,
    by: run,
    read,
    ...(file === undefined ? {} : { file }),
    ...(packed === undefined ? {} : { content: packed.content }),
    ...(moved === undefined ? {} : { moved }),
    ...(isPacked ? { isPacked } : {}),
  }
}

/** Returns whether all of it was read, and nothing was added since. */
function hasNothingLeft({ source, input, isFinished }: Read, { file, packed }: Known): boolean {
  const bytes = (file ?? input.file)?.bytes ?? 0
  const wasRead = isFinished || (input.status === 'begun' && markOf(input, packed).tail > 0)
  const hasAll = source.copy === undefined ? source.file?.stat.size === bytes : !source.copy.grows
  return wasRead && (packed?.isWhole ?? hasAll)
}

/** A guarded load, and a run with a part of a last line, look for the token. */
function loadedAsBefore({ source, planning, input, run, isFinished }: Read): PlannedInput {
  const { token, read } = input
  if (isFinished && planning.readsWhole !== true) return new LoadedFile(source, run, read)
  return { source, token, by: run, read, isLoaded: true }
}

async function whereToContinue(
  { source, input }: Read,
  { file, packed, streamed }: Known,
  isLoaded: boolean,
): Promise<Pick<PlannedInput, 'from' | 'opened' | 'begins' | 'start'>> {
  const seen = file ?? input.file
  if (seen !== undefined) source.file?.continues?.(seen.bytes, seen.state)
  const mark = markOf(input, packed)
  const hasGrown = !isLoaded && source.copy === undefined
  const last = hasGrown ? await behindTail(source, mark, streamed) : mark
  return {
    ...(isAtStart(mark) ? {} : { from: last }),
    ...goingOn(streamed, isLoaded),
    ...(input.start === undefined ? {} : { start: input.start }),
  }
}

function isAtStart(mark: Mark): boolean {
  const { document, line, tail, within = 0 } = mark
  return mark === START || (document === 1 && line === 1 && tail === 0 && within === 0)
}

async function behindTail(source: Source, mark: Mark, streamed: Streamed | undefined): Promise<Mark> {
  if (streamed === undefined) return await passTail(source, mark)
  return passLineEnd(mark, streamed.lineEnd)
}

function goingOn(streamed: Streamed | undefined, isLoaded: boolean): Pick<PlannedInput, 'opened' | 'begins'> {
  if (streamed === undefined || isLoaded) return {}
  const { opened, begins } = streamed
  return opened === undefined ? { begins } : { opened }
}

/** Returns its mark, also in a file that holds the same lines in another packing. */
function markOf({ mark, content }: CheckpointInput, packed: Known['packed']): Mark {
  if (packed === undefined || mark.kind === 'edited' || mark === START) return mark
  const { kind, at }: Pick<Lines, 'kind' | 'at'> = packed.lines
  return { ...mark, kind, offset: mark.offset - (content?.at ?? 0) + at }
}

/** Options that change documents, and not how their lines are numbered and named: lines that come later may have others. */
const ofNewLines: ReadonlySet<string> = new Set(['set', 'drop', 'keep', 'rename', 'transform', 'pipeline'])

/**
 * Returns whether a change of this option concerns new lines only. The same ids are created or replaced by `create` and `index`. A file
 * that is loaded with an operation that changes documents after that means its old lines, too.
 */
function isOnlyOfNewLines(name: string, was: Checkpoint['options'], now: Checkpoint['options']): boolean {
  if (ofNewLines.has(name)) return true
  return name === 'op' && [was, now].every(({ op }) => isOperation(op) && !rowOf(op).changes)
}
