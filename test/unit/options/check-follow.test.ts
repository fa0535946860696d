import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { SluiceError } from '../../../src/index.js'
import type { IngestOptions } from '../../../src/options/ingest-options.js'
import { readOptions } from '../../../src/options/read-options.js'

const given: IngestOptions = {
  source: 'logs/*.ndjson',
  target: { url: 'https://cluster.example' },
  index: 'logs',
  stateDir: 'state',
  follow: true,
}

function problemOf(more: Partial<IngestOptions>): string {
  try {
    readOptions({ ...given, ...more })
  } catch (error) {
    if (error instanceof SluiceError) return error.message
    throw error
  }
  return 'none'
}

test('files are followed, and looked at every second', () => {
  expect(readOptions(given).follow).toEqual({ pollMs: 1000 })
  expect(readOptions({ ...given, source: { files: ['a'] }, pollMs: 5 }).follow).toEqual({ pollMs: 5 })
  expect(readOptions({ ...given, follow: false, pollMs: 5 }).follow).toBeUndefined()
})

test.each<[Partial<IngestOptions>, string]>([
  [{ dryRun: true }, 'cannot be combined with dryRun'],
  [{ again: true }, 'cannot be combined with again'],
  [{ runId: 'nightly' }, 'cannot be combined with runId'],
  [{ index: undefined, swapAlias: 'logs' }, 'cannot be combined with swapAlias'],
  [{ tune: true }, 'cannot be combined with tune'],
  [{ spool: true }, 'cannot be combined with spool'],
  [{ timeBudgetMs: 1000 }, 'cannot be combined with timeBudgetMs'],
  [{ byteBudget: 1_000_000 }, 'cannot be combined with byteBudget'],
  [{ pick: 'hits' }, 'cannot be combined with pick'],
  [{ format: 'csv' }, 'but the format is csv'],
  [{ stateDir: undefined }, 'needs stateDir'],
  [{ source: '-' }, 'cannot follow stdin'],
  [{ source: 'https://host.example/a.ndjson' }, 'cannot follow an input on a server'],
  [{ source: Readable.from([]) }, 'needs files'],
])('%o is refused', (more, problem) => {
  expect(problemOf(more)).toContain(problem)
})
