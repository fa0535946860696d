import { expect, test } from 'vitest'
import type { Effective } from '../../../../../src/cli/settings/resolve.js'
import { problemInSettings, queuedJob, withJob } from '../../../../../src/programs/jobs/plan/queued-options.js'
import type { JobData } from '../../../../../src/programs/jobs/job.js'

const own = { values: { concurrency: 4, url: 'http://cluster' }, origins: {} } as unknown as Effective

function taken(settings: JobData['settings']): Readonly<Record<string, unknown>> {
  const { values } = withJob(own, { settings })
  return values
}

test('a worker takes the options of a job, and keeps its own access', () => {
  const settings = { index: 'logs', op: 'index', mapping: '{"properties":{}}', follow: false, concurrency: 2 }
  expect(taken(settings)).toMatchObject({ ...settings, url: 'http://cluster' })
})

test.each([
  ['transform', '/shared/run-me.mjs', 'its code is on this machine only'],
  ['follow', true, 'a job ends'],
  ['spool', true, 'cannot have'],
  ['filesFrom', '/etc/passwd', 'the list is on this machine only'],
  ['url', 'http://elsewhere', 'cannot have'],
  ['proxy', 'http://elsewhere:1', 'cannot have'],
  ['apiKeyFile', '/etc/key', 'cannot have'],
  ['direct', true, 'cannot have'],
  ['stateDir', '/etc', 'cannot have'],
  ['report', '/etc/report.html', 'cannot have'],
  ['mapping', '/etc/passwd', 'cannot name files of a worker'],
  ['template', '/etc/passwd', 'cannot name files of a worker'],
  ['indexBody', ['/etc/passwd'], 'cannot name files of a worker'],
  ['checkQuery', '/etc/passwd', 'cannot name files of a worker'],
  ['__proto__x', 1, 'cannot have'],
  ['constructor', 1, 'cannot have'],
])('a worker refuses a job whose options hold %s', (name, value, why) => {
  expect(() => taken({ index: 'logs', [name]: value })).toThrowError(
    expect.objectContaining({
      failure: expect.objectContaining({
        code: 'OPTION_INVALID',
        evidence: { option: `${name} of the job`, problem: expect.stringContaining(why) as string },
      }) as unknown,
    }),
  )
})

test.each([
  ['batchDocs', 'many'],
  ['batchDocs', -1],
  ['op', 'drop-everything'],
  ['maxRate', { bytes: 'x' }],
  ['set', 'a=b'],
  ['script', { source: 'x' }],
  ['mapping', '{"properties":'],
  ['op', `\u001B[2J${'x'.repeat(1000)}`],
])('a worker refuses a job whose option %s has a value that its sender would have refused', (name, value) => {
  expect(() => taken({ [name]: value })).toThrowError(new RegExp(`${name} of the job`))
  const problem = problemInSettings({ [name]: value })
  expect(problem).toContain('OPTION_INVALID')
  expect(problem?.length).toBeLessThan(400)
  expect(problem).not.toContain('\u001B')
})

test('a name from the queue is shown escaped and short', () => {
  expect(() => taken({ [`\u001B[2J${'x'.repeat(1000)}`]: 1 })).toThrowError(/\\u001b\[2Jx{36} of the job/)
})

const moving = (more: object = {}) => ({
  values: { index: 'orders', url: 'http://new', from: 'https://me:hush-hush@old:9200/', concurrency: 4, ...more },
  origins: { from: '--from', set: '--set' },
})
const queued = (given: object, ...sources: readonly string[]) => queuedJob(given as never, sources, '/work')

test('a job names the cluster that it reads, without credentials', () => {
  const { name, data } = queued(
    moving({ fromApiKey: 'hush-hush', fromProxy: 'http://hush-hush@proxy' }),
    'elasticsearch:orders',
  )
  expect(data).toMatchObject({ from: 'https://old:9200', sources: ['elasticsearch:orders'], url: 'http://new' })
  expect(JSON.stringify(data)).not.toContain('hush')
  expect(queued(moving({ from: 'https://other:9200' }), 'elasticsearch:orders').name).not.toBe(name)
  expect(queued(moving({ from: 'https://old:9200' }), 'elasticsearch:orders').name).toBe(name)
  expect(queued(moving({ fromQuery: '{}' }), 'elasticsearch:orders').name).not.toBe(name)
})

test('a job of another cluster is refused if its inputs or options do not fit', () => {
  expect(() => queued(moving({ from: undefined }), 'elasticsearch:orders')).toThrow('--from')
  expect(() => queued(moving(), '/in/a.ndjson')).toThrow('needs an index as input')
  expect(() => queued(moving(), 'elasticsearch:orders', '/in/a.ndjson')).toThrow('Use two commands')
  expect(() => queued(moving({ set: { at: 'row {line}' } }), 'elasticsearch:orders')).toThrow('{line}')
  expect(() => queued(moving({ set: { at: '{now}' } }), 'elasticsearch:orders')).not.toThrow()
})

test('a worker reads another cluster with its own access, and only for jobs that name one', () => {
  const origin = { from: 'https://old:9200', fromApiKey: 'own' }
  const worker = { values: { ...origin, fromQuery: 'of its own' }, origins: {} } as unknown as Effective
  const settings = { fromQuery: '{"query":{}}', mapping: 'copy' }
  expect(withJob(worker, { settings, from: origin.from }).values).toMatchObject({ ...origin, ...settings })
  const { from, fromApiKey, fromQuery } = withJob(worker, { settings: {} }).values
  expect({ from, fromApiKey, fromQuery }).toEqual({ from: undefined, fromApiKey: undefined, fromQuery: undefined })
  for (const name of ['from', 'fromApiKey', 'fromProxy', 'fromCa'])
    expect(() => withJob(worker, { settings: { [name]: 'https://elsewhere' } })).toThrow('a job cannot have')
})
