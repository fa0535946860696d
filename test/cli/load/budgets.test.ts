// @module-tag long
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { type Folder, folder, sluice, startSluice } from '../../support/command/sluice.js'

// Each test starts processes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterEach(() => lab.control.heal())
afterAll(async () => await lab.close())

const lines = (documents: number) =>
  Array.from({ length: documents }, (_, n) => `{"n":${n},"text":"${(n * 2_654_435_761).toString(36)}"}\n`).join('')

function surroundings(work: Folder) {
  const env = { ...lab.env, SLUICE_STATE_DIR: join(work.path, 'state'), SLUICE_PREFLIGHT_CONNECTIONS: '1' }
  return { cwd: work.path, env }
}

const json = (stdout: string) => JSON.parse(stdout) as Receipt
const inBatches = ['--batch-docs', '10', '--concurrency', '1', '--json']

// SIGHUP: the terminal was closed, or the ssh was lost.
test.each(['SIGTERM', 'SIGHUP'] as const)(
  'after %s a request without an answer is given up when the grace is over: exit code 5',
  async signal => {
    await using work = await folder()
    await writeFile(join(work.path, 'a.ndjson'), lines(500))
    const index = `cli-grace-${signal.toLowerCase()}`
    const command = ['ingest', 'a.ndjson', '--index', index, '--grace', '100ms', ...inBatches]
    lab.control.plant({ hold: { after: 5, stored: true } })
    const run = startSluice(command, surroundings(work))
    await eventually(() => expect(lab.control.count(index)).toBe(60))
    run.child.kill(signal)
    const { code, stdout, stderr } = await run.ended
    expect({ code, stderr }).toEqual({
      code: 5,
      stderr: expect.stringContaining(`documents: ${signal}`) as string,
    })
    expect(json(stdout)).toMatchObject({ status: 'interrupted', created: 50, unknown: 10 })

    lab.control.heal()
    const resumed = await sluice(command, surroundings(work))
    expect(resumed.code).toBe(0)
    expect(json(resumed.stdout)).toMatchObject({ created: 490, duplicate: 10, unknown: 0 })
    expect(lab.control.count(index)).toBe(500)
  },
)

test('a time budget ends the run in time, with exit code 5; the same command goes on', async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'a.ndjson'), lines(500))
  const command = ['ingest', 'a.ndjson', '--index', 'cli-time', ...inBatches]
  lab.control.plant({ hold: { after: 5 } })
  const { code, stdout, stderr } = await sluice([...command, '--time-budget', '6s'], surroundings(work))
  expect(code).toBe(5)
  // A busy machine may take most of the time to start.
  expect(stderr).toMatch(/error: the time budget of 6 s is spent after (\d|[1-5]0) documents/)
  expect(stderr).toContain('Run the same command again')
  expect(json(stdout)).toMatchObject({ status: 'interrupted', failure: { code: 'TIME_BUDGET_SPENT', exit: 5 } })

  lab.control.heal()
  const resumed = await sluice([...command, '--time-budget', '14m'], surroundings(work))
  expect({ code: resumed.code, count: lab.control.count('cli-time') }).toEqual({ code: 0, count: 500 })
})

test('a time budget counts from the start of the process', async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'a.ndjson'), lines(10))
  const command = ['ingest', 'a.ndjson', '--index', 'cli-start', ...inBatches]
  // Node itself takes longer to start.
  const { code, stdout } = await sluice([...command, '--time-budget', '1ms'], surroundings(work))
  expect(code).toBe(5)
  expect(JSON.parse(stdout)).toMatchObject({ failure: { code: 'TIME_BUDGET_SPENT', evidence: { settled: 0 } } })
  expect(lab.control.count('cli-start')).toBe(0)
})

test('a byte budget is metered and kept: exit code 5 until all is loaded', async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'a.ndjson'), lines(3000))
  const command = ['ingest', 'a.ndjson', '--index', 'cli-bytes', '--batch-docs', '100']
  // Compressed, all of it would fit.
  const limits = ['--byte-budget', '120kb', '--compress', 'none']
  const codes: (number | null)[] = []
  for (let code: number | null = 5; code === 5 && codes.length < 20; codes.push(code)) {
    const ended = await sluice([...command, ...limits, '--json'], surroundings(work))
    code = ended.code
    const { bytes } = json(ended.stdout)
    expect(bytes.sent + bytes.received).toBeLessThanOrEqual(120_000)
    if (codes.length > 0) continue
    expect(ended.stderr).toContain('error: the byte budget of 120,000 bytes is spent')
  }
  expect(codes.length).toBeGreaterThan(2)
  expect(codes.at(-1)).toBe(0)
  expect(lab.control.count('cli-bytes')).toBe(3000)
})

test('a byte budget that the first document does not fit into is refused: exit code 2, and the number that would do', async () => {
  await using work = await folder()
  const text = Array.from({ length: 8000 }, (_, n) => (n * 2_654_435_761).toString(36)).join('')
  await writeFile(join(work.path, 'a.ndjson'), `{"text":"${text}"}\n`)
  const command = ['ingest', 'a.ndjson', '--index', 'cli-document', '--compress', 'none', '--byte-budget']
  const refused = await sluice([...command, '30kb'], surroundings(work))
  expect(refused.code).toBe(2)
  const [, enough = ''] =
    /--byte-budget: 30,000 bytes is too small: .* Set at least ([\d,]+)/.exec(refused.stderr) ?? []
  expect((await sluice([...command, enough.replaceAll(',', '')], surroundings(work))).code).toBe(0)
})

test('more documents rejected than --max-rejected allows: exit code 3', async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'a.ndjson'), `${'nothing\n'.repeat(5)}${lines(500)}`)
  const command = ['ingest', 'a.ndjson', '--index', 'cli-rejected', ...inBatches]
  const { code, stdout } = await sluice([...command, '--max-rejected', '4'], surroundings(work))
  expect(code).toBe(3)
  expect(json(stdout).failure).toMatchObject({ code: 'TOO_MANY_REJECTED' })
  const again = await sluice([...command, '--max-rejected', '1%'], surroundings(work))
  expect(again.code).toBe(1)
  expect(json(again.stdout)).toMatchObject({ rejected: 5, created: 500 })
})

test('a cluster that refuses for longer than --max-elapsed allows: exit code 4', async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'a.ndjson'), lines(50))
  lab.control.plant({ bulk: { status: 429 } })
  const command = ['ingest', 'a.ndjson', '--index', 'cli-elapsed', '--max-elapsed', '500ms', ...inBatches]
  const { code, stdout } = await sluice(command, surroundings(work))
  expect(code).toBe(4)
  expect(json(stdout)).toMatchObject({ created: 0, unknown: 0, failure: { code: 'GATEWAY_LIMITED' } })
})
