import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failure } from '../../../../src/base/failure/failure.js'
import { reportPage } from '../../../../src/features/report/page.js'
import { withoutValues } from '../../../../src/features/report/without-values.js'
import { checkReportFile, writeReport } from '../../../../src/features/report/kept-timeline.js'
import { endOfRefused } from '../../../../src/run/state/runs/history.js'
import { codeOf } from '../../../support/lab/run-world.js'
import { longRun, reportFacts } from '../../../support/facts/report-facts.js'

const HOSTILE = `<script>alert(1)</script>"'&<img src=x onerror=alert(2)>\u202e`

test('the report says how the run ended, what went where, and what to do', () => {
  const page = reportPage(longRun)
  for (const part of [
    '1,204 of 1,180,000 documents were rejected.',
    'sluice replay dead.ndjson',
    'mapper_parsing_exception',
    'amount',
    'logs/app-07.ndjson.gz, line 30,112',
    '203.0.113.10',
    'CLUSTER_OVERLOADED',
    'Access was lost once, for 1 min 30 s in all.',
    'The cluster handled 9 at the same time. Up to 16 were allowed (--concurrency).',
    '2 processes worked on this run.',
  ])
    expect(page).toContain(part)
})

test('the best rate that the report names stands in its table', () => {
  const page = reportPage(longRun)
  const [, best = 'none'] = /on average, and ([\d,]+) in the best row of the table below/.exec(page) ?? []
  const [, table = ''] = /id="documents-desc"[\s\S]*?<table>([\s\S]*?)<\/table>/.exec(page) ?? []
  const rates = Array.from(table.matchAll(/<tr>\s*<th scope="row">[\s\S]*?<\/tr>/g), ([row]) => {
    const cells = Array.from(row.matchAll(/<td class="n">([\d,]+)<\/td>/g), ([, cell = '']) => cell)
    return Number(cells[2]?.replaceAll(',', ''))
  })
  expect(rates.length).toBeGreaterThan(5)
  expect(Number(best.replaceAll(',', ''))).toBe(Math.max(...rates))
})

test('a report is one page that loads nothing and runs no script', () => {
  const page = reportPage(longRun)
  expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`)
  expect(page).not.toMatch(/<script|<link|<img|<iframe|\bon\w+=|url\(|@import|src=|href=/)
})

test('names and reasons from outside are text, whatever they hold', () => {
  const inputs = [
    {
      name: HOSTILE,
      status: 'failed' as const,
      read: 1,
      failure: failure('INPUT_UNREADABLE', { input: HOSTILE, problem: HOSTILE }),
    },
  ]
  const rejections = [
    { status: 400, type: HOSTILE, field: HOSTILE, documents: 1, first: { input: HOSTILE, document: 1 } },
  ]
  const end = {
    ...longRun.end,
    inputs,
    rejections,
    run: HOSTILE,
    command: HOSTILE,
    notes: [HOSTILE],
    deadLetters: HOSTILE,
    egress: { [HOSTILE]: 1 },
    target: { url: HOSTILE, index: HOSTILE },
    cluster: { url: HOSTILE, name: HOSTILE, version: HOSTILE },
    failure: failure('CLUSTER_UNAVAILABLE', { cluster: HOSTILE, observed: HOSTILE }),
    began: HOSTILE,
  }
  const page = reportPage({ ...longRun, end, next: [HOSTILE], version: HOSTILE })
  expect(page).not.toMatch(/<script|<img|\u202e/)
  expect(page.split('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;').length).toBeGreaterThan(10)
})

test('a run that was refused before its first document has the reason, and what to do', () => {
  const why = failure('EGRESS_PARTLY_ALLOWED', { how: 'refused', cluster: 'https://c.example', refused: 7, probes: 16 })
  const end = endOfRefused({ run: 'r', command: 'ingest', began: new Date(), target: { index: 'logs' }, failure: why })
  const page = reportPage(reportFacts({ end, timeline: undefined, next: ['Then run the same command again.'] }))
  expect(page).toContain('The load stopped before the first document.')
  expect(page).toContain('EGRESS_PARTLY_ALLOWED')
  expect(page).toContain('Then run the same command again.')
  expect(page).not.toContain('<svg')
})

test.each([
  [
    { status: 'finished', exit: 0, rejected: 0, created: 1_180_000, duplicate: 0, rejections: [] },
    'All 1,180,000 documents are stored.',
  ],
  [{ status: 'interrupted', exit: 5 }, 'The load was interrupted after 1,178,796 documents.'],
  [{ status: 'running' }, 'This run has not ended. It is running, or it was killed.'],
  [{ dryRun: true, thisProcess: { ...zero(), read: 9, unsent: 9 } }, 'A load would send 9 documents.'],
  [
    { inputs: [{ name: 'a', status: 'finished', read: 5, alreadyLoaded: true }], rejected: 0, exit: 0 },
    'There was nothing new to load.',
  ],
] as const)('the headline of %o', (more, headline) => {
  const end = { ...longRun.end, ...more } as typeof longRun.end
  expect(reportPage({ ...longRun, end })).toContain(`<h1>${headline}</h1>`)
})

function zero() {
  const names = [
    'created',
    'accepted',
    'updated',
    'deleted',
    'noop',
    'notFound',
    'older',
    'duplicate',
    'rejected',
    'skipped',
    'unknown',
  ]
  return Object.fromEntries(names.map(name => [name, 0]))
}

test.each([
  [
    'failed to parse field [amount] of type [long] in document with id \'abc\'. For input string: "12 apples"',
    ['abc', '12 apples'],
    'amount',
  ],
  [
    'failed to parse date field [yesterday] with format [strict_date_optional_time]',
    ['yesterday'],
    'strict_date_optional_time',
  ],
  ["Unrecognized token 'secret': was expecting", ['secret'], 'was expecting'],
  ['[7]: version conflict', [], 'version conflict'],
])('a message keeps fields and positions, and loses values: %s', (message, gone, kept) => {
  const shown = withoutValues(message)
  for (const value of gone) expect(shown).not.toContain(value)
  expect(shown).toContain(kept)
})

test('a report replaces a report, and no other file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'report-'))
  const path = join(folder, 'run.html')
  await checkReportFile(path)
  await writeReport(path, longRun)
  await writeReport(path, longRun)
  expect(await readFile(path, 'utf8')).toBe(reportPage(longRun))
  await checkReportFile(path)
  await writeFile(join(folder, 'input.ndjson'), '{"a":1}\n')
  expect(await codeOf(checkReportFile(join(folder, 'input.ndjson')))).toMatch(
    /OPTION_INVALID: .*not a report of Sluice/,
  )
  await mkdir(join(folder, 'dir'))
  await symlink(join(folder, 'input.ndjson'), join(folder, 'link.html'))
  for (const name of ['dir', 'link.html', 'missing/run.html', 'input.ndjson/run.html'])
    expect(await codeOf(checkReportFile(join(folder, name)))).toMatch(/OPTION_INVALID/)
  await rm(folder, { recursive: true })
})
