import { SluiceError } from '../../base/failure/failure.js'
import type { Plan } from '../../run/state/resume/plan.js'

/** Reads a file that was written anew after a kill as a new input. Throws SluiceError: any other reason not to load an input. */
export function planRound(plan: Plan, warn: (message: string) => void): Plan {
  const inputs = plan.inputs.map(input => {
    const { refused } = input
    if (refused === undefined) return input
    if (refused.code !== 'INPUT_CHANGED') throw new SluiceError(refused)
    warn(`${refused.message}. Sluice reads it from its start, as a new input`)
    const { refused: _, ...loaded } = input
    return loaded
  })
  return { ...plan, inputs }
}
