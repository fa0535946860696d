/** Failures that no cause stands for here, and why. */
import type { FailureCode } from '../../src/failure/catalogue.js'

const administration =
  'Found by the administration of IP filter policies, which asks the hosting service and not the way.'

export const notPlanted: Partial<Readonly<Record<FailureCode, string>>> = {
  FILTER_NOT_ATTACHED: administration,
  FILTER_MISSES_ADDRESS: administration,
  FILTER_TOO_PERMISSIVE: administration,
  FILTER_API_KEY_REJECTED: administration,
  FILTER_API_REFUSED: administration,
  FILTER_API_UNAVAILABLE: administration,
  FILTER_POLICY_UNKNOWN: administration,
  FILTER_CHANGED_MEANWHILE: administration,
  FILTER_UNCONFIRMED: administration,
  REGION_MISMATCH:
    'Read from host names that lead to the services themselves; `test/unit/doctor-regions.test.ts` has them all.',
  INPUT_UNENDED: 'Told of one input of a run that ends interrupted: `test/lab/spool.test.ts`.',
  NOT_DEAD_LETTERS: 'Told by `sluice replay`: `test/lab/replay.test.ts`.',
  UNDO_BEHIND_ALIAS: 'Told by `sluice undo`: `test/lab/undo.test.ts`.',
  INTERNAL: 'A bug that is known would be mended.',
}
