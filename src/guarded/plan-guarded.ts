/** A guarded load puts all of its inputs into one fresh index: what a run has left to do is judged by that. */
import type { AliasFacts } from '../cluster/alias.js'
import { readMark } from '../cluster/fresh-index.js'
import { fail } from '../failure/fail.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import type { Checkpoint } from '../state/checkpoint.js'
import { planRun } from '../state/plan-run.js'
import type { Plan, Planning } from '../state/plan.js'

interface GuardedPlanning extends Planning {
  /** The alias leads to the index of the last run: nothing is written to that any more. */
  readonly isSwitched: boolean
  /** A run that has a name cannot begin again with another index: the name is the index's. */
  readonly isNamed: boolean
}

/** Throws SluiceError: see `planRun`. */
export async function planGuarded(guarded: GuardedPlanning): Promise<Plan> {
  const { previous, isSwitched, isNamed } = guarded
  // A new index needs all documents, also those that an earlier run loaded.
  const planning = { ...guarded, readsWhole: true }
  if (previous === undefined) return await planRun(planning)
  const isOver = isSwitched || previous.status === 'finished'
  // A new run would fill another index, without what this one has loaded.
  const plan = await planRun({ ...planning, takesMore: !isOver }).catch((error: unknown) => {
    if (isSluiceError(error) && error.code === 'INPUT_CHANGED' && (isOver || !isNamed)) return undefined
    throw error
  })
  const gone = plan === undefined ? undefined : goneFrom(plan, previous)
  if (plan !== undefined && gone === undefined) {
    // A finished run cannot know of later changes to a table.
    if (!isOver || plan.inputs.every(({ isLoaded, source }) => isLoaded && source.cursor === undefined)) return plan
  }
  const anew = await planRun({ ...planning, previous: undefined })
  if (isOver) return anew
  if (isNamed) throw changed(previous, gone ?? '')
  const { run, target } = previous
  const warning = `the inputs changed after run ${run} was interrupted, so Sluice loads everything again and leaves ${target.index} as it is`
  return { ...anew, warnings: [warning] }
}

/** An input whose documents are in the index, and that is another one now, or none any more. */
function goneFrom({ inputs }: Plan, previous: Checkpoint): string | undefined {
  return previous.inputs.find(({ name, token, status }) => {
    return status !== 'waiting' && !inputs.some(input => input.source.name === name && input.token === token)
  })?.name
}

function changed({ run, inputs }: Checkpoint, input: string): SluiceError {
  const documents = (inputs.find(({ name }) => name === input)?.mark.document ?? 1) - 1
  const observed = 'it is no longer among the inputs, or has other content'
  return fail('INPUT_CHANGED', { input, run, documents, observed })
}

/** The index that a run of a guarded load fills. */
export function freshIndex(alias: string, run: string): string {
  return `${alias}-${run.toLowerCase()}`
}

/** Whether the alias leads to the index because a guarded load is through with it. */
export function leadsTo({ on }: AliasFacts, index: string | undefined): boolean {
  return on !== undefined && on.name === index && readMark(on.mappings)?.loading !== true
}
