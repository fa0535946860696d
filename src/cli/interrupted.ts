import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'

/** What ends a command that loads nothing and was interrupted. `left`: what became of what it was doing. */
export function interrupted({ reason }: AbortSignal, left: string): SluiceError {
  return fail('COMMAND_INTERRUPTED', { reason: String(reason), left })
}
