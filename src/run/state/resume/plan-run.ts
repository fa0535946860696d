/** Plans the remaining work of a run: compares the inputs with what earlier runs have loaded. */
import { relative } from 'node:path'
import { type Failure, SluiceError } from '../../../base/failure/failure.js'
import type { Lines, Mark, Source } from '../../../base/flow.js'
import { nothing } from '../../../pipeline/ledger/account.js'
import { type Checkpoint, type CheckpointInput, START } from '../checkpoint/checkpoint.js'
import type { KnownInput } from '../inputs/known-input.js'
import { recognise } from '../inputs/recognise.js'
import type { Recognised, Streamed } from '../inputs/recognised.js'
import {
  changedNames,
  differences,
  inputChanged,
  optionsChanged,
  LoadedFile,
  NewFile,
  type Plan,
  type PlannedInput,
  type Planning,
} from './plan.js'
import { passLineEnd, passTail } from './pass-tail.js'
import { rejectedBefore } from './rejected-before.js'
import { anotherSelection, planCursor, sinceWhen } from './plan-cursor.js'
import { isSourceUrl } from '../../../base/text/source-url.js'
import { localTime } from '../../../base/time/local-time.js'

/** Inputs that are planned at once. */
const AT_ONCE = 32

/** Names in one note. */
const NAMED = 3

/** Throws SluiceError INPUT_CHANGED, RUN_OPTIONS_CHANGED, INPUT_NOT_FOUND, INPUT_UNREADABLE. */
export async function planRun(planning: Planning): Promise<Plan> {
  const { sources, runs, takesMore = false } = planning
  const recognised = await recognise(sources, runs, planning)
  const loadsAgain = planning.again && !isUnfinished(recognised)
  const notes = new Notes()
  const judged: PlannedInput[] = []
  const [previous] = runs
  const last = planning.again && previous?.left === 0 ? undefined : previous
  const judging = { ...planning, again: loadsAgain }
  const judgeOne = async (source: Source, at: number) =>
    source.cursor === undefined
      ? await judge(source, recognised[at], judging, notes)
      : await planCursor(source, source.cursor, last, planning)
  // A named run reads the beginning of each file.
  for (let at = 0; at < sources.length; at += AT_ONCE)
    judged.push(
      ...(await Promise.all(
        sources.slice(at, at + AT_ONCE).map(async (source, number) => await judgeOne(source, at + number)),
      )),
    )
  for (const [at, one] of recognised.entries()) {
    const opened = one?.kind === 'new' ? one.opened : one?.kind === 'known' ? one.streamed?.opened : undefined
    if (judged[at]?.opened !== opened) await opened?.close()
  }
  const continues = runToContinue(judged, planning, takesMore)
  const isNew = continues === undefined
  const inputs = judged.map(input => ofRun(input, continues))
  const left = inputs.filter(({ isLoaded }) => !isLoaded)
  return {
    run: continues?.run ?? planning.newRunId(),
    continues,
    inputs,
    ...rejectedBefore(planning, { recognised, judged, continues }),
    before: continues ?? { counts: nothing, rejections: [] },
    isDone: continues?.status === 'finished' && left.length === 0,
    isDoubtful: continues?.isDoubtful === true || left.some(input => isDoubtful(input, isNew)),
    warnings: [...(isNew ? anotherSelection(inputs, previous) : unfinishedOf(continues, inputs))],
    notes: [...sinceWhen(inputs), ...notes.all()],
  }
}

/** Names the inputs that the run has begun, and that it would leave unfinished. */
function unfinishedOf(run: Checkpoint, inputs: readonly PlannedInput[]): string[] {
  const left = new Set<string>()
  for (const input of run.inputs) if (input.status !== 'finished') left.add(input.token)
  if (left.size > 0) for (const { token } of inputs) left.delete(token)
  const gone: CheckpointInput[] = []
  if (left.size > 0) for (const input of run.inputs) if (left.has(input.token)) gone.push(input)
  const sentences = gone.map(
    ({ name, read }) => `${name} is no longer among the inputs. Sluice loaded only ${read} of its documents`,
  )
  return said(sentences, '')
}

function isUnfinished(recognised: readonly (Recognised | undefined)[]): boolean {
  return recognised.some(one => one?.kind === 'known' && one.known.input.status !== 'finished')
}

