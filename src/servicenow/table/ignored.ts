import { fail } from '../../failure/fail.js'
import { SluiceError } from '../../failure/sluice-error.js'

/** Of what is asked for, a part that the platform would leave out without a word. */
export function ignored(instance: string, table: string, part: string, problem: string): SluiceError {
  return fail('SERVICENOW_QUERY_IGNORED', { instance, table, part, problem })
}
