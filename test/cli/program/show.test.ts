import { describe, expect, test } from 'vitest'
import { drawProgress } from '../../../src/cli/terminal/progress-bar.js'
import { bytes, count, showDuration } from '../../../src/cli/show/columns.js'
import { receiptJson, showReceipt } from '../../../src/cli/show/show-receipt.js'
import type { Terminal } from '../../../src/cli/terminal/terminal.js'
import { failure } from '../../../src/failure/failure.js'
import type { Counts, Receipt } from '../../../src/ledger/receipt.js'

const counts: Counts = {
  read: 1210,
  created: 1000,
  updated: 0,
  deleted: 0,
  noop: 0,
  duplicate: 5,
  rejected: 3,
  skipped: 1,
  unsent: 200,
  unknown: 1,
}
const receipt: Receipt = {
  ...counts,
  run: 'R1',
  status: 'failed',
  failure: failure('CLUSTER_UNAVAILABLE', { cluster: 'https://es.example', observed: 'status 503' }),
  inputs: [
    { name: 'a.ndjson', status: 'finished', read: 1000 },
    {
      name: 'b.ndjson.gz',
      status: 'failed',
      read: 210,
      failure: failure('INPUT_TRUNCATED', { input: 'b.ndjson.gz', encoding: 'gzip', bytes: 9000 }),
    },
  ],
  thisProcess: counts,
  rejections: [
    { status: 400, type: 'document_parsing_exception', field: 'price', documents: 2 },
    { status: 0, type: 'DOCUMENT_NOT_JSON', documents: 1 },
  ],
  bytes: { read: 123_456, sent: 5_000_000, received: 999 },
  requests: 12,
  retries: 2,
  elapsedMs: 61_500,
  docsPerSecond: 16,
  route: { form: 'tunnel', proxy: 'http://proxy.example:9293', connections: 20 },
  egress: { '203.0.113.7': 2, '203.0.113.8': 1 },
  cluster: { url: 'https://es.example', name: 'prod', version: '9.4.3' },
  deadLetters: 'dead.ndjson',
}

test('a receipt shows every count that is not zero, the equation, the reasons and the way', () => {
  expect(showReceipt(receipt)).toBe(`Run R1 stopped after 1 min 2 s: CLUSTER_UNAVAILABLE

  read       1,210
  created    1,000
  duplicate      5  stored by an earlier request
  rejected       3  in the dead letters
  skipped        1  blank lines, or excluded by a rule
  unsent       200  not stored
  unknown        1  sent, but no answer says whether they were stored

  1,210 read = 1,000 created + 5 duplicate + 3 rejected + 1 skipped + 200 unsent + 1 unknown, it balances

Rejected

  2  document_parsing_exception  status 400, field price
  1  DOCUMENT_NOT_JSON           before sending

  inputs        2 inputs
                b.ndjson.gz: b.ndjson.gz is truncated: its gzip data end after 9,000 decoded bytes, and Sluice loaded every complete document
  speed         16 documents/s
  bytes         123.5 kB read, 5.0 MB sent, 999 B received
  requests      12, 2 sent again
  route         tunnel through http://proxy.example:9293, 20 connections
  egress        203.0.113.7 (2x), 203.0.113.8 (1x)
  cluster       https://es.example (prod, 9.4.3)
  dead letters  dead.ndjson
`)
})

test('a receipt shows what became of documents whose rows were deleted', () => {
  const shown = (deletions: NonNullable<Receipt['deletions']>) =>
    /deletions +(.*)/.exec(showReceipt({ ...receipt, deletions }))?.[1]
  const kept = { there: 0, changed: 0, other: 0 }
  expect(shown({ mode: 'reconcile', compared: 250_000, deleted: 1, kept })).toBe(
    '1 document deleted, 250,000 documents compared',
  )
  expect(shown({ mode: 'audit', compared: 12, deleted: 7, kept: { there: 2, changed: 1, other: 0 } })).toBe(
    '7 documents deleted, 12 deletions compared, kept: 2 there again, 1 written meanwhile',
  )
  expect(shown({ mode: 'reconcile', compared: 0, deleted: 0, kept, skipped: 'not yet' })).toBe(
    'Sluice compared nothing: not yet',
  )
})

