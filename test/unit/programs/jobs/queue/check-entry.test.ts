import { expect, test } from 'vitest'
import { nothing } from '../../../../../src/pipeline/ledger/account.js'
import { isEnd } from '../../../../../src/programs/jobs/queue/check-entry.js'

const failure = { code: 'JOB_RANGE_LOST', message: 'm', evidence: {}, exit: 1, retry: 'no' }
const receipt = {
  ...nothing,
  run: 'job',
  status: 'finished',
  command: 'ingest',
  began: '2026-01-01T00:00:00+00:00',
  ended: '2026-01-01T00:00:01+00:00',
  exit: 0,
  target: { url: 'https://cluster.example', index: 'logs' },
  inputs: [{ name: '/a.ndjson', status: 'finished', read: 1 }],
  thisProcess: nothing,
  rejections: [{ status: 0, type: 'x', documents: 1, first: { input: '/a.ndjson', document: 1 } }],
  bytes: { read: 1, sent: 1, received: 1 },
  requests: 1,
  retries: 0,
  elapsedMs: 1.5,
  docsPerSecond: 1,
  route: { form: 'direct', connections: 1 },
  egress: { '192.0.2.1': 1 },
  cluster: { url: 'https://cluster.example' },
}

test('the end of a job is its receipt or a failure', () => {
  expect(isEnd({ receipt })).toBe(true)
  expect(isEnd({ receipt: { ...receipt, failure, alias: { name: 'a', to: 'b', switched: true } } })).toBe(true)
  expect(isEnd({ failure })).toBe(true)
})

test('a receipt without a part that commands show is none', () => {
  for (const name of Object.keys(receipt)) expect(isEnd({ receipt: { ...receipt, [name]: undefined } })).toBe(false)
  expect(isEnd({ receipt: nothing })).toBe(false)
})

test.each([
  { inputs: 5 },
  { inputs: [null] },
  { rejections: [{ status: 0, type: 'x', documents: 1, first: null }] },
  { route: null },
  { egress: { a: 'x' } },
  { alias: null },
  { indices: [null] },
  { notes: [5] },
  { job: { before: null } },
  { rehearsal: {} },
  { deletions: {} },
  { failure: { ...failure, code: 'NO_SUCH' } },
])('a receipt with a part of another form is none: %j', part => {
  expect(isEnd({ receipt: { ...receipt, ...part } })).toBe(false)
})
