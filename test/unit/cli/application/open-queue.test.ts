import { expect, test } from 'vitest'
import { limitsOf, ownLimits } from '../../../../src/cli/application/open-queue.js'

test('a worker keeps to the limits of its options, and names those that are missing', () => {
  const [onlyInputs, onlyIndex] = [['s3://bucket/logs/*'], ['logs-*']]
  expect(limitsOf({})).toEqual({ missing: ['--only-inputs', '--only-index', '--letters-folder'] })
  const limited = { inputs: onlyInputs, indices: onlyIndex }
  expect(limitsOf({ onlyInputs, onlyIndex })).toEqual({ ...limited, missing: ['--letters-folder'] })
  const letters = '/own'
  expect(limitsOf({ onlyInputs, onlyIndex, lettersFolder: letters })).toEqual({ ...limited, letters, missing: [] })
})

test('a worker reads the other cluster of its own options, and a command the one that it names', () => {
  expect(limitsOf({ from: 'https://me:secret@old.example:9200/' })).toMatchObject({ from: 'https://old.example:9200' })
  const from = 'https://old.example:9200'
  const inputs = ['elasticsearch:logs-*', 'elasticsearch:a@b']
  expect(ownLimits('job', { sources: inputs, from })).toEqual({ job: 'job', inputs, from })
})

test.each([
  ['/data/in/a.ndjson', '/data/in/a.ndjson'],
  ['/data/in/*.ndjson', '/data/in/*'],
  ['/data/{a,b}/c', '/data/*'],
  ['s3://bucket/logs/2026-*/x', 's3://bucket/logs/2026-*'],
])('a command that loads %s loads nothing but %s, whatever others add to its job', (source, pattern) => {
  expect(ownLimits('job', { sources: [source] })).toEqual({ job: 'job', inputs: [pattern] })
})
