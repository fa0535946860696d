import { describe, expect, test } from 'vitest'
import { bytes, count, showDuration } from '../../../src/cli/terminal/columns.js'
import { sayReceipt } from '../../../src/cli/application/show-load.js'
import { advices, receiptJson, showReceipt } from '../../../src/cli/show/show-receipt.js'
import { openTerminal } from '../../../src/cli/terminal/terminal.js'
import { failure } from '../../../src/base/failure/failure.js'
import { tooManyFields } from '../../../src/base/failure/index-errors.js'
import type { Counts, Receipt } from '../../../src/pipeline/ledger/receipt.js'

const counts: Counts = {
  read: 1210,
  accepted: 0,
  created: 1000,
  updated: 0,
  deleted: 0,
  noop: 0,
  notFound: 0,
  older: 0,
  dropped: 0,
  duplicate: 5,
  rejected: 3,
  skipped: 1,
  unsent: 200,
  unknown: 1,
}
const receipt: Receipt = {
  ...counts,
  run: 'R1',
  command: 'ingest',
  began: '2026-11-21T03:15:00.000+00:00',
  ended: '2026-11-21T03:16:01.500+00:00',
  exit: 4,
  target: { url: 'https://es.example', index: 'orders' },
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
    {
      status: 400,
      type: 'document_parsing_exception',
      field: 'price',
      documents: 2,
      first: { input: 'a.ndjson', document: 9 },
    },
    { status: 0, type: 'DOCUMENT_NOT_JSON', documents: 1, first: { input: 'b.ndjson.gz', document: 6, line: 1207 } },
    { status: 400, type: 'unknown_exception', documents: 0 },
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

test('a duplicate of another cluster was compared, and no answer was lost', () => {
  const [first] = receipt.inputs
  if (first === undefined) throw new Error('the receipt has an input')
  const moved = { ...receipt, inputs: [{ ...first, name: 'elasticsearch:orders' }] }
  expect(showReceipt(moved)).toContain('duplicate      5  the index already has the same documents\n')
})

test('a receipt shows every count that is not zero, the equation, the reasons and the way', () => {
  expect(showReceipt(receipt)).toBe(`Run R1 stopped after 1 min 2 s: CLUSTER_UNAVAILABLE

  read       1,210
  created    1,000
  duplicate      5  stored by an earlier request, whose answer was lost
  rejected       3  in the dead letters
  skipped        1  blank lines, conflicts, or left out by --transform
  unsent       200  not stored
  unknown        1  sent, but no answer shows whether they were stored

  1,210 read = 1,000 created + 5 duplicate + 3 rejected + 1 skipped + 200 unsent + 1 unknown, it balances

Rejected

  2  document_parsing_exception  status 400, field price, first: a.ndjson, document 9
  1  DOCUMENT_NOT_JSON           before sending, first: b.ndjson.gz, line 1,207
  0  unknown_exception           status 400

  document_parsing_exception: A value does not fit the type of its field, for example text in a number or an unknown form of a date. Correct the documents in the dead letters, or load into a new index with another mapping. Then run \`sluice replay FILE\`.
  DOCUMENT_NOT_JSON: A document is not a JSON object. Write one JSON object per line, or use --format json for a JSON array. The dead letters hold the original line and its position.

  inputs        2 inputs
                b.ndjson.gz is truncated: its gzip data ends after 9,000 decoded bytes. Sluice read every complete document
  speed         16 documents/s
  bytes         123.5 kB read, 5.0 MB sent, 999 B received
  requests      12, 2 sent again
  route         tunnel through http://proxy.example:9293, 20 connections
  egress        203.0.113.7 (2x), 203.0.113.8 (1x)
  cluster       https://es.example (prod, 9.4.3)
  dead letters  dead.ndjson
`)
})

test('the advice on rows fits each of their reasons', () => {
  const type = 'DOCUMENT_ROW_INVALID'
  const adviceFor = (...reasons: readonly string[]) => {
    const rejected = reasons.map((reason, at) => ({ documents: reasons.length - at, status: 0, type, reason }))
    return advices({ ...receipt, rejections: rejected }).map(([, advice]) => advice)
  }
  const [title, how] = [
    'A row of a CSV file, a Parquet file or a workbook cannot be loaded.',
    'add a `document` to each record in the dead letters, then run `sluice replay FILE`.',
  ]
  const ofFile = `${title} If the reason says what to do, do that. Otherwise correct the file, or the program that writes it. To load the rejected rows, ${how}`
  const ofType = `${title} If the type in --types is wrong, correct it. If the cell is a word for a missing value, name it in --null-values. Otherwise ${how}`
  const [few, double] = ['fewer cells than the 2 columns', 'column 2 (x): not of the type double']
  const formula = 'column 2 (x): a formula without a value. Open the workbook in a spreadsheet program, and save it'
  expect(adviceFor(few)).toEqual([ofFile])
  expect(adviceFor(formula, few)).toEqual([ofFile])
  for (const reasons of [[double], [double, few], [few, double], [few, formula, double]])
    expect(adviceFor(...reasons)).toEqual([ofType])
})

test('the advice on too many fields is for documents of which all have too many', () => {
  const [type, documents, status] = ['illegal_argument_exception', 1, 400]
  const full = { documents, status, type, reason: tooManyFields('1000') }
  const adviceFor = (...rejected: Receipt['rejections']) => advices({ ...receipt, rejections: rejected })[0]?.[1]
  expect(adviceFor(full)).toContain('have more fields than the index takes')
  for (const both of [
    [full, { documents, status, type }],
    [{ documents, status, type }, full],
  ])
    expect(adviceFor(...both)).toContain('Read the reason in the dead letters. For too many fields')
})

test('a receipt shows what became of documents whose rows were deleted', () => {
  const shown = (deletions: NonNullable<Receipt['deletions']>) =>
    /deletions +(.*)/.exec(showReceipt({ ...receipt, deletions }))?.[1]
  const kept = { there: 0, changed: 0, other: 0 }
  expect(shown({ mode: 'reconcile', compared: 250_000, deleted: 1, kept })).toBe(
    '1 document deleted, 250,000 documents compared',
  )
  expect(shown({ mode: 'reconcile', compared: 12, deleted: 7, kept: { there: 2, changed: 1, other: 0 } })).toBe(
    '7 documents deleted, 12 documents compared, kept: 2 existing, new or hidden, 1 written meanwhile',
  )
  expect(shown({ mode: 'reconcile', compared: 0, deleted: 0, kept, skipped: 'not yet' })).toBe(
    'Sluice compared nothing: not yet',
  )
})

describe('a receipt of inputs that were loaded before', () => {
  const { failure: _, ...rest } = receipt
  const at = new Date(2026, 10, 21, 3, 15).toISOString()
  const later = new Date(2026, 10, 22, 3, 5).toISOString()
  const known = (name: string, run = 'R0', when = at) =>
    ({ name, status: 'finished', read: 0, alreadyLoaded: true, loadedBy: { run, at: when } }) as const
  const nothing = { ...counts, read: 0, created: 0, duplicate: 0, rejected: 0, skipped: 0, unsent: 0, unknown: 0 }
  const of = (inputs: Receipt['inputs']): string =>
    showReceipt({ ...rest, ...nothing, rejections: [], status: 'finished', inputs })

  test('says that nothing is new, who loaded them and when, and how they would be loaded again', () => {
    const many = Array.from({ length: 100_000 }, (_none, n) => known(`${n}.ndjson`))
    expect(of(many).split('\n').slice(0, 7).join('\n'))
      .toBe(`Nothing new. All 100,000 files were loaded by run R0 on 2026-11-21 03:15:00.
Run R1 sent no documents. To load the files again, pass --again.

  read      0
  created   0
  rejected  0
`)
    expect(of(many).length).toBeLessThan(1000)
    expect(of([known('a.ndjson')])).toMatch(/^Nothing new\. a\.ndjson was loaded by run R0 on 2026-11-21 03:15:00\.\n/)
    expect(of([known('a'), known('b', 'R00', later)])).toMatch(
      /^Nothing new\. All 2 files were loaded before, the last one by run R00 on 2026-11-22 03:05:00\.\n/,
    )
  })

  test('beside new ones names them, at most 10', () => {
    const read = { name: 'new.ndjson', status: 'finished', read: 605 } as const
    const part = of([known('a.ndjson'), read])
    expect(part).toMatch(/^Run R1 finished after/)
    expect(part).toContain('a.ndjson, already loaded')
    expect(part).not.toContain('--again')
    const many = of([...Array.from({ length: 25 }, (_none, n) => known(`${n}.ndjson`)), read])
    expect(many.match(/already loaded/g)).toHaveLength(10)
    expect(many).toMatch(/^ +and 15 more$/m)
  })

  test('counts of a run that loaded them itself are called so', () => {
    const own = { name: 'a.ndjson', status: 'finished', read: 5, alreadyLoaded: true } as const
    expect(showReceipt({ ...rest, status: 'finished', inputs: [own] })).toMatch(
      /^Nothing new\. a\.ndjson was already loaded by this run\.\nRun R1 sent no documents\. The counts are those of its load\. To load the file again, choose another --run-id\./,
    )
  })
})

test('the receipt of a dry run lists what a load would do, and what it would send', () => {
  const { failure: _, deadLetters: __, ...rest } = receipt
  const at = new Date(2026, 10, 21, 3, 15).toISOString()
  const by = { run: 'R0', at }
  const thisProcess = {
    ...counts,
    read: 105,
    created: 0,
    duplicate: 0,
    rejected: 2,
    skipped: 0,
    unsent: 103,
    unknown: 0,
  }
  const inputs: Receipt['inputs'] = [
    ...Array.from({ length: 12 }, (_none, n) => ({ name: `n${n}`, status: 'finished', read: 5, plan: 'new' }) as const),
    { name: 'known', status: 'finished', read: 0, alreadyLoaded: true, plan: 'known', loadedBy: by },
    { name: 'grown', status: 'finished', read: 4, plan: 'continues', resumedAt: 1501, loadedBy: by },
    { name: 'other', status: 'finished', read: 4, plan: 'changed', loadedBy: by },
  ]
  const shown = showReceipt({ ...rest, dryRun: true, status: 'finished', rejections: [], thisProcess, inputs })
  expect(shown.slice(0, shown.indexOf('  inputs '))).toBe(`Dry run finished after 1 min 2 s

15 inputs: 1 changed, 1 continues, 12 new, 1 known

  changed    other  the content has changed since run R0 on 2026-11-21 03:15:00, so Sluice loads the whole file
  continues  grown  at document 1,501, after run R0 on 2026-11-21 03:15:00
  new        n0
  new        n1
  new        n2
  new        n3
  new        n4
  new        n5
  new        n6
  new        n7
  and 5 more

  read          105
  would reject    2
  would send    103

  105 read = 2 would reject + 103 would send, it balances

`)
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

test('a receipt of very many inputs waits for its reader, part by part', async () => {
  let waiting = 0
  let most = 0
  const parts: Buffer[] = []
  const write = (bytes: Uint8Array, done: () => void) => {
    most = Math.max(most, ++waiting)
    parts.push(Buffer.from(bytes))
    setImmediate(() => {
      waiting -= 1
      done()
    })
  }
  const stream = { isTTY: false, on: () => undefined }
  const host = { stdout: { ...stream, write }, stderr: { ...stream, write: () => undefined }, env: {} }
  const inputs = Array.from(
    { length: 5000 },
    (_, at) => ({ name: `${at}.ndjson`, status: 'finished', read: 1 }) as const,
  )
  await sayReceipt({ ...receipt, inputs }, openTerminal(host as unknown as NodeJS.Process), true)
  expect(JSON.parse(Buffer.concat(parts).toString())).toMatchObject({ inputs })
  expect(parts.length).toBeGreaterThan(5)
  expect(most).toBe(1)
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
