import { describe, expect, test } from 'vitest'
import { type AlarmOptions, judgeRun, reportRun } from '../../../../src/programs/alarm/alarm.js'
import { failedText, goodText } from '../../../../src/programs/alarm/alarm-text.js'
import { jobOf } from '../../../../src/cli/application/open-alarm.js'
import { failure, SluiceError } from '../../../../src/base/failure/failure.js'
import type { Receipt } from '../../../../src/pipeline/ledger/receipt.js'

const counts = {
  read: 5,
  accepted: 0,
  created: 3,
  updated: 0,
  deleted: 0,
  noop: 0,
  notFound: 0,
  older: 0,
  dropped: 0,
  duplicate: 0,
  rejected: 2,
  skipped: 0,
  unsent: 0,
  unknown: 0,
}
const receipt: Receipt = {
  ...counts,
  run: '20261121T100338Z-225173',
  status: 'finished',
  command: 'ingest',
  began: '2026-11-21T11:03:38.000+01:00',
  ended: '2026-11-21T11:04:40.000+01:00',
  exit: 1,
  target: { url: 'https://cluster.example:9243', index: 'logs' },
  inputs: [{ name: 'a.ndjson', status: 'finished', read: 5 }],
  thisProcess: counts,
  rejections: [{ status: 400, type: 'document_parsing_exception', field: 'total', documents: 2 }],
  bytes: { read: 1, sent: 1, received: 1 },
  requests: 1,
  retries: 0,
  elapsedMs: 1,
  docsPerSecond: 1,
  route: { form: 'tunnel', proxy: 'http://proxy.example:9293', connections: 1 },
  egress: {},
  cluster: { url: 'https://cluster.example:9243' },
  deadLetters: 'dead.ndjson',
}
const all = { ...receipt, created: 5, rejected: 0 }
const partly = failure('EGRESS_PARTLY_ALLOWED', {
  how: 'refused',
  cluster: 'https://cluster.example:9243',
  probes: 16,
  refused: 7,
  verdict: 'one is refused',
  next: 'Add 127.0.0.3/32.',
  stoppedBy: 'CLUSTER_UNAVAILABLE: it went away',
})

describe('whether a run failed', () => {
  test.each([
    ['a failure that needs a person', { failure: partly }, 'failed'],
    [
      'a failure that may pass',
      { failure: failure('PROXY_TIMEOUT', { proxy: 'p', limitMs: 1, after: 'x' }) },
      'failed',
    ],
    ['no such input', { failure: failure('INPUT_NOT_FOUND', { input: 'a' }) }, 'failed'],
    ['a bug', { failure: failure('INTERNAL', { problem: 'x' }) }, 'failed'],
    ['rejected documents', { receipt }, 'failed'],
    ['documents of unknown outcome', { receipt: { ...all, unknown: 1 } }, 'failed'],
    ['an interruption', { failure: failure('RUN_INTERRUPTED', { reason: 'SIGTERM', settled: 1 }), receipt }, 'neither'],
    ['a budget that is spent', { failure: failure('TIME_BUDGET_SPENT', { seconds: 1, settled: 1 }) }, 'neither'],
    [
      'another run at work',
      { failure: failure('RUN_LOCKED', { input: 'a', doing: 'b', pid: 1, host: 'h', since: 's', lock: 'l' }) },
      'neither',
    ],
    ['every document stored', { receipt: all }, 'good'],
    ['a command without a receipt', {}, 'good'],
  ] as const)('%s', (_, account, verdict) => {
    expect(judgeRun(account, false)).toBe(verdict)
  })

  test('rejected documents within a limit of the user’s are no failure, those of unknown outcome are', () => {
    expect(judgeRun({ receipt }, true)).toBe('good')
    expect(judgeRun({ receipt: { ...receipt, unknown: 1 } }, true)).toBe('failed')
  })
})

