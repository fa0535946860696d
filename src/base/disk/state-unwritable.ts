import { fail, type SluiceError } from '../failure/failure.js'
import { diskProblem } from './safe-files.js'

/** Makes the failure for any file of the state folder. */
export function stateUnwritable(path: string, error: unknown): SluiceError {
  return fail('STATE_UNWRITABLE', { path, problem: diskProblem(error) }, { cause: error })
}
