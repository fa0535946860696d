import { expect, test } from 'vitest'
import { rowsFrom, stateIn, tellJob } from '../../../../../src/programs/jobs/queue/job-state.js'
import { noSeal, sealWith } from '../../../../../src/programs/jobs/queue/seal.js'
import { whyUntrusted } from '../../../../../src/programs/jobs/queue/trust-job.js'
import type { JobData, RangeData, RangeReceipt } from '../../../../../src/programs/jobs/job.js'
import { asError, asReceipt, endOfRange, isForged } from '../../../../../src/programs/jobs/range/range-end.js'
import { nothing } from '../../../../../src/pipeline/ledger/account.js'
import { failure } from '../../../../../src/base/failure/failure.js'
import { JobLog } from '../../../../support/load/job-log.js'

const seal = sealWith('a-key-of-this-test-0123456789-abc')
const other = sealWith('another-key-of-this-test-01234567')
const entry = { b: 1, a: ['x', { d: null, c: 'y' }], 10: 'ten' }

test('a signature fits one entry of one kind in one place, in any order of its fields', () => {
  const signed = seal.sign('job', ['logs'], entry)
  expect(seal.fits('job', ['logs'], signed)).toBe(true)
  const turned = Object.fromEntries(Object.entries(signed).toReversed())
  expect(seal.fits('job', ['logs'], JSON.parse(JSON.stringify({ ...turned, gone: undefined })))).toBe(true)
  expect(seal.fits('job', ['other'], signed)).toBe(false)
  expect(seal.fits('job', ['lo', 'gs'], signed)).toBe(false)
  expect(seal.fits('end', ['logs'], signed)).toBe(false)
  expect(seal.fits('job', ['logs'], { ...signed, b: 2 })).toBe(false)
  expect(seal.fits('job', ['logs'], { ...signed, more: 1 })).toBe(false)
  expect(seal.fits('job', ['logs'], { ...signed, a: ['x', { c: 'y' }] })).toBe(false)
  expect(other.fits('job', ['logs'], signed)).toBe(false)
  expect(JSON.stringify(signed)).not.toContain('a-key-of')
})

test('an entry that is signed again has one signature', () => {
  expect(seal.sign('job', ['logs'], seal.sign('job', ['logs'], entry))).toEqual(seal.sign('job', ['logs'], entry))
})

test.each([[undefined], [null], ['text'], [[]], [{}], [{ mac: 1 }], [{ mac: '' }], [{ ...entry, mac: 'AAAA' }]])(
  'nothing without a signature fits: %j',
  value => {
    expect(seal.fits('job', ['logs'], value)).toBe(false)
    expect(noSeal.fits('job', ['logs'], value)).toBe(true)
  },
)

test('an entry that is nested too deeply does not fit', () => {
  let deep: unknown = 1
  for (let level = 0; level < 100_000; level += 1) deep = [deep]
  expect(seal.fits('job', ['logs'], { deep, mac: 'AAAA' })).toBe(false)
})

const data: JobData = {
  version: 1,
  sources: ['/in/*'],
  settings: { index: 'logs' },
  url: 'http://cluster',
  index: 'logs',
  concurrency: 8,
  rangeBytes: 100,
  deadLetters: '/nowhere/letters',
  host: 'here',
  made: '2026-01-01T00:00:00.000Z',
}

test('a job is trusted only by processes with its key, and one without a key leaves signed jobs', () => {
  const signed = { id: 'logs', data: seal.sign('job', ['logs'], data) }
  expect(whyUntrusted(signed, seal)).toBeUndefined()
  expect(whyUntrusted({ id: 'logs', data }, noSeal)).toBeUndefined()
  expect(whyUntrusted({ id: 'logs', data }, seal)?.message).toContain('it is not signed')
  expect(whyUntrusted(signed, other)?.code).toBe('JOB_SIGNATURE_WRONG')
  expect(whyUntrusted({ ...signed, id: 'nightly' }, seal)?.code).toBe('JOB_SIGNATURE_WRONG')
  expect(whyUntrusted(signed, noSeal)?.message).toContain('this process has no key')
})

test.each<[string, unknown]>([
  ['sources', ['-']],
  ['sources', ['servicenow:incident']],
  ['sources', ['elasticsearch:orders,secret']],
  ['from', 5],
  ['sources', ['file:///etc/passwd']],
  ['sources', ['/in/{a,../../../etc/passwd}']],
  ['sources', ['https://user:password@host/a.ndjson']],
  ['sources', []],
  ['concurrency', 1e9],
  ['rangeBytes', -1],
  ['made', 'yesterday'],
  ['alarm', 'now'],
  ['planned', { objects: 1 }],
  ['deadLetters', 'relative'],
  ['settings', null],
])('a job with %s %j is no job', (field, value) => {
  const why = whyUntrusted({ id: 'logs', data: { ...data, [field]: value } }, noSeal)
  expect(why).toMatchObject({ code: 'JOB_MALFORMED', evidence: { problem: expect.stringContaining(field) as string } })
})