/** Returns the newest run that has something of these inputs left. */
function runToContinue(
  judged: readonly PlannedInput[],
  { runs, lost, named, key, continuing }: Planning,
  takesMore: boolean,
): Checkpoint | undefined {
  const own = runs.filter(run => !lost.has(run) && (named === undefined || run.named === named))
  const meant = own.find(({ run }) => run === continuing)
  if (meant !== undefined) return meant
  return own.find(run => {
    if (!takesMore && isOver(run)) return false
    // A process that was killed before it read anything.
    if (run.inputs.length === 0 && run.key === key) return true
    return judged.some(({ by, isLoaded }) => by === run && (takesMore || !isLoaded))
  })
}

/** A last line that has grown is sent a second time. Another run may have been killed while it sent documents. */
function isDoubtful({ from, by, known }: PlannedInput, isNew: boolean): boolean {
  return (isNew && from !== undefined && from.tail > 0) || (by?.isDoubtful === true && known?.status !== 'finished')
}

function isOver({ left }: Checkpoint): boolean {
  return left === 0
}

/** Another run than the one that read the first part of an input numbers its own documents from there. */
function ofRun(input: PlannedInput, run: Checkpoint | undefined): PlannedInput {
  const { from, isLoaded, by } = input
  if (by === undefined) return input
  if (input instanceof LoadedFile)
    return by === run ? new LoadedFile(input.source, undefined, input.read) : input.loadedByAnother()
  if (by === run) {
    const { by: _, ...own } = input
    return own
  }
  if (input.source.cursor !== undefined) {
    // Its numbers are none of the table's own: they count the rows of a run.
    const { source, token, place } = input
    return { source, token, isLoaded, read: 0, ...(place === undefined ? {} : { place }) }
  }
  if (from === undefined || isLoaded) return { ...input, read: 0 }
  return { ...input, read: 0, start: { document: from.document, wasRead: from.tail > 0 } }
}

