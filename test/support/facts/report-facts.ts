import { nothing } from '../../../src/pipeline/ledger/account.js'
import type { ReportFacts } from '../../../src/features/report/page.js'
import { Timeline } from '../../../src/features/report/timeline.js'

/** Facts about a run of nine minutes in two processes, with retries, one wait for access and rejected documents. Always the same. */
export const longRun: ReportFacts = reportFacts({})

export function reportFacts(more: Partial<ReportFacts>): ReportFacts {
  return {
    end: {
      ...nothing,
      run: '20261121T100338Z-225173',
      status: 'finished',
      command: 'ingest',
      began: '2026-11-21T10:11:02+00:00',
      ended: '2026-11-21T10:16:08+00:00',
      exit: 1,
      target: { url: 'https://logs.es.eu-west-1.example', index: 'logs-app' },
      read: 1_180_000,
      created: 1_176_400,
      duplicate: 2396,
      rejected: 1204,
      thisProcess: { ...nothing, read: 700_000, created: 696_400 },
      inputs: Array.from({ length: 12 }, (_, at) => ({
        name: `logs/app-${String(at + 1).padStart(2, '0')}.ndjson.gz`,
        status: 'finished' as const,
        read: 98_333,
        ...(at === 5 ? { resumedAt: 40_112 } : {}),
        ...(at < 5 ? { alreadyLoaded: true as const } : {}),
      })),
      rejections: [
        {
          status: 400,
          type: 'mapper_parsing_exception',
          field: 'amount',
          documents: 1180,
          first: { input: 'logs/app-07.ndjson.gz', document: 30_110, line: 30_112 },
        },
        {
          status: 0,
          type: 'DOCUMENT_NOT_JSON',
          documents: 24,
          first: { input: 'logs/app-09.ndjson.gz', document: 7, line: 7 },
        },
      ],
      bytes: { read: 812_000_000, sent: 131_400_000, received: 9_120_000 },
      requests: 2214,
      retries: 31,
      elapsedMs: 304_112,
      docsPerSecond: 2290,
      route: { form: 'tunnel', proxy: 'http://eu-west-static-01.proxy.example:9293', connections: 38 },
      egress: { '203.0.113.10': 4, '203.0.113.11': 3 },
      cluster: { url: 'https://logs.es.eu-west-1.example', name: 'logs', version: '9.4.3' },
      deadLetters: 'dead.ndjson',
    },
    timeline: { samples: samplesOfLongRun(), limits: { concurrency: 16, batchBytes: 5_000_000, learntConcurrency: 9 } },
    next: ['Repair the documents in the dead letters, and run `sluice replay dead.ndjson`.'],
    version: '1.0.0',
    written: new Date('2026-11-21T10:16:08Z'),
    ...more,
  }
}

function samplesOfLongRun() {
  const first = new Timeline('2026-11-21T10:03:38.000Z')
  load(first, 0, 240_000)
  const second = new Timeline('2026-11-21T10:11:03.000Z', first.samples(240_000))
  load(second, 240_000, 330_000)
  second.blocked(330_000, 'EGRESS_NOT_ALLOWED')
  second.unblocked(420_000)
  load(second, 420_000, 544_000)
  return second.samples(544_000)
}

/** Plays a load: it warms up, and the cluster is busy for a while. */
function load(timeline: Timeline, from: number, to: number): void {
  for (let at = from; at < to; at += 200) {
    const second = at / 1000
    const warm = Math.min(1, (at - from + 4000) / 20_000)
    const open = Math.max(1, Math.round(9 * warm + 3 * Math.sin(second / 9)))
    const isBusy = second > 130 && second < 165
    timeline.sent(at, open, 60_000)
    timeline.answered(
      at + 100,
      open - 1,
      90 + 40 * Math.sin(second / 7) + (isBusy ? 700 : 0) + ((at / 200) % 23) * 8,
      isBusy,
    )
    timeline.settled(
      at + 100,
      Math.round((isBusy ? 160 : 520) * warm + 60 * Math.sin(second / 5)),
      at % 9000 === 0 ? 20 : 0,
    )
    if (isBusy && at % 1200 === 0) timeline.retried(at, 'CLUSTER_OVERLOADED')
  }
}