test('a job whose options name another index than the one that limits see is no job', () => {
  for (const settings of [{ index: '.security' }, { index: 'logs', swapAlias: '.security' }])
    expect(whyUntrusted({ id: 'logs', data: { ...data, settings } }, noSeal)?.code).toBe('JOB_MALFORMED')
})

test('a job names a cluster to read if its inputs are indices, and only then', () => {
  const sources = ['elasticsearch:orders']
  const from = 'https://old.example:9200'
  expect(whyUntrusted({ id: 'logs', data: { ...data, sources, from } }, noSeal)).toBeUndefined()
  for (const other of [{ sources }, { from }, { sources: [...sources, '/in/a.ndjson'], from }])
    expect(whyUntrusted({ id: 'logs', data: { ...data, ...other } }, noSeal)?.code).toBe('JOB_MALFORMED')
})

test.each(['../logs', 'logs:1', '', 'x'.repeat(200), '\u001B[2J'])('%j is no name of a job', id => {
  const why = whyUntrusted({ id, data }, noSeal)
  expect(why?.code).toBe('JOB_MALFORMED')
  expect(why?.message).not.toContain('\u001B')
})

const of = { job: 'logs', seal }
const id = 'A'.repeat(22)
const inputs = [{ name: '/in/a', identity: 'file 1 1 a' }]
const range: RangeData = seal.sign('range', ['logs', id], { inputs, source: 0, index: 'logs' })
const receipt: RangeReceipt = {
  counts: { ...nothing, read: 5, created: 5 },
  rejections: [],
  bytes: { read: 50, sent: 60, received: 20 },
  requests: 1,
  retries: 0,
  elapsedMs: 3,
  host: 'here',
}

test('a receipt counts only for the range that a worker with the key loaded', () => {
  const returnvalue = asReceipt({ id, data: range }, of, receipt)
  const loaded = { id, data: range, returnvalue } as never
  expect(endOfRange(loaded, of)).toEqual(returnvalue)
  expect(isForged(loaded, of)).toBe(false)
  const another = seal.sign('range', ['logs', id], { inputs, source: 0, index: 'logs-2' })
  const elsewhere = asReceipt({ id: 'B'.repeat(22), data: range }, of, receipt)
  const changed = { ...returnvalue, counts: { ...returnvalue.counts, created: 6 } }
  for (const forged of [
    { id, data: range, returnvalue: receipt },
    { id, data: range, returnvalue: elsewhere },
    { id, data: range, returnvalue: changed },
    { id, data: another, returnvalue },
    { id, data: { ...range, index: 'other' }, returnvalue },
    { id, data: null, returnvalue },
    { id: '../x', data: range, returnvalue },
  ]) {
    expect(endOfRange(forged as never, of).failure?.code).toBe('JOB_RANGE_LOST')
    expect(endOfRange(forged as never, of).counts.read).toBe(0)
    expect(isForged(forged as never, of)).toBe(true)
  }
})

test('a range that failed keeps its receipt, and what BullMQ itself says of it counts as a failure', () => {
  const why = failure('INPUT_NOT_FOUND', { input: '/in/a' })
  const failedReason = asError({ id, data: range }, of, { ...receipt, failure: why })
  const failed = { id, data: range, returnvalue: null, failedReason } as never
  expect(endOfRange(failed, of)).toMatchObject({ counts: { read: 5 }, failure: { code: 'INPUT_NOT_FOUND' } })
  const stalled = { id, data: range, returnvalue: null, failedReason: 'job stalled\u001B[2J' } as never
  expect(endOfRange(stalled, of).failure?.message).toContain('job stalled\\u001b[2J')
  expect([isForged(failed, of), isForged(stalled, of)]).toEqual([false, false])
})

test('rows and states that nobody signed are not heard, and rows keep their numbers', async () => {
  const log = new JobLog()
  const ours = { control: log.asQueue, job: 'logs', made: data.made, seal }
  await tellJob(ours, { type: 'busy', worker: 'one' })
  log.rows.push(
    '{"type":"cancel"}',
    '{"type":',
    '7',
    JSON.stringify(other.sign('row', ['logs', data.made], { type: 'cancel' })),
  )
  // A row of the same job, before it was opened again.
  await tellJob({ ...ours, made: '2025-01-01T00:00:00.000Z' }, { type: 'cancel' })
  await tellJob(ours, { type: 'unblocked', worker: 'one' })
  const rows = []
  for await (const page of rowsFrom(ours, 0)) rows.push(...page)
  expect(rows.map(({ type }) => type)).toEqual(['busy', 'unused', 'unused', 'unused', 'unused', 'unused', 'unblocked'])
  const stopping = failure('JOB_CANCELLED', { job: 'logs' })
  const signed = seal.sign('state', ['logs', data.made], { stopping, share: 2 })
  expect(stateIn({ id: 'logs', data, progress: signed }, seal)).toEqual({ stopping, share: 2 })
  expect(stateIn({ id: 'logs', data, progress: { stopping } }, seal)).toEqual({})
  expect(
    stateIn({ id: 'logs', data, progress: { share: -1, slowedTo: 'x', parked: {}, stopping: 1 } }, noSeal),
  ).toEqual({})
})
