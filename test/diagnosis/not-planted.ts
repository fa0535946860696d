/** Failures that no cause stands for here, and why. */
import type { FailureCode } from '../../src/failure/catalogue.js'

export const notPlanted: Partial<Readonly<Record<FailureCode, string>>> = {
  REGION_MISMATCH:
    'Read from host names that lead to the services themselves; `test/unit/doctor-regions.test.ts` has them all.',
  INPUT_UNENDED: 'Told of one input of a run that ends interrupted: `test/lab/spool.test.ts`.',
  INTERNAL: 'A bug that is known would be mended.',
}
