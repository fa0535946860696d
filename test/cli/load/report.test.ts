import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { recallTimeline } from '../../../src/features/report/kept-timeline.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder } from '../../support/command/sluice.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterEach(() => {
  lab.control.heal()
  lab.control.register('both')
})
afterAll(async () => await lab.close())

const lines = (documents: number) =>
  Array.from({ length: documents }, (_, n) => `{"n":${n},"secret":"VALUE"}\n`).join('')

async function world() {
  const work = await folder()
  const stateDir = join(work.path, 'state')
  const env = { ...lab.env, SLUICE_STATE_DIR: stateDir, SLUICE_PREFLIGHT_CONNECTIONS: '1' }
  const at = (name: string) => join(work.path, name)
  return {
    stateDir,
    at,
    page: async (name: string) => await readFile(at(name), 'utf8'),
    run: async (args: readonly string[], more: Record<string, string> = {}) =>
      await sluice(args, { cwd: work.path, env: { ...env, ...more } }),
    [Symbol.asyncDispose]: async () => await work[Symbol.asyncDispose](),
  }
}

test('a report of a run has its charts, reasons and next step; runs makes the same page later', async () => {
  await using work = await world()
  const name = 'orders <b>.ndjson'
  await writeFile(work.at(name), `${lines(40)}VALUE, no json\n`)
  lab.control.plant({ bulk: { status: 429, times: 1 } })
  const load = ['ingest', name, '--index', 'reported', '--batch-docs', '10', '--report', 'run.html']
  const loaded = await work.run(load)
  expect(loaded).toMatchObject({ code: 1, stderr: expect.stringContaining('report: run.html') as string })
  const page = await work.page('run.html')
  for (const part of [
    '1 of 41 documents was rejected.',
    'DOCUMENT_NOT_JSON',
    'orders &lt;b&gt;.ndjson, line 41',
    'Sluice retried 1 request.',
    'Documents per second',
    /127\.0\.0\.[23]</,
    'sluice replay',
  ])
    expect(page).toMatch(part)
  const { ELASTICSEARCH_API_KEY: key = '', STATIC_PROXY_URL: proxy = '' } = lab.env
  for (const secret of [key, new URL(proxy).password, 'VALUE']) {
    expect(secret).not.toBe('')
    expect(page).not.toContain(secret)
  }
  expect((await stat(work.at('run.html'))).mode & 0o777).toBe(0o600)

  const run = /^Run (\S+) finished/.exec(loaded.stdout)?.[1] ?? ''
  const later = await work.run(['runs', run, '--report'])
  expect(later).toMatchObject({ code: 0, stdout: `The report is in sluice-report-${run}.html.\n` })
  const again = await work.page(`sluice-report-${run}.html`)
  const charts = (text: string) => text.slice(text.indexOf('Over time'), text.indexOf('<h2>Input'))
  expect(charts(again)).toBe(charts(page))
  expect(await readdir(join(work.stateDir, 'timelines'))).toEqual([`${run}.json`])
  expect(await work.run(['runs', 'rm', run])).toMatchObject({ code: 0 })
  expect(await readdir(join(work.stateDir, 'timelines'))).toEqual([])
})

test('a run that was refused before it began has a report of the cause and the fix', async () => {
  await using work = await world()
  await writeFile(work.at('a.ndjson'), lines(3))
  lab.control.register('none')
  const load = ['ingest', 'a.ndjson', '--index', 'refused', '--report', 'run.html']
  expect(await work.run(load)).toMatchObject({ code: 3 })
  const page = await work.page('run.html')
  expect(page).toContain('The load stopped before the first document.')
  expect(page).toContain('EGRESS_NOT_ALLOWED')
  expect(page).toContain('sluice filter create')
  // The page of a good run takes its place.
  lab.control.register('both')
  expect(await work.run([...load, '--quiet'])).toMatchObject({ code: 0, stderr: '' })
  expect(await work.page('run.html')).toContain('All 3 documents are stored.')
})

test('a run that goes on continues its charts', { tags: 'long' }, async () => {
  await using work = await world()
  await writeFile(work.at('a.ndjson'), lines(30))
  const load = ['ingest', 'a.ndjson', '--index', 'continued', '--batch-docs', '5', '--concurrency', '1']
  lab.control.plant({ bulk: { status: 403, after: 2 } })
  const stopped = await work.run(load)
  expect(stopped.code).not.toBe(0)
  lab.control.heal()
  const resumed = await work.run([...load, '--report', 'run.html'])
  expect(resumed.code).toBe(0)
  const run = /^Run (\S+) finished/.exec(resumed.stdout)?.[1] ?? ''
  const kept = await recallTimeline(work.stateDir, run)
  expect(kept?.samples.processes).toHaveLength(2)
  expect(kept?.samples.buckets.reduce((sum, { taken }) => sum + taken, 0)).toBe(30)
  expect(await work.page('run.html')).toContain('2 processes worked on this run.')
})

test('a report never replaces another file, and one that cannot be written changes no exit code', async () => {
  await using work = await world()
  await writeFile(work.at('a.ndjson'), lines(3))
  const load = ['ingest', '--index', 'kept', '--report']
  expect(await work.run([...load, 'a.ndjson', 'a.ndjson'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('a.ndjson exists and is not a report of Sluice') as string,
  })
  expect(await readFile(work.at('a.ndjson'), 'utf8')).toBe(lines(3))
  expect(lab.control.count('kept')).toBe(0)
  await mkdir(work.at('gone'))
  const removing = lab.control.count('kept')
  const running = work.run([...load, 'gone/run.html', 'a.ndjson'])
  while (lab.control.count('kept') === removing) {
    await rm(work.at('gone'), { recursive: true, force: true })
    await new Promise(resolve => setImmediate(resolve))
  }
  await rm(work.at('gone'), { recursive: true, force: true })
  expect(await running).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(
      'the report could not be written to gone/run.html: the folder does not exist',
    ) as string,
  })
  expect(await work.run(['runs', '--report', 'x.html'])).toMatchObject({ code: 2 })
})
