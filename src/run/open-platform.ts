import { failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'
import type { OpenPlatform } from './find-inputs.js'

/** Tables cannot be read yet. */
export const openPlatform: OpenPlatform = async tables => {
  const problem = `${tables.join(', ')} cannot be read yet`
  return await Promise.reject(new SluiceError(failure('OPTION_INVALID', { option: 'source', problem })))
}
