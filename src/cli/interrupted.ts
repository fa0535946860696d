import { failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'

/** What ends a command that loads nothing and was interrupted. `left`: what became of what it was doing. */
export function interrupted({ reason }: AbortSignal, left: string): SluiceError {
  const known = failure('RUN_INTERRUPTED', { reason: String(reason), settled: 0 })
  return new SluiceError({ ...known, message: `interrupted (${String(reason)}): ${left}` })
}
