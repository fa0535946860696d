import { expect, test } from 'vitest'
import { readDoctorOptions } from '../../../src/route/examine/examine-options.js'
import { ingest, isSluiceError, replay, serve } from '../../../src/index.js'

const target = { url: 'http://127.0.0.1:9' }
const pattern = 'logs-{@timestamp:yyyy.MM.dd}'

async function problemOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (isSluiceError(error)) return `${error.code}: ${error.message}`
    throw error
  }
  return 'no problem'
}

test.each([
  ['swapAlias', { swapAlias: pattern }, 'is a pattern'],
  ['deletions', { index: pattern, source: 'servicenow:incident', deletions: 'reconcile' }, 'needs one index'],
  ['format', { index: pattern, format: 'elasticdump' }, 'contains a field'],
  ['maxIndices', { index: pattern, maxIndices: 0 }, 'maxIndices'],
  ['a date format', { index: 'logs-{a:YYYY}' }, 'date format'],
  ['a brace', { index: 'logs-{a' }, 'brace'],
] as const)('a load refuses a pattern with %s before it sends anything', async (_, more, problem) => {
  const servicenow = { url: 'https://dev.example', username: 'a', password: 'b' }
  const source = 'a.ndjson'
  expect(await problemOf(ingest({ source, servicenow, target, ...more }))).toContain(problem)
})

test('replay, serve and the write check take one index', async () => {
  const one = replay({ source: 'a.ndjson', target, index: pattern })
  expect(await problemOf(one)).toContain('each dead letter names its own index')
  const serving = serve({ target, index: pattern, stateDir: '/nowhere', token: 'x'.repeat(20) })
  expect(await problemOf(serving)).toContain('Only sluice ingest supports this')
  expect(() => readDoctorOptions({ target, index: pattern, writeCheck: true })).toThrow('the name of one index')
  expect(readDoctorOptions({ target, index: pattern }).index).toBe('logs-*')
})
