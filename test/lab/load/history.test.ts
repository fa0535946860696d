// @module-tag long
/** What the state folder tells of runs afterwards: how each ended, also one that never began, and what is known once a run is removed. */
import { appendFile, mkdir, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isSluiceError, verify } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { endOfRun, listRuns } from '../../../src/cli/commands/run-list.js'
import { spoolFolderOf } from '../../../src/features/spool/segments.js'
import { readRun } from '../../../src/run/state/runs/runs.js'
import { codeOf, lines, openRunWorld, type RunWorld } from '../../support/lab/run-world.js'
import { runFiles } from '../../support/state/stored-runs.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

async function refusedRun(run: Promise<unknown>): Promise<string | undefined> {
  return await run.then(
    () => 'no failure',
    (error: unknown) => (isSluiceError(error) ? error.run : 'a bug'),
  )
}

/** Makes all runs older than any limit of days. */
async function age({ stateDir }: RunWorld): Promise<void> {
  for (const path of await runFiles(stateDir)) await utimes(path, 1, 1)
}

test('every run is listed with how it ended: loaded, nothing new, refused, and from a stream', async () => {
  await using world = await openRunWorld(lab)
  const { stateDir } = world
  await writeFile(world.path('a.ndjson'), lines(50))
  const loaded = await world.load('a.ndjson')
  const nothing = await world.load('a.ndjson')
  const missing = await refusedRun(world.load('no.ndjson'))
  const { target } = await world.way()
  const wrong = { ...target, apiKey: Buffer.from('id:pl4nted').toString('base64') }
  const refused = await refusedRun(world.load('a.ndjson', { target: wrong, again: true }))
  const streamed = await world.load('a.ndjson', { source: Readable.from(['{"n":1}\n']) })
  expect(await codeOf(world.load('a.ndjson', { dryRun: true, target: wrong }))).toContain('CLUSTER_AUTH_REJECTED')

  const { runs } = await listRuns(stateDir)
  const { index } = world
  expect(runs).toMatchObject([
    { run: streamed.run, status: 'finished', exit: 0, index, counts: { created: 1 } },
    { run: refused, status: 'failed', exit: 3, index, failure: { code: 'CLUSTER_AUTH_REJECTED' } },
    { run: missing, status: 'failed', exit: 2, index, failure: { code: 'INPUT_NOT_FOUND' } },
    { run: nothing.run, status: 'finished', exit: 0, index, counts: { read: 0 } },
    { run: loaded.run, status: 'finished', exit: 0, index, counts: { created: 50 }, isEarlier: false },
  ])
  for (const receipt of [loaded, nothing, streamed])
    expect(await endOfRun(stateDir, receipt.run)).toEqual(JSON.parse(JSON.stringify(receipt)))
  for (const folder of ['runs', 'history'])
    for (const name of await readdir(join(stateDir, folder)))
      expect(await readFile(join(stateDir, folder, name), 'utf8')).not.toMatch(/pl4nted|aWQ6cGw0bnRlZ/)
  expect(await world.load('a.ndjson')).toMatchObject({ created: 0, requests: 0 })
})

test('a finished run stays, however old, as long as spooled stdin that it has loaded', async () => {
  await using world = await openRunWorld(lab)
  const { stateDir } = world
  const stdin = Readable.from([Buffer.from(lines(20))], { objectMode: false })
  const { run } = await world.load('-', { source: '-', stdin, spool: true })
  const [path = ''] = await runFiles(stateDir)
  const copy = (await readRun(path))?.inputs.at(0)?.copy ?? ''
  // As if the process had been killed before it removed the spool.
  const segment = join(spoolFolderOf(stateDir, 'left'), copy)
  await mkdir(dirname(segment), { recursive: true })
  await writeFile(segment, lines(20))
  await age(world)
  await writeFile(world.path('a.ndjson'), lines(5))
  await world.load('a.ndjson')
  const listed = async () => (await listRuns(stateDir)).runs.find(one => one.run === run)
  expect(await listed()).toMatchObject({ spool: { ids: [copy] } })
  await rm(segment)
  await world.load('a.ndjson')
  expect(await listed()).toBeUndefined()
})