test('a receipt of inputs that were loaded before says that nothing was loaded, and how it would be', () => {
  const { failure: _, ...rest } = receipt
  const inputs = ['a.ndjson', 'b.ndjson'].map(
    name => ({ name, status: 'finished', read: 605, alreadyLoaded: true }) as const,
  )
  const done: Receipt = { ...rest, status: 'finished', inputs }
  expect(showReceipt(done)).toMatch(
    /^Run R1: nothing was loaded\n\n {2}All 2 inputs were already loaded and have not changed\. .*\n {2}Use --again to load them again\./,
  )
  const [first, second] = inputs
  if (first === undefined || second === undefined) throw new Error('no inputs')
  const part = showReceipt({ ...done, inputs: [first, { name: 'b.ndjson', status: 'finished', read: 605 }] })
  expect(part).toMatch(/^Run R1 finished after/)
  expect(part).toContain('a.ndjson, already loaded')
  expect(part).not.toContain('--again')
})

test('a receipt that does not balance says so', () => {
  expect(showReceipt({ ...receipt, read: 1211 })).toContain('DOES NOT BALANCE')
})

test('the JSON receipt holds the exit code and the fixes of its failure', () => {
  const json = receiptJson(receipt)
  expect(json.endsWith('}\n')).toBe(true)
  expect(JSON.parse(json)).toMatchObject({
    run: 'R1',
    read: 1210,
    failure: { code: 'CLUSTER_UNAVAILABLE', exit: 4, retry: 'later', fixes: [expect.any(String)] },
  })
})

describe('quantities', () => {
  test.each([
    [count(1_234_567), '1,234,567'],
    [bytes(999), '999 B'],
    [bytes(999_949), '999.9 kB'],
    [bytes(999_951), '1.0 MB'],
    [bytes(2_500_000_000), '2.5 GB'],
    [showDuration(999), '999 ms'],
    [showDuration(59_949), '59.9 s'],
    [showDuration(3_725_000), '1 h 2 min'],
  ])('%s', (shown, expected) => {
    expect(shown).toBe(expected)
  })
})

test('the progress bar is one line, no wider than the terminal, and gone in the end', () => {
  const written: string[] = []
  const terminal = { stderr: { isTTY: true, columns: 40 }, err: (text: string) => void written.push(text) }
  const bar = drawProgress(terminal as unknown as Terminal)
  bar.update({ counts, bytesRead: 123_456, retries: 2, elapsedMs: 1000 })
  bar.update({ counts, bytesRead: 123_456, retries: 2, elapsedMs: 1050 })
  bar.note('warn', 'something')
  bar[Symbol.dispose]()
  const clear = '\r\u001B[K'
  const line = '1,005 documents · 1,005/s · 123.5 kB · 1'
  expect(written).toEqual([
    `${clear}${line.slice(0, 39)}`,
    clear,
    'warning: something\n',
    `${clear}${'1,005 documents · 957/s · 123.5 kB · 1.1 s'.slice(0, 39)}`,
    clear,
  ])
})

test('the progress bar shows what went over the wire, where there is a budget for it', () => {
  const written: string[] = []
  const terminal = { stderr: { isTTY: true, columns: 100 }, err: (text: string) => void written.push(text) }
  const bar = drawProgress(terminal as unknown as Terminal)
  bar.update({ counts, bytesRead: 5e6, retries: 0, elapsedMs: 1000, wire: { bytes: 1_234_567, budget: 5e9 } })
  expect(written.join('')).toContain('5.0 MB · 1.0 s · 1.2 MB of 5.0 GB on the wire · 3 rejected')
})