async function judge(
  source: Source,
  recognised: Recognised | undefined,
  { newToken, tokenOfFile, options, again, lost, readsWhole = false, listsRefusals = false }: Planning,
  notes: Notes,
): Promise<PlannedInput> {
  const fresh = async () => ({ source, token: await newToken(source), isLoaded: false, read: 0 })
  if (recognised === undefined)
    return tokenOfFile === undefined || source.file === undefined ? await fresh() : new NewFile(source, tokenOfFile)
  if (recognised.kind === 'new') {
    const { twin, replaces, differs, opened } = recognised
    if (twin !== undefined) notes.twin(source, twin.input.name, twin.run)
    if (differs !== undefined) notes.differs(source, differs)
    return {
      ...(await fresh()),
      ...(opened === undefined ? {} : { opened }),
      ...(replaces === undefined ? {} : { replaces: replaces.run, replacedFile: replaces.input.file }),
    }
  }
  const { input, run } = recognised.known
  const isFinished = input.status === 'finished'
  // Into another index, the documents get the ids that they had: some may be there since the index was deleted.
  if (isFinished && again && !lost.has(run)) return await fresh()
  const refuse = async (why: Failure): Promise<PlannedInput> => {
    if (!listsRefusals) throw new SluiceError(why)
    return { ...(await fresh()), replaces: run, refused: why }
  }
  if (recognised.kind === 'changed') {
    const documents = input.mark.document - 1
    const { observed } = recognised
    return await refuse(inputChanged(source.name, run.run, documents, observed, input.mark.offset))
  }
  const changed = changedNames(run.options, options)
  const isOfNewLines =
    isFinished && input.hasStored && !readsWhole && changed.every(name => isOnlyOfNewLines(name, run.options, options))
  if (changed.length > 0 && isOfNewLines) notes.changed(source, differences(run.options, options))
  else if (changed.length > 0) {
    // A document of before would stay as it was sent then. A process that was killed may have stored more than its marks say.
    const hasStored = input.hasStored || (!isFinished && run.isDoubtful)
    if (!hasStored || (isFinished && readsWhole)) return await fresh()
    const how = differences(run.options, options)
    return await refuse(optionsChanged(run.run, how, isFinished ? source.name : undefined))
  }
  const { file, moved, packed, streamed } = recognised
  const { token, start, read } = input
  const mark = packed === undefined ? input.mark : markIn(packed.lines, input)
  const now = {
    ...(file === undefined ? {} : { file }),
    ...(packed === undefined ? {} : { content: packed.content }),
  }
  const renamed = moved === undefined ? {} : { moved }
  const isPacked = (packed === undefined ? input.content : packed.content)?.bytes !== undefined
  const known = { source, token, known: input, by: run, read, ...now, ...renamed, ...(isPacked ? { isPacked } : {}) }
  // What was stored before is sent again under the same ids: what is still there counts as duplicate.
  if (lost.has(run)) return { ...known, isLoaded: false, read: 0 }
  const bytes = (file ?? input.file)?.bytes ?? 0
  const wasRead = isFinished || (input.status === 'begun' && mark.tail > 0)
  const hasAll = source.copy === undefined ? source.file?.stat.size === bytes : !source.copy.grows
  const isWhole = packed?.isWhole ?? hasAll
  const isLoaded = wasRead && isWhole
  if (moved !== undefined) notes.moved(source, moved, run, isFinished)
  // A guarded load, and a run with a part of a last line, look for the token.
  if (isLoaded && file === undefined)
    return isFinished && !readsWhole ? new LoadedFile(source, run, read) : { source, token, by: run, read, isLoaded }
  const seen = file ?? input.file
  if (seen !== undefined) source.file?.continues?.(seen.bytes, seen.state)
  const { document, line, tail, within = 0 } = mark
  const isAtStart = mark === START || (document === 1 && line === 1 && tail === 0 && within === 0)
  const hasGrown = !isLoaded && source.copy === undefined
  const last = hasGrown ? await behindTail(source, mark, streamed) : mark
  const from = isAtStart ? {} : { from: last }
  return { ...known, ...from, ...goingOn(streamed, isLoaded), ...(start === undefined ? {} : { start }), isLoaded }
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

/** Returns the mark of an input in a file that holds the same lines in another packing. */
function markIn({ kind, at }: Pick<Lines, 'kind' | 'at'>, { mark, content }: CheckpointInput): Mark {
  if (mark.kind === 'edited' || mark === START) return mark
  return { ...mark, kind, offset: mark.offset - (content?.at ?? 0) + at }
}

/** Options that change documents, and not how their lines are numbered and named: lines that come later may have others. */
const ofNewLines: ReadonlySet<string> = new Set(['set', 'drop', 'keep', 'rename', 'transform', 'pipeline'])

/**
 * Returns whether a change of this option concerns new lines only. The same ids are created or replaced by `create` and `index`. A file
 * that is loaded with `update`, `upsert` or `delete` after that means its old lines, too.
 */
function isOnlyOfNewLines(name: string, was: Checkpoint['options'], now: Checkpoint['options']): boolean {
  if (ofNewLines.has(name)) return true
  return name === 'op' && [was, now].every(({ op }) => op === 'create' || op === 'index')
}

/** Collects notes, and shortens them if many inputs have the same one. */
class Notes {
  readonly #moved: string[] = []
  readonly #begun: string[] = []
  readonly #twins: string[] = []
  readonly #changed: string[] = []
  readonly #others: string[] = []

  moved({ name }: Source, was: string, { run, written }: Checkpoint, isFinished: boolean): void {
    if (isFinished) this.#moved.push(`${name} was loaded as ${shown(was)} by run ${run} on ${day(written)}`)
    else this.#begun.push(`${name} was begun as ${shown(was)} by run ${run} on ${day(written)}`)
  }

  twin({ name }: Source, other: string, { run, written }: Checkpoint): void {
    this.#twins.push(`${name} has the same content as ${other}, which run ${run} loaded on ${day(written)}`)
  }

  differs({ name }: Source, { run: { run, written } }: KnownInput): void {
    this.#others.push(`${name} holds something else than run ${run} loaded from it on ${day(written)}`)
  }

  changed({ name }: Source, differences: readonly string[]): void {
    this.#changed.push(`${name} was loaded with other options: ${differences.join(', ')}`)
  }

  all(): string[] {
    return [
      ...said(this.#changed, '. Its new lines get the new options. To load all of it again, pass --again'),
      ...said(this.#moved, '. To load it again, pass --again'),
      ...said(this.#begun, '. Sluice continues it'),
      ...said(this.#others, '. Sluice loads all of it'),
      ...said(this.#twins, '. Both files exist, so Sluice loads both'),
    ]
  }
}

function said(sentences: readonly string[], end: string): string[] {
  const more = sentences.length - NAMED
  const shownOnes = sentences.slice(0, NAMED).map(sentence => sentence + end)
  return more > 0 ? [...shownOnes, `the same is true of ${more} more files`] : shownOnes
}

/** Returns a path as short as it can be from the working folder. */
function shown(path: string): string {
  if (isSourceUrl(path)) return path
  const short = relative('', path)
  return short.startsWith('..') ? path : short
}

function day(time: string): string {
  return localTime(time).slice(0, 16)
}
