// @module-tag long
/** What becomes of a run when another one of the same command takes its place: it can still be verified, undone and forgotten. */
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { undo, verify } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { listRuns, forgetRun } from '../../../src/cli/commands/run-list.js'
import { type RunWorld, codeOf, lines, openRunWorld } from '../../support/lab/run-world.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

async function look({ stateDir, way }: RunWorld, run: string) {
  return await verify({ ...(await way()), run, stateDir })
}

async function takeBack({ stateDir, way }: RunWorld, run: string) {
  return await undo({ ...(await way()), run, stateDir })
}

/** A file that was loaded, and loaded again under other ids. */
async function loadedTwice(world: RunWorld): Promise<[string, string]> {
  await writeFile(world.path('a.ndjson'), lines(50))
  const { run: first } = await world.load('a.ndjson')
  const { run: second } = await world.load('a.ndjson', { again: true })
  expect(lab.control.count(world.index)).toBe(100)
  return [first, second]
}

test('a run that was loaded again is verified and undone by its name; the later one stays', async () => {
  await using world = await openRunWorld(lab)
  const [first, second] = await loadedTwice(world)
  for (const run of [first, second])
    expect(await look(world, run)).toMatchObject({ run, ok: true, found: 50, notes: [] })
  expect((await listRuns(world.stateDir)).runs).toMatchObject([
    { run: second, isEarlier: false },
    { run: first, isEarlier: true },
  ])
  expect(await takeBack(world, first)).toMatchObject({ isComplete: true, deleted: 50, goesBy: second })
  expect(await codeOf(look(world, first))).toContain('RUN_UNDONE')
  expect(await look(world, second)).toMatchObject({ ok: true, found: 50 })
  expect(await world.load('a.ndjson')).toMatchObject({ created: 0, requests: 0 })
})

test('when the last run is undone, the same load goes by the one before: it doubles nothing', async () => {
  await using world = await openRunWorld(lab)
  const [first, second] = await loadedTwice(world)
  expect(await takeBack(world, second)).toMatchObject({ isComplete: true, deleted: 50, goesBy: first })
  expect(await world.load('a.ndjson')).toMatchObject({ created: 0, requests: 0 })
  expect(lab.control.count(world.index)).toBe(50)
  const { goesBy } = await takeBack(world, first)
  expect(goesBy).toBeUndefined()
  expect(await world.load('a.ndjson')).toMatchObject({ created: 50 })
})

test('so it does where the one before was read to its end and had too many rejections', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), `${lines(49)}[]\n`)
  expect(await codeOf(world.load('a.ndjson', { maxRejected: '1%' }))).toMatch(/^TOO_MANY_REJECTED/)
  const { run } = await world.checkpoint()
  const later = await world.load('a.ndjson', { again: true })
  expect(lab.control.count(world.index)).toBe(98)
  expect(await takeBack(world, later.run)).toMatchObject({ isComplete: true, deleted: 49, goesBy: run })
  // Its rejected document waits to be replayed.
  expect(await codeOf(world.load('a.ndjson'))).toMatch(/^REJECTED_NOT_REPLAYED/)
  expect(lab.control.count(world.index)).toBe(49)
})

test('appended lines that a later run loaded are not foreign to the earlier one', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(50).trimEnd())
  const { run: first } = await world.load('a.ndjson')
  await appendFile(world.path('a.ndjson'), `\n${lines(10, 51)}`)
  const { run: second } = await world.load('a.ndjson')
  for (const run of [first, second]) expect(await look(world, run)).toMatchObject({ ok: true, foreign: 0 })
  expect(await takeBack(world, second)).toMatchObject({ isComplete: true, deleted: 10, goesBy: first })
  // The lines are there, and are loaded once more. Those before them are not.
  expect(await world.load('a.ndjson')).toMatchObject({ created: 10, duplicate: 0 })
  expect(lab.control.count(world.index)).toBe(60)
})

test('if a later run continued, deleted documents are not loaded again, and the message says so', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(50))
  const { run: first } = await world.load('a.ndjson')
  await appendFile(world.path('a.ndjson'), lines(10, 51))
  const { run: second } = await world.load('a.ndjson')
  const { isComplete, goesBy, continuedBy, notes } = await takeBack(world, first)
  expect({ isComplete, goesBy, continuedBy }).toEqual({ isComplete: true, goesBy: second, continuedBy: second })
  expect(notes).toEqual([expect.stringContaining(`was continued by run ${second}, which takes all before its own`)])
  expect(await world.load('a.ndjson')).toMatchObject({ created: 0, requests: 0 })
  expect(lab.control.count(world.index)).toBe(10)
  // What the message advises.
  expect(await takeBack(world, second)).toMatchObject({ isComplete: true, deleted: 10 })
  expect(await world.load('a.ndjson')).toMatchObject({ created: 60 })
})

test('the same is said if another command continued', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(50))
  const { run: first } = await world.load('a.ndjson')
  await appendFile(world.path('a.ndjson'), lines(10, 51))
  const { run: second } = await world.load('*.ndjson')
  expect(await takeBack(world, first)).toMatchObject({ isComplete: true, continuedBy: second })
  expect(await takeBack(world, second)).toMatchObject({ isComplete: true, deleted: 10 })
  expect(await world.load('a.ndjson')).toMatchObject({ created: 60 })
})

test('an earlier run is forgotten by its name', async () => {
  await using world = await openRunWorld(lab)
  const [first, second] = await loadedTwice(world)
  expect((await forgetRun(world.stateDir, first)).runs).toMatchObject([{ run: first, isEarlier: true }])
  expect((await listRuns(world.stateDir)).runs).toMatchObject([{ run: second }])
  expect(await codeOf(look(world, first))).toContain('RUN_NOT_FOUND')
})

test('of runs with one name, the last is meant, and where the other is, is said', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(50))
  const runId = 'nightly'
  await world.load('a.ndjson', { runId })
  await writeFile(world.path('a.ndjson'), lines(20, 7))
  await world.load('a.ndjson', { runId })
  const path = join(world.stateDir, 'runs', `${runId}.jsonl`)
  const notes = [
    `an earlier run with other content had the same name. To verify it, pass the path of its checkpoint: ${path}`,
  ]
  expect(await look(world, runId)).toMatchObject({ ok: true, found: 20, notes })
  expect(await look(world, path)).toMatchObject({ ok: true, found: 50 })
})
