import { rm, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type UndoOptions, undo, verify } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { codeOf, lines, openRunWorld, type RunWorld } from '../../support/lab/run-world.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

async function takeBack({ stateDir, way }: RunWorld, run: string, more: Partial<UndoOptions> = {}) {
  return await undo({ ...(await way()), run, stateDir, ...more })
}

async function look({ stateDir, way }: RunWorld, run: string) {
  return await verify({ ...(await way()), run, stateDir })
}

async function withoutIndex(world: RunWorld, index = world.index): Promise<void> {
  await using direct = await connect(await world.way())
  await direct.client.indices.delete({ index })
}

describe('the documents of a run that a later run loaded again under the same ids', () => {
  test('belong to the later run: undo of the first run deletes none of them', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(30))
    const first = await world.load('a.ndjson')
    await withoutIndex(world)
    const second = await world.load('a.ndjson')
    expect(second).toMatchObject({ created: 30 })
    expect(second.run).not.toBe(first.run)
    for (const more of [{}, { force: true }, { dryRun: true }])
      expect(await codeOf(takeBack(world, first.run, more))).toContain(
        `UNDO_LOADED_AGAIN: run ${second.run} loaded documents of run ${first.run} again, under the same ids. Sluice deleted nothing`,
      )
    expect(lab.control.count(world.index)).toBe(30)
    expect(await look(world, first.run)).toMatchObject({
      ok: true,
      notes: [
        `${world.index} is a new index, not the one that the run was loaded into`,
        `run ${second.run} loaded documents of this run again, under the same ids. Those that are there belong to that run`,
      ],
    })
    expect(await look(world, second.run)).toMatchObject({ ok: true, found: 30, notes: [] })
    // Nothing of the first run is left, so the same command does not continue it.
    const undone = await takeBack(world, second.run)
    expect(undone).toMatchObject({ isComplete: true, deleted: 30 })
    expect(undone.goesBy).toBeUndefined()
    expect(await world.load('a.ndjson')).toMatchObject({ created: 30 })
  })

  test('also belong to it if it has loaded only one input of many, or is not finished', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(30))
    await writeFile(world.path('b.ndjson'), lines(20))
    const first = await world.load('a.ndjson', { source: [world.path('a.ndjson'), world.path('b.ndjson')] })
    await withoutIndex(world)
    const second = await world.load('b.ndjson')
    await world.killedAt(5)
    expect(await codeOf(takeBack(world, first.run))).toContain(`UNDO_LOADED_AGAIN: run ${second.run} `)
    expect(lab.control.count(world.index)).toBe(20)
    await takeBack(world, second.run)
    expect(await takeBack(world, first.run)).toMatchObject({ isComplete: true, deleted: 0 })
  })

  test('are not those of the same name in another file: a run of the same name is named by its path', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(30))
    const runId = `nightly-${process.pid}`
    const first = await world.load('a.ndjson', { runId })
    await withoutIndex(world)
    const second = await world.load('a.ndjson', { runId })
    expect(second.created).toBe(30)
    expect(second.checkpoint).not.toBe(first.checkpoint)
    expect(await codeOf(takeBack(world, first.checkpoint ?? ''))).toContain(
      `UNDO_LOADED_AGAIN: run ${second.checkpoint} loaded`,
    )
    expect(await takeBack(world, runId)).toMatchObject({ isComplete: true, deleted: 30 })
  })

  test('stay if documents name their index, and only one of the indices was made anew', async () => {
    await using world = await openRunWorld(lab)
    const rows = Array.from({ length: 20 }, (_, n) => `{"n":${n},"to":"${n % 2 === 0 ? 'even' : 'odd'}"}\n`).join('')
    await writeFile(world.path('a.ndjson'), rows)
    const load = async () => await world.load('a.ndjson', { index: `${world.index}-{to}` })
    const first = await load()
    await world.killedAt(12)
    await withoutIndex(world, `${world.index}-odd`)
    const second = await load()
    expect(second).toMatchObject({ created: 10, duplicate: 10 })
    expect(second.run).not.toBe(first.run)
    expect(await codeOf(takeBack(world, first.run))).toContain(`UNDO_LOADED_AGAIN: run ${second.run} `)
    expect(lab.control.count(`${world.index}-even`) + lab.control.count(`${world.index}-odd`)).toBe(20)
  })
})

test('a run that continues a file takes only its own part', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(30))
  const first = await world.load('a.ndjson')
  await writeFile(world.path('a.ndjson'), lines(50))
  const second = await world.load('a.ndjson')
  expect(second.created).toBe(20)
  expect((await look(world, first.run)).notes).toEqual([])
  expect(await takeBack(world, first.run)).toMatchObject({ isComplete: true, deleted: 30 })
  expect(await takeBack(world, second.run)).toMatchObject({ isComplete: true, deleted: 20 })
})

test('a run that finds a file under another name loads none of its documents, and undo of it deletes none', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(30))
  const first = await world.load('a.ndjson')
  await rm(world.path('a.ndjson'))
  await writeFile(world.path('moved.ndjson'), lines(30))
  await writeFile(world.path('b.ndjson'), lines(20, 100))
  const second = await world.load('b.ndjson', { source: [world.path('moved.ndjson'), world.path('b.ndjson')] })
  expect(second.created).toBe(20)
  expect(await takeBack(world, second.run)).toMatchObject({ isComplete: true, deleted: 20 })
  expect(await takeBack(world, first.run)).toMatchObject({ isComplete: true, deleted: 30 })
})

test('what a named run loaded behind the part of a killed run is not counted as that of the killed run', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(50))
  const first = await world.load('a.ndjson')
  await world.killedAt(30)
  const second = await world.load('a.ndjson', { runId: `named-${process.pid}` })
  expect(second).toMatchObject({ duplicate: 20 })
  expect(await look(world, first.run)).toMatchObject({ documents: 30, found: 30, unsettled: 0, foreign: 0 })
  expect(await takeBack(world, first.run)).toMatchObject({ isComplete: true, deleted: 30 })
  expect(lab.control.count(world.index)).toBe(20)
  expect(await look(world, second.run)).toMatchObject({ ok: true, found: 20 })
})

test('documents in an index to which the alias no longer leads are named, and undo does not forget their run', async () => {
  await using world = await openRunWorld(lab)
  const [old, now] = [`${world.index}-000001`, `${world.index}-000002`]
  const move = async (from: string | undefined, to: string) => {
    await using direct = await connect(await world.way())
    await direct.client.indices.create({ index: to }, { ignore: [400] })
    const alias = world.index
    const remove = from === undefined ? [] : [{ remove: { index: from, alias } }]
    await direct.client.indices.updateAliases({ actions: [...remove, { add: { index: to, alias } }] })
  }
  await move(undefined, old)
  await writeFile(world.path('a.ndjson'), lines(30))
  const { run } = await world.load('a.ndjson')
  await move(old, now)
  const note = `the run also stored documents in ${old}, to which ${world.index} no longer leads`
  expect(await look(world, run)).toMatchObject({ missing: 30, notes: [expect.stringContaining(note)] })
  const undone = await takeBack(world, run)
  expect(undone).toMatchObject({ isComplete: false, gone: 30, notes: [expect.stringContaining(note)] })
  await move(now, old)
  expect(await takeBack(world, run)).toMatchObject({ isComplete: true, deleted: 30, notes: [] })
})
