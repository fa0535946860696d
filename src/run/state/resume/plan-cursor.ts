/** Plans the work on a table. Unlike a file, a table is never loaded for good: the next run reads its changes. */
import type { Cursor, Source } from '../../../base/flow.js'
import type { Checkpoint, CheckpointInput } from '../checkpoint/checkpoint.js'
import { type PlannedInput, type Planning, optionsChanged } from './plan.js'
import { SluiceError } from '../../../base/failure/failure.js'

/** Throws SluiceError RUN_OPTIONS_CHANGED if the run began with another selection. */
export async function planCursor(
  source: Source,
  cursor: Cursor,
  previous: Checkpoint | undefined,
  { newToken, options, readsWhole = false }: Pick<Planning, 'newToken' | 'options' | 'readsWhole'>,
): Promise<PlannedInput> {
  const known = nameIn(previous, source.name)
  const fresh = async () => ({ source, token: await newToken(source), isLoaded: false, read: 0 })
  if (previous === undefined || known === undefined) return await fresh()
  const { token, mark, read, status, place } = known
  // Nothing was settled, so the table is read from its start.
  if (place === undefined) return { ...(await fresh()), token, known, by: previous }
  const differences = differencesOf(known, cursor)
  const isOver = previous.left === 0
  if (isOver && (differences.length > 0 || isSentOtherwise(previous.options, options))) return await fresh()
  if (differences.length > 0) throw new SluiceError(optionsChanged(previous.run, differences))
  const reached = { source, token, read, known, by: previous, ...(mark.document > 1 ? { from: mark } : {}) }
  if (status !== 'finished') return { ...reached, place, isLoaded: false }
  return readsWhole
    ? { ...reached, place, isLoaded: true }
    : { ...reached, place: cursor.after(place), isLoaded: false }
}

/** Tables of which all is read again: another part of them was asked for, or to send it otherwise, or because `--again` asks for it. */
export function anotherSelection(
  inputs: readonly PlannedInput[],
  previous: Checkpoint | undefined,
  options: Planning['options'],
): string[] {
  return inputs.flatMap(({ source: { name, cursor }, place }) => {
    if (cursor === undefined || place !== undefined) return []
    const known = nameIn(previous, name)
    if (known?.place === undefined) return []
    const differences = differencesOf(known, cursor)
    const otherwise = isSentOtherwise(previous?.options ?? options, options)
      ? 'the options for sending it have changed'
      : '--again asks for it'
    const why = differences.length > 0 ? differences.join(', ') : otherwise
    return [`Sluice reads all of ${name} again: ${why}. The documents of run ${previous?.run} stay in the index`]
  })
}

/** Returns notes on tables of which only changes are read. */
export function sinceWhen(inputs: readonly PlannedInput[]): string[] {
  return inputs.flatMap(({ source: { name, cursor }, place, isLoaded }) => {
    const since = place === undefined || isLoaded ? undefined : cursor?.since?.(place)
    return since === undefined
      ? []
      : [`Sluice reads the rows of ${name} that changed since ${since}. To read all rows, pass --again`]
  })
}

function nameIn(run: Checkpoint | undefined, name: string): CheckpointInput | undefined {
  return [...(run?.inputs ?? [])].find(input => input.name === name)
}

function differencesOf({ selection: was = {}, name }: CheckpointInput, { selection: now }: Cursor): string[] {
  const changed = [...new Set([...Object.keys(was), ...Object.keys(now)])].filter(part => was[part] !== now[part])
  return changed.map(part => `${part} of ${name} was ${was[part] ?? 'not set'} but is now ${now[part] ?? 'not set'}`)
}

/** Returns whether unchanged rows would now be stored differently. Another operation does not change them. */
function isSentOtherwise(was: Checkpoint['options'], now: Checkpoint['options']): boolean {
  const names = new Set([...Object.keys(was), ...Object.keys(now)])
  return [...names].some(name => name !== 'op' && was[name] !== now[name])
}
