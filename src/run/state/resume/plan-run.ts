/** Plans the remaining work of a run: compares the inputs with what earlier runs have loaded. */
import type { Source } from '../../../base/flow.js'
import { nothing } from '../../../pipeline/ledger/account.js'
import type { Checkpoint, CheckpointInput } from '../checkpoint/checkpoint.js'
import { recognise } from '../inputs/recognise.js'
import type { Recognised } from '../inputs/recognised.js'
import { InputNotes, said } from './input-notes.js'
import { judge } from './judge-input.js'
import { LoadedFile, type Plan, type PlannedInput, type Planning } from './plan.js'
import { rejectedBefore } from './rejected-before.js'
import { anotherSelection, planCursor, sinceWhen } from './plan-cursor.js'

/** Inputs that are planned at once. */
const AT_ONCE = 32

/** Throws SluiceError INPUT_CHANGED, RUN_OPTIONS_CHANGED, INPUT_NOT_FOUND, INPUT_UNREADABLE. */
export async function planRun(planning: Planning): Promise<Plan> {
  const { sources, runs, takesMore = false } = planning
  const recognised = await recognise(sources, runs, planning)
  const loadsAgain = planning.again && !isUnfinished(recognised)
  const notes = new InputNotes()
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
    warnings: [...(isNew ? anotherSelection(inputs, previous, planning.options) : unfinishedOf(continues, inputs))],
    notes: [
      ...sinceWhen(inputs),
      ...notes.all(),
      ...(planning.again && !loadsAgain ? finishedFirst(continues, inputs) : []),
    ],
  }
}

/** With `again`, what was interrupted continues, and what was finished waits for the next command. */
function finishedFirst(continues: Checkpoint | undefined, inputs: readonly PlannedInput[]): string[] {
  const finished = inputs.filter(({ isLoaded }) => isLoaded).length
  if (continues === undefined || finished === 0) return []
  const what = finished === 1 ? 'the finished input' : `the ${finished} finished inputs`
  return [`Sluice first continues run ${continues.run}. To load ${what} again, run the same command once more`]
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
