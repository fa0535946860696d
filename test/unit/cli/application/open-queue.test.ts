import { expect, test } from 'vitest'
import { limitsOf } from '../../../../src/cli/application/open-queue.js'

test('a worker keeps to the limits of its options, and names those that are missing', () => {
  const [onlyInputs, onlyIndex] = [['s3://bucket/logs/*'], ['logs-*']]
  expect(limitsOf({})).toEqual({ missing: ['--only-inputs', '--only-index', '--letters-folder'] })
  const limited = { inputs: onlyInputs, indices: onlyIndex }
  expect(limitsOf({ onlyInputs, onlyIndex })).toEqual({ ...limited, missing: ['--letters-folder'] })
  const letters = '/own'
  expect(limitsOf({ onlyInputs, onlyIndex, lettersFolder: letters })).toEqual({ ...limited, letters, missing: [] })
})