describe('the text of an incident', () => {
  const job = { title: 'logs-app', command: 'sluice ingest a.ndjson --index logs-app', host: 'loader-1' }

  test('the finding, the next step and the numbers of the run', () => {
    const { headline, finding, facts } = failedText({ failure: partly, receipt }, job)
    expect(headline).toBe(`logs-app: EGRESS_PARTLY_ALLOWED: ${partly.message}`)
    expect(finding).toContain('Seen: CLUSTER_UNAVAILABLE: it went away')
    expect(finding).toContain('Next step: Add 127.0.0.3/32.')
    expect(finding).toContain('More: sluice explain EGRESS_PARTLY_ALLOWED')
    expect(facts.split('\n')).toEqual([
      'Job: logs-app',
      'Command: sluice ingest a.ndjson --index logs-app',
      'Host: loader-1',
      'Run: 20261121T100338Z-225173',
      'Exit code: 3',
      'Inputs: a.ndjson',
      'Documents: 5 read = 3 created + 2 rejected',
      'Rejected: 2 document_parsing_exception, field total',
      'Dead letters: dead.ndjson',
      'Cluster: https://cluster.example:9243',
      'Proxy: http://proxy.example:9293',
    ])
  })

  test('a machine without a name is not shown', () => {
    expect(failedText({ failure: partly }, { title: 'logs-app' }).facts).not.toContain('Host')
  })

  test('rejected documents have a headline of their own', () => {
    expect(failedText({ receipt }, job).headline).toBe('logs-app: finished with 2 documents rejected')
    expect(failedText({ receipt: { ...receipt, unknown: 1 } }, job).headline).toBe(
      'logs-app: finished with 2 documents rejected and 1 document of unknown outcome',
    )
  })

  test('quoted text can neither become markup nor break the title’s line', () => {
    const planted = { ...partly, message: 'a\n[code]<b>[/code] \u0007 [CODE] [co\u0001de] [ /code]\u202e' }
    const { headline, finding } = failedText({ failure: planted }, job)
    expect(headline).toBe(
      'logs-app: EGRESS_PARTLY_ALLOWED: a\\n[ code]<b>[ /code] \\u0007 [ CODE] [co\\u0001de] [  /code]\\u202e',
    )
    expect(finding).not.toMatch(/\[\/?code\]/i)
  })

  test('of a thousand inputs a few are named', () => {
    const inputs = Array.from(
      { length: 1000 },
      (_, n) => ({ name: `${n}.ndjson`, status: 'finished', read: 0 }) as const,
    )
    expect(failedText({ failure: partly, receipt: { ...receipt, inputs } }, job).facts).toContain(
      '4.ndjson and 995 more',
    )
  })

  test('a good run says what it loaded', () => {
    expect(goodText({ receipt: all }, job)).toBe(
      'Run 20261121T100338Z-225173 of logs-app was good.\n5 read = 5 created',
    )
    expect(goodText({}, job)).toBe('A run of logs-app was good.')
  })
})

describe('the name of a job that was given none', () => {
  const work = { command: 'ingest', sources: ['logs/*.gz'], index: 'logs-app' }
  const places = ['https://c.example']

  test('is the same each time, and another for other work', () => {
    expect(jobOf(work, places)).toBe(jobOf({ ...work }, [...places]))
    const others = [
      jobOf({ ...work, command: 'replay' }, places),
      jobOf({ ...work, sources: ['logs/*'] }, places),
      jobOf({ ...work, index: 'logs' }, places),
      jobOf(work, ['https://d.example']),
      jobOf({ ...work, query: 'active=true' }, places),
      jobOf({ ...work, query: 'active=false' }, places),
    ]
    expect(new Set([jobOf(work, places), ...others]).size).toBe(7)
  })

  test.each(['logs-app', 'x'.repeat(255), '^ORDERBY,ü=1', '...', undefined])(
    'fits into a query of the platform: %s',
    index => {
      expect(jobOf({ ...work, index }, places)).toMatch(/^\w[\w.-]{0,76}$/)
    },
  )
})

describe('reporting', () => {
  const options: AlarmOptions = { servicenow: { url: 'https://instance.example' }, job: 'nightly' }

  test.each<[string, Partial<AlarmOptions>, string]>([
    ['a job that no query could hold', { job: 'a^b' }, 'job'],
    ['a field that the alarm goes by', { fields: { correlation_id: 'x' } }, 'fields'],
    ['a field that is none', { fields: { 'Assignment group': 'x' } }, 'fields'],
    ['no user', {}, 'servicenow.username'],
  ])('never throws: %s is a failure of its own', async (_, wrong, option) => {
    const reported = await reportRun({ error: new SluiceError(partly) }, { ...options, ...wrong })
    expect(reported).toMatchObject({ did: 'failed', failure: { code: 'OPTION_INVALID', evidence: { option } } })
  })

  test('a run that was interrupted makes no incident', async () => {
    const error = new SluiceError(failure('RUN_INTERRUPTED', { reason: 'SIGTERM', settled: 1 }))
    expect(await reportRun({ error }, options)).toEqual({ did: 'nothing', incidents: [], notes: [] })
  })
})
