/** Every text that a command shows, with hostile text in each value from outside. */
import { expect, test } from 'vitest'
import { failedText, goodText } from '../../../../src/programs/alarm/alarm-text.js'
import { sayEnding } from '../../../../src/cli/show/say-ending.js'
import { sayError, sayFailure } from '../../../../src/cli/show/say-error.js'
import { showFilter } from '../../../../src/cli/application/show-filter.js'
import { showReceipt, showServed } from '../../../../src/cli/show/show-receipt.js'
import { showRun } from '../../../../src/cli/show/show-run.js'
import type { Terminal } from '../../../../src/cli/terminal/terminal.js'
import { explain, type Failure, failure, failureCodes, SluiceError } from '../../../../src/base/failure/failure.js'
import type { Receipt, ServeReceipt } from '../../../../src/index.js'
import type { FilterReport } from '../../../../src/programs/filter/filter.js'
import { actsIn, planted } from '../../../support/facts/hostile.js'

const counts = {
  read: 9,
  created: 1,
  updated: 1,
  deleted: 1,
  noop: 1,
  duplicate: 1,
  rejected: 1,
  skipped: 1,
  unsent: 1,
  unknown: 1,
}
const refused = failure('INPUT_UNREADABLE', { input: 'b.ndjson', problem: 'it broke', stoppedBy: 'x', next: 'y' })
const by = { run: 'before', at: '2026-11-21T10:00:00Z' }
/** Words of our own: no outside value is among them. */
const own = ['status', 'form', 'code', 'plan', 'at', 'began', 'ended', 'action', 'verdict', 'severity', 'region']

const receipt: Receipt = {
  ...counts,
  run: 'nightly',
  command: 'ingest',
  exit: 3,
  status: 'failed',
  failure: refused,
  began: '2026-11-21T10:00:00Z',
  ended: '2026-11-21T10:01:00Z',
  target: { url: 'https://es.example', index: 'logs', alias: 'all' },
  inputs: [
    { name: 'a.ndjson', status: 'finished', read: 1, alreadyLoaded: true, loadedBy: by },
    { name: 'b.ndjson', status: 'failed', read: 8, resumedAt: 3, since: 'then', failure: refused },
  ],
  thisProcess: counts,
  rejections: [{ status: 400, type: 'document_parsing_exception', field: 'total', documents: 1 }],
  bytes: { read: 1, sent: 1, received: 1 },
  requests: 1,
  retries: 1,
  elapsedMs: 1,
  docsPerSecond: 1,
  route: { form: 'tunnel', proxy: 'http://proxy.example', connections: 2 },
  egress: { '192.0.2.1': 3 },
  cluster: { url: 'https://es.example', name: 'main', version: '9.1.0' },
  deadLetters: 'dead.ndjson',
  notes: ['a note'],
  checkpoint: '/state/run.json',
  spool: '/state/spool',
  alias: { name: 'all', from: 'all-1', to: 'all-2', switched: false, reason: 'too few' },
  platform: { url: 'https://sn.example', connections: 1, sent: 1, received: 1 },
  deletions: { compared: 1, deleted: 1, kept: { there: 1, changed: 1, other: 1 }, skipped: 'no key' },
} as unknown as Receipt

/** The receipts that a run may end with, all texts in them hostile. */
const receipts: readonly Receipt[] = [
  receipt,
  { ...receipt, dryRun: true as const, inputs: receipt.inputs.map(one => ({ ...one, plan: 'changed' as const })) },
  { ...receipt, inputs: receipt.inputs.slice(0, 1), failure: undefined } as unknown as Receipt,
  { ...receipt, inputs: receipt.inputs.slice(1), alias: { ...receipt.alias, switched: true } } as Receipt,
].map(one => {
  const hostile = planted(one, own)
  return {
    ...hostile,
    egress: Object.fromEntries(Object.keys(receipt.egress).map(name => [planted(name), 1])),
  }
})

/** Every failure that there is, with hostile evidence. */
const failures: readonly Failure[] = failureCodes.map(code => {
  const { example } = explain(code)
  const seen = planted({ ...example, stoppedBy: 'x', next: 'y' })
  return failure(code, seen as never)
})

test('receipts', () => {
  for (const one of receipts) {
    const run = { ...one, inputCount: 9 } as Parameters<typeof showRun>[0]
    const { thisProcess: _, ...begun } = run
    for (const text of [showReceipt(one), sayEnding(one), showRun(run), showRun(begun)])
      expect(actsIn(text)).toEqual([])
  }
})

test('failures, thrown errors, and bugs', () => {
  let printed = ''
  const print = (text: string) => void (printed += text)
  const terminal = { manner: { json: false, secrets: [] }, out: print, err: print } as unknown as Terminal
  for (const one of failures) {
    printed = ''
    sayError(terminal, new SluiceError(one, { cause: new TypeError(planted('cause')) }))
    expect([one.code, actsIn(one.message), actsIn(sayFailure(one)), actsIn(printed)]).toEqual([one.code, [], [], []])
  }
  printed = ''
  sayError(terminal, new TypeError(planted('a bug'), { cause: new Error(planted('its cause')) }))
  expect(printed).toContain('caused by')
  expect(actsIn(printed)).toEqual([])
})

test('fields of an incident', () => {
  const job = planted({ title: 'job', command: 'sluice ingest', host: 'here' })
  for (const one of receipts) {
    const texts = [
      ...failures.map(failed => failedText({ failure: failed, receipt: one }, job)),
      failedText({ receipt: one }, job),
      { good: goodText({ receipt: one }, job) },
    ]
    for (const text of texts.flatMap(fields => Object.values(fields))) {
      expect(actsIn(text)).toEqual([])
      expect(text).not.toMatch(/\[\/?code\]/i)
    }
  }
})

test('the findings of `serve` and `filter`', () => {
  const served = { ...receipt, accepted: 1, answers: { '202': 1 }, waiting: { documents: 1, bytes: 1 } }
  const policy = { id: 'p', name: 'pair', region: 'eu', type: 'ip', includeByDefault: false, isPermissive: false }
  const rules = [{ id: '1', source: '192.0.2.1', description: 'one' }]
  const finding = {
    code: 'FILTER_NOT_ATTACHED' as const,
    severity: 'error' as const,
    message: 'm',
    advice: ['a'],
    evidence: {},
  }
  const report: FilterReport = {
    deployment: { id: 'd', name: 'main', region: 'eu' },
    policies: [{ ...policy, rules }],
    policy: { ...policy, rules },
    action: 'created',
    ownAddress: '192.0.2.9',
    findings: [finding],
    notes: ['a note'],
    guard: {
      isOpen: false,
      staticIps: [{ address: '192.0.2.1', policies: ['pair'] }],
      refused: [],
      findings: [],
      expected: { through: true, direct: false },
    },
    proof: { through: { verdict: 'failed', detail: 't' }, direct: { verdict: 'unclear', detail: 'd' } },
  }
  const texts = [showServed(planted(served, own) as unknown as ServeReceipt), showFilter(planted(report, own))]
  for (const text of texts) expect(actsIn(text)).toEqual([])
})
