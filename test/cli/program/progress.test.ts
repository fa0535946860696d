/** The progress of a run on terminals of 80 and 40 columns and in a log, by a clock that the test holds. */
import { nothing } from '../../../src/pipeline/ledger/account.js'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { DrawingPace } from '../../../src/cli/terminal/pace.js'
import { follow } from '../../../src/cli/terminal/progress.js'
import { chooseLog } from '../../../src/cli/terminal/log.js'
import { showProgress } from '../../../src/cli/terminal/show-progress.js'
import type { Terminal } from '../../../src/cli/terminal/terminal.js'
import { failure } from '../../../src/base/failure/failure.js'
import type { IngestEvent } from '../../../src/index.js'
import type { Counts } from '../../../src/pipeline/ledger/receipt.js'

class HeldPace implements DrawingPace {
  #ms = 0
  readonly #acts = new Map<object, { ms: number; next: number; act: () => void }>()

  now(): number {
    return this.#ms
  }

  date(): number {
    return new Date(2026, 10, 21, 3, 15, 0).getTime() + this.#ms
  }

  every(ms: number, act: () => void): Disposable {
    const key = {}
    this.#acts.set(key, { ms, next: this.#ms + ms, act })
    return { [Symbol.dispose]: () => void this.#acts.delete(key) }
  }

  pass(ms: number): void {
    const end = this.#ms + ms
    for (;;) {
      const [due] = [...this.#acts.values()].toSorted((a, b) => a.next - b.next)
      if (due === undefined || due.next > end) break
      this.#ms = due.next
      due.next += due.ms
      due.act()
    }
    this.#ms = end
  }
}

async function open({ columns = 80, isTTY = true, hasColors = false, quiet = false } = {}) {
  const pace = new HeldPace()
  const written: string[] = []
  const terminal = {
    manner: { json: false, secrets: [], command: 'ingest' },
    stderr: { isTTY, columns },
    hasColors: { out: false, err: hasColors },
    err: (text: string) => void written.push(text),
    log: (text: string) => void written.push(text),
    draw: { err: (text: string) => void written.push(text) },
  }
  await chooseLog(terminal as unknown as Terminal, { format: undefined, quiet })
  const progress = showProgress(terminal as unknown as Terminal, { quiet, pace })
  const hear = follow(progress, pace)
  /** What stands on the line after the next frame. */
  const line = () => {
    pace.pass(200)
    return written.at(-1)?.replace('\r\u001B[K', '')
  }
  return { pace, written, progress, hear, line }
}

const created = (n: number): Counts => ({ ...nothing, read: n, created: n })
const GB = 1_000_000_000

function standing(more: Partial<Extract<IngestEvent, { type: 'standing' }>> = {}): IngestEvent {
  const bytes = { read: 0, total: 1.2 * GB }
  return { type: 'standing', ofRun: nothing, bytes, file: { number: 3, of: 10 }, underWay: 4, ...more }
}

function booked(counts: Counts): IngestEvent {
  return { type: 'progress', counts, bytesRead: 1000 }
}

const busy = failure('CLUSTER_OVERLOADED', { cluster: 'https://es.example', reason: 'busy', status: 429 })
const retry: IngestEvent = { type: 'retry', failure: busy, documents: 500, waitMs: 250 }

/** A run 100 s after its beginning, in the third of ten files. */
async function halfWay(form: Parameters<typeof open>[0]) {
  const opened = await open(form)
  opened.hear(standing())
  opened.pace.pass(99_800)
  opened.hear(standing({ ofRun: created(12_345), bytes: { read: 0.54 * GB, total: 1.2 * GB } }))
  opened.hear(booked(created(12_345)))
  return opened
}

test.each([
  [
    120,
    '45% · 12,345 documents · 540.0 MB of 1.2 GB · ETA 3 min · 123/s · file 3 of 10 · 4 requests under way · 1 min 40 s',
  ],
  [80, '45% · 12,345 docs · 540.0 MB of 1.2 GB · ETA 3 min · file 3 of 10 · 4 requests'],
  [40, '45% · 12,345 docs · ETA 3 min · 3/10'],
  [20, '45% · 12,345 docs'],
  [12, '45%'],
])('the line fits into %i columns', async (columns, text) => {
  const { line } = await halfWay({ columns })
  expect(line()).toBe(text)
  expect(text.length).toBeLessThan(columns)
})

test('the line is drawn at a steady pace, however often something happens, and is gone in the end', async () => {
  const { pace, written, hear, progress } = await open()
  for (let n = 1; n <= 1000; n++) hear(standing({ ofRun: created(n) }))
  expect(written).toEqual([])
  pace.pass(1000)
  expect(written).toHaveLength(5)
  // Also while nothing happens: it is the clock that goes on.
  pace.pass(10_000)
  expect(written).toHaveLength(55)
  progress[Symbol.dispose]()
  pace.pass(1000)
  expect(written.slice(55)).toEqual(['\r\u001B[K'])
})

test('a note stands above the line', async () => {
  const { written, progress, hear } = await open({ columns: 40 })
  hear(standing({ ofRun: created(7) }))
  progress.note({ level: 'warn', event: 'warning', message: 'something' })
  expect(written).toEqual(['\r\u001B[K', 'warning: something\n', '\r\u001B[K0% · 7 docs · 0 B/1.2 GB · file 3/10'])
})

test('a resume begins where the run stands, and its ETA is of this process alone', async () => {
  const { hear, line, pace } = await open({ columns: 120 })
  const total = 1.2 * GB
  hear(standing({ ofRun: created(50_000), bytes: { read: 0.6 * GB, total }, underWay: 0 }))
  expect(line()).toBe('50% · 50,000 documents · 600.0 MB of 1.2 GB · 0/s · file 3 of 10 · 200 ms')
  pace.pass(59_600)
  hear(standing({ ofRun: created(51_000), bytes: { read: 0.66 * GB, total }, underWay: 1 }))
  hear(booked(created(1000)))
  // 60 MB in a minute, and 540 are left.
  expect(line()).toBe(
    '55% · 51,000 documents · 660.0 MB of 1.2 GB · ETA 9 min · 17/s · file 3 of 10 · 1 request under way · 1 min 0 s',
  )
})

test('sent bytes stand beside their budget, and rows beside those of the table', async () => {
  const { hear, line } = await halfWay({ columns: 140 })
  const wire = { bytes: 1_234_567, budget: 5 * GB }
  hear({
    type: 'progress',
    counts: { ...created(12_345), rejected: 3 },
    bytesRead: 5,
    wire,
    rows: { read: 5, total: 70 },
  })
  hear(standing({ ofRun: { ...created(12_345), rejected: 3 }, bytes: { read: 0.54 * GB, total: 1.2 * GB } }))
  expect(line()).toContain('3 rejected · 540.0 MB of 1.2 GB · ETA 3 min · 5 of 70 rows · 1.2 MB of 5.0 GB on the wire')
})

test('stdin has no end that anybody knows: no percent, no ETA, no file', async () => {
  const { hear, line, pace } = await open()
  const { bytes: _, ...unknown } = standing() as Extract<IngestEvent, { type: 'standing' }>
  hear({ ...unknown, file: { number: 1, of: 1 } })
  pace.pass(9800)
  hear({ ...unknown, ofRun: created(500), file: { number: 1, of: 1 } })
  hear(booked(created(500)))
  expect(line()).toBe('500 documents · 1.0 kB · 50/s · 4 requests under way · 10.0 s')
})

test('after Ctrl-C it says what the run waits for', async () => {
  for (const [columns, text] of [
    [80, 'stopping, 3 requests left · 45% · 12,345 docs · 540.0 MB of 1.2 GB · file 3/10'],
    [40, 'stopping, 3 left · 45% · 12,345 docs'],
  ] as const) {
    const { hear, line } = await halfWay({ columns })
    const bytes = { read: 0.54 * GB, total: 1.2 * GB }
    hear(standing({ ofRun: created(12_345), bytes, underWay: 3, isStopping: true }))
    expect(line()).toBe(text)
    hear(standing({ ofRun: created(12_345), bytes, underWay: 0, isStopping: true }))
    expect(line()).toMatch(/^stopping · 45%/)
  }
})

test('retries are one live line on a terminal, until something is stored', async () => {
  for (const [columns, text] of [
    [80, 'waiting for retry since 03:16:39 · 45% · 12,345 docs · file 3/10'],
    [40, 'retry since 03:16:39 · 45% · 12,345 docs'],
  ] as const) {
    const { hear, line, pace, written } = await halfWay({ columns: columns + 1 })
    for (let n = 0; n < 1000; n++) {
      hear(retry)
      pace.pass(100)
    }
    expect(line()).toContain(text)
    expect(written.join('')).not.toContain('\n')
    hear(booked(created(12_346)))
    expect(line()).toMatch(/^45% · /)
  }
})

test('a wait for access says since when, and ends with it', async () => {
  const { hear, line, pace } = await halfWay({ columns: 80 })
  const lost = failure('EGRESS_NOT_ALLOWED', {
    cluster: 'https://es.example',
    refused: 1,
    probes: 1,
    observed: 'status 403',
    status: 403,
    requestId: undefined,
  })
  const since = new Date(pace.date()).toISOString()
  hear({ type: 'blocked', failure: lost, since, waitedMs: 0, leftMs: 60_000, nextProbeMs: 1000 })
  expect(line()).toMatch(/^waiting for access since 03:16:39 · 45% · /)
  hear(booked(created(12_400)))
  expect(line()).toMatch(/^waiting for access/)
  hear({ type: 'unblocked', failure: lost, waitedMs: 20_000 })
  expect(line()).toMatch(/^45%/)
})

test('colours are only for a terminal that has them, and take no columns', async () => {
  const plain = await halfWay({ columns: 80 })
  const colored = await halfWay({ columns: 80, hasColors: true })
  const [one = '', other = ''] = [plain.line(), colored.line()]
  expect(other).toContain('\u001B[36m45%\u001B[39m')
  expect(one).not.toContain('\u001B')
  expect(stripVTControlCharacters(other)).toBe(one)
})

describe('in a log', () => {
  const lines = (written: readonly string[]) => written.map(line => JSON.parse(line) as Record<string, unknown>)

  test('the progress is a line every few seconds, if there is any', async () => {
    const { pace, hear, written } = await open({ isTTY: false })
    hear(standing())
    pace.pass(100_000)
    expect(lines(written)).toMatchObject([{ msg: 'progress', created: 0, percent: 0, file: 3, files: 10, underWay: 4 }])
    hear(standing({ ofRun: created(600), bytes: { read: 0.6 * GB, total: 1.2 * GB } }))
    pace.pass(5000)
    expect(lines(written)).toMatchObject([
      {},
      { created: 600, bytes: 0.6 * GB, bytesTotal: 1.2 * GB, percent: 50, etaMs: 105_000, elapsedMs: 105_000 },
    ])
  })

  test('retries are at most one line a minute', async () => {
    const { pace, hear, written } = await open({ isTTY: false })
    const retries = () => lines(written).flatMap(({ level, msg }) => (level === 'warn' ? [msg] : []))
    for (let n = 0; n < 3000; n++) {
      hear(retry)
      pace.pass(100)
    }
    // In 300 s: the first at once.
    expect(retries()).toHaveLength(6)
    expect(retries().slice(0, 2)).toEqual([
      'https://es.example is too busy (429): busy. Retrying 500 documents in 250 ms',
      'https://es.example is too busy (429): busy. Retrying 299,500 documents, 599 requests in the last minutes',
    ])
    expect(lines(written).find(({ msg }) => msg === 'progress')).toMatchObject({
      waitingFor: 'retry',
      code: 'CLUSTER_OVERLOADED',
    })
  })

  test('of 100,000 files, 10 are named', async () => {
    const { hear, written } = await open({ isTTY: false })
    for (let n = 0; n < 100_000; n++) hear({ type: 'loaded', name: `old-${n}` })
    for (let n = 0; n < 100_000; n++) hear({ type: 'input', name: `new-${n}` })
    expect(lines(written).map(({ msg }) => msg)).toEqual([
      ...Array.from({ length: 10 }, (_, n) => `old-${n} is already loaded`),
      '99,990 more are already loaded',
      ...Array.from({ length: 10 }, (_, n) => `reading new-${n}`),
    ])
  })
})

test('with quiet, retries are not shown', async () => {
  const { hear, written, pace } = await open({ isTTY: false, quiet: true })
  for (let n = 0; n < 1000; n++) hear(retry)
  pace.pass(100_000)
  expect(written).toEqual([])
})
