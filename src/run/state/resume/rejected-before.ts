/** Finds earlier runs of a load that rejected documents: those that it reads again, and the others. */
import { type Checkpoint, runNameOf, nextLimitFrom } from '../checkpoint/checkpoint.js'
import type { Recognised } from '../inputs/recognised.js'
import type { Plan, PlannedInput, Planning } from './plan.js'

interface Planned {
  readonly recognised: readonly (Recognised | undefined)[]
  readonly judged: readonly PlannedInput[]
  readonly continues: Checkpoint | undefined
}

/**
 * An earlier run counts if it has read one of these inputs, under whatever name, or if it was the same command: its input may be renamed
 * or gone. A run is settled if each of its inputs is read again from its start. The run that continues counts if it had stopped.
 */
export function rejectedBefore(
  { rejecting = [], key, again }: Planning,
  { recognised, judged, continues }: Planned,
): Pick<Plan, 'unsettled' | 'settles'> {
  const settles = new Set(continues?.settles)
  const hasStopped = continues !== undefined && nextLimitFrom(continues) !== undefined
  const unsettled = rejecting.filter(run => run === continues && hasStopped)
  const others = rejecting.filter(run => run !== continues)
  const tokens = others.length === 0 ? new Map<string, boolean>() : readAgain(recognised, judged, again)
  for (const run of others) {
    // Replays of a file that was corrected since are other ones.
    let isMeant = run.key === key && run.kind === undefined
    let isAnew = true
    for (const { token, read } of run.inputs) {
      if (read === 0) continue
      const isAgain = tokens.get(token)
      isMeant ||= isAgain !== undefined
      isAnew &&= isAgain === true
    }
    if (isMeant && isAnew) settles.add(runNameOf(run))
    if (isMeant && !settles.has(runNameOf(run))) unsettled.push(run)
  }
  return { unsettled, settles: [...settles] }
}

/** Returns the tokens of all known inputs, and whether each is read again from its start. */
function readAgain(
  recognised: Planned['recognised'],
  judged: Planned['judged'],
  again: boolean,
): ReadonlyMap<string, boolean> {
  const tokens = new Map<string, boolean>()
  for (const [at, { isLoaded, from, place, refused, known, source, token }] of judged.entries()) {
    const one = recognised[at]
    const isAnew = !isLoaded && from === undefined && place === undefined && refused === undefined
    if (one?.kind === 'known') tokens.set(one.known.input.token, isAnew)
    else if (source.cursor !== undefined) tokens.set(known?.token ?? token, isAnew && again)
  }
  return tokens
}
