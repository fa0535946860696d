/** Plans the remaining work of a run: compares the inputs with the last checkpoint. */
import type { Source } from '../flow.js'
import { nothing } from '../ledger/account.js'
import type { Checkpoint, CheckpointInput } from './checkpoint.js'
import { holdsStill, identityOf } from './file-identity.js'
import { anotherSelection, planCursor, sinceWhen } from './plan-cursor.js'
import type { Plan, PlannedInput, Planning } from './plan.js'
import { fail } from '../failure/fail.js'

/** Throws SluiceError INPUT_CHANGED, RUN_OPTIONS_CHANGED, INPUT_NOT_FOUND, INPUT_UNREADABLE. */
export async function planRun(planning: Planning): Promise<Plan> {
  const { sources, again } = planning
  const wasLoaded = planning.previous?.inputs.every(({ status }) => status === 'finished') === true
  const previous = again && wasLoaded ? undefined : planning.previous
  const wasFinished = previous?.status === 'finished'
  const known = new Map(previous?.inputs.map(input => [input.name, input]))
  const judged = await Promise.all(
    sources.map(async source =>
      source.cursor === undefined
        ? await judge(source, known.get(source.name), planning, previous?.run ?? '')
        : planCursor(source, source.cursor, previous, planning),
    ),
  )
  // A run that was cut off for good has no unfinished inputs either.
  const isOver = planning.takesMore !== true && previous?.inputs.every(({ status }) => status === 'finished') === true
  if (previous === undefined || (isOver && judged.some(({ isLoaded }) => !isLoaded))) {
    return {
      run: planning.newRunId(),
      began: undefined,
      inputs: judged.map(beginAnew),
      before: { counts: nothing, rejections: [] },
      isDone: false,
      deadLetters: undefined,
      // A last line that has grown is sent a second time.
      isDoubtful: judged.some(({ from, isLoaded }) => !isLoaded && from !== undefined && from.tail > 0),
      warnings: anotherSelection(judged, previous),
      notes: sinceWhen(judged),
    }
  }
  const isBegun = judged.some(({ from, isLoaded }) => !isLoaded && (from !== undefined || previous.isDoubtful))
  if (isBegun) sameOptions(previous, planning.options)
  return {
    run: previous.run,
    began: previous.began,
    inputs: judged,
    before: previous,
    isDone: wasFinished,
    deadLetters: previous.deadLetters,
    isDoubtful: previous.isDoubtful,
    warnings: previous.inputs
      .filter(({ name, status }) => status !== 'finished' && !sources.some(source => source.name === name))
      .map(
        ({ name, read }) => `${name} is no longer among the inputs: Sluice loaded ${read} of its documents, not all`,
      ),
    notes: sinceWhen(judged),
  }
}

/** The new run loads the input again, also the part that an earlier run loaded. */
function beginAnew(input: PlannedInput): PlannedInput {
  const { from, source, token, place, isLoaded } = input
  // Its numbers are none of the table's own: they count the rows of a run.
  if (source.cursor !== undefined)
    return { source, token, isLoaded, read: 0, ...(place === undefined ? {} : { place }) }
  if (from === undefined) return { ...input, read: 0 }
  return { ...input, read: 0, start: { document: from.document, wasRead: from.tail > 0 } }
}

async function judge(
  source: Source,
  known: CheckpointInput | undefined,
  { isLookedAt, newToken }: Planning,
  run: string,
): Promise<PlannedInput> {
  const look = isLookedAt ? await source.file?.look() : undefined
  const identity = look === undefined ? {} : { file: identityOf(look) }
  const fresh = () => ({ source, token: newToken(source, look), isLoaded: false, read: 0, ...identity })
  if (known?.file === undefined || look === undefined || source.file === undefined) return fresh()
  const { mark, token, read, status, start, copy } = known
  if (copy !== source.copy?.id) return fresh()
  // Nothing of the input was sent, so its present content counts.
  if (status === 'waiting') return { ...fresh(), token }
  const isSame = await holdsStill(known.file, source.file)
  // If only a last line without a line end follows the mark, all of the input was read.
  const wasRead = status === 'finished' || (status === 'begun' && mark.tail > 0)
  const from = mark.line > 1 || mark.document > 1 || mark.tail > 0 ? { from: mark } : {}
  if (isSame) {
    const isLoaded = wasRead && (source.copy?.grows === false || look.size === known.file.size)
    const begun = start === undefined ? {} : { start }
    return { source, token, ...from, ...begun, isLoaded, read, file: { ...known.file, inode: look.inode } }
  }
  if (status === 'finished') return fresh()
  const isShorter = look.size < known.file.tail.end
  const observed = isShorter ? `it has only ${look.size} bytes now` : 'the part that Sluice read has changed'
  const documents = mark.document - 1
  throw fail('INPUT_CHANGED', { input: source.name, run, documents, observed, offset: mark.offset })
}

/**
 * A mark is good for what it was made with, and half a run in one way and half in another is nobody's wish.
 * Throws SluiceError RUN_OPTIONS_CHANGED.
 */
export function sameOptions({ options: was, run }: Checkpoint, now: Checkpoint['options']): void {
  const changed = [...new Set([...Object.keys(was), ...Object.keys(now)])].filter(name => was[name] !== now[name])
  if (changed.length === 0) return
  const differences = changed.map(name => `${name} was ${was[name] ?? 'not set'} and is ${now[name] ?? 'not set'}`)
  throw fail('RUN_OPTIONS_CHANGED', { run, differences })
}
