import { type Failure, isSluiceError } from '../../../src/base/failure/failure.js'
import { type OptionSources, resolveOptions } from '../../../src/cli/settings/resolve.js'

/** The failure that options end in. */
export function failureOf(sources: OptionSources): Failure {
  try {
    resolveOptions(sources)
  } catch (error) {
    if (isSluiceError(error)) return error.failure
    throw error
  }
  throw new Error('the options were accepted')
}