test('a run that was interrupted keeps its name, and its last end', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(50))
  const abort = AbortSignal.abort('enough')
  const never = await refusedRun(world.load('a.ndjson', { signal: abort, runId: 'nightly' }))
  expect(never).toBe('nightly')
  await writeFile(world.path('a.ndjson'), `${lines(49)}[]\n`)
  expect(await codeOf(world.load('a.ndjson', { runId: 'nightly', maxRejected: 0 }))).toContain('TOO_MANY_REJECTED')
  expect(await endOfRun(world.stateDir, 'nightly')).toMatchObject({ exit: 3, status: 'failed', read: 50 })
  const { runs } = await listRuns(world.stateDir)
  expect(runs).toMatchObject([
    { run: 'nightly', failure: { code: 'TOO_MANY_REJECTED' } },
    { run: 'nightly', failure: { code: 'RUN_INTERRUPTED' }, exit: 5 },
  ])
})

test('many inputs are not written twice, and all of them are in the receipt that is shown again', async () => {
  await using world = await openRunWorld(lab)
  const names = Array.from({ length: 120 }, (_, at) => `in-${String(at).padStart(3, '0')}.ndjson`)
  for (const name of names) await writeFile(world.path(name), lines(2))
  const receipt = await world.load('in-*.ndjson')
  const [path = ''] = await runFiles(world.stateDir)
  const last = (await readFile(path, 'utf8')).trimEnd().split('\n').at(-1) ?? ''
  expect(last.length).toBeLessThan(2500)
  const shown = await endOfRun(world.stateDir, receipt.run)
  expect(shown?.inputs?.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(receipt.inputs)
  await writeFile(world.path('in-x.ndjson'), lines(2))
  const more = await world.load('in-*.ndjson')
  expect((await listRuns(world.stateDir)).runs[0]).toMatchObject({ run: more.run, inputCount: 121 })
})

test('inputs of a removed run are known: nothing is loaded twice, appended lines are loaded, a renamed file is the same', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(50))
  const { run } = await world.load('a.ndjson')
  await age(world)
  await writeFile(world.path('b.ndjson'), lines(10))
  await world.load('b.ndjson', { keepDays: 1 })
  expect((await listRuns(world.stateDir)).runs.map(one => one.run)).not.toContain(run)
  expect(await codeOf(verify({ ...(await world.way()), run, stateDir: world.stateDir }))).toContain('RUN_NOT_FOUND')

  const known = await world.load('a.ndjson')
  expect(known).toMatchObject({ created: 0, requests: 0 })
  expect(known.inputs).toMatchObject([{ alreadyLoaded: true, loadedBy: { run } }])
  await rename(world.path('a.ndjson'), world.path('c.ndjson'))
  await appendFile(world.path('c.ndjson'), lines(5, 51))
  const grown = await world.load('c.ndjson')
  expect(grown).toMatchObject({ created: 5, duplicate: 0 })
  expect(grown.inputs).toMatchObject([{ resumedAt: 51, read: 5, loadedAs: world.path('a.ndjson') }])
  expect(lab.control.count(world.index)).toBe(65)
  await rename(world.path('c.ndjson'), world.path('d.ndjson'))
  expect((await world.load('d.ndjson')).inputs).toMatchObject([
    { alreadyLoaded: true, loadedAs: world.path('c.ndjson') },
  ])
  expect((await world.load('d.ndjson')).inputs.at(0)).not.toHaveProperty('loadedAs')
})

test('a run that is not finished is not removed: the same command continues it', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(50))
  const { run } = await world.load('a.ndjson')
  await world.killedAt(20)
  await age(world)
  await writeFile(world.path('b.ndjson'), lines(10))
  await world.load('b.ndjson', { keepRuns: 1, keepDays: 1 })
  expect(await world.load('a.ndjson')).toMatchObject({ run, duplicate: 30, created: 20 })
})

test('a state folder that cannot be written is named once, without a second attempt', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(5))
  await writeFile(world.path('state'), '')
  const warnings: string[] = []
  const load = world.load('a.ndjson', {
    onEvent: event => void (event.type === 'warning' && warnings.push(event.message)),
  })
  expect(await codeOf(load)).toContain('STATE_UNWRITABLE')
  expect(warnings).toEqual([])
  await rm(world.path('state'))
})
