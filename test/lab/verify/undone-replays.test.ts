/** Undo of a run deletes what replays of its dead letters stored. No replay may take these documents for stored. */
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type IngestEvent, type Receipt, type ReplayOptions, replay, undo } from '../../../src/index.js'
import { listRuns } from '../../../src/cli/commands/run-list.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { type RunWorld, codeOf, lines, openRunWorld } from '../../support/lab/run-world.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

async function takeBack({ stateDir, way }: RunWorld, run: string, more: object = {}) {
  return await undo({ ...(await way()), run, stateDir, ...more })
}

async function again(world: RunWorld, name: string, more: Partial<ReplayOptions> = {}): Promise<Receipt> {
  const { stateDir, way, path } = world
  return await replay({ ...(await way()), stateDir, source: path(name), deadLetters: path('again.ndjson'), ...more })
}

/** Makes an object of each line that is none. */
async function repair({ path }: RunWorld, name: string): Promise<void> {
  const text = await readFile(path(name), 'utf8')
  await writeFile(path(name), text.replaceAll('"line":"no"', '"document":{"n":0}'))
}

/** A run with one document stored, and one rejected, repaired and replayed. */
async function replayed(world: RunWorld) {
  await writeFile(world.path('a.ndjson'), `${lines(1)}no\n`)
  const load = await world.load('a.ndjson')
  expect(load).toMatchObject({ created: 1, rejected: 1 })
  await repair(world, 'dead.ndjson')
  const sent = await again(world, 'dead.ndjson')
  expect(sent).toMatchObject({ rejected: 0 })
  return { run: load.run, sent }
}

async function listed({ stateDir }: RunWorld, run: string) {
  return (await listRuns(stateDir)).runs.find(one => one.run === run)
}

test('a replay keeps the documents that undo of the run deleted, and sends them if it is told to', async () => {
  await using world = await openRunWorld(lab)
  const { run, sent } = await replayed(world)
  // It notes that nothing is new, and would hide the other one.
  expect(await again(world, 'dead.ndjson')).toMatchObject({ created: 0, inputs: [{ alreadyLoaded: true }] })
  expect(await takeBack(world, run)).toMatchObject({ isComplete: true, deleted: 2 })
  expect(await listed(world, run)).toMatchObject({ undone: { deleted: 2 } })
  expect(await listed(world, sent.run)).toMatchObject({ undone: { deleted: 0, with: run } })
  expect(await codeOf(takeBack(world, sent.run))).toMatch(
    new RegExp(`^RUN_UNDONE: run ${sent.run} was undone on .*: undo of run ${run} deleted its documents$`),
  )
  const warnings: string[] = []
  const onEvent = (event: IngestEvent) => void (event.type === 'warning' && warnings.push(event.message))
  expect(await again(world, 'dead.ndjson', { onEvent })).toMatchObject({ read: 1, created: 0, rejected: 1 })
  expect(warnings).toEqual([
    expect.stringContaining(`run ${run} was undone, and 1 dead letter belongs to it. Sluice did not send it`),
  ])
  const kept = JSON.parse(await readFile(world.path('again.ndjson'), 'utf8')) as object
  expect(kept).toMatchObject({
    line: '{"n":0}',
    type: 'DOCUMENT_NOT_JSON',
    reason: expect.stringMatching(/^not one JSON object/) as string,
  })
  expect(await again(world, 'again.ndjson', { again: true, deadLetters: false })).toMatchObject({ read: 1, created: 1 })
  expect(lab.control.count(world.index)).toBe(1)
})

test('after the run was loaded again, a replay sends only the dead letters of the new run', async () => {
  await using world = await openRunWorld(lab)
  const { run } = await replayed(world)
  await takeBack(world, run)
  const second = await world.load('a.ndjson')
  expect(second).toMatchObject({ created: 1, rejected: 1 })
  await repair(world, 'dead.ndjson')
  const once = await again(world, 'dead.ndjson')
  expect(once).toMatchObject({ read: 2, created: 1, rejected: 1 })
  expect(lab.control.count(world.index)).toBe(2)
  expect(await again(world, 'dead.ndjson', { again: true })).toMatchObject({ created: 1, duplicate: 1 })
})

test('also if the second load was undone, too', async () => {
  await using world = await openRunWorld(lab)
  const { run } = await replayed(world)
  await takeBack(world, run)
  const second = await world.load('a.ndjson')
  await repair(world, 'dead.ndjson')
  await takeBack(world, second.run)
  expect(await again(world, 'dead.ndjson')).toMatchObject({ created: 0, rejected: 2 })
  expect(lab.control.count(world.index)).toBe(0)
})

test('documents that a replay rejected again belong to the first run', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), `${lines(1)}no\n`)
  const { run } = await world.load('a.ndjson')
  const first = await again(world, 'dead.ndjson')
  expect(first).toMatchObject({ rejected: 1 })
  await repair(world, 'again.ndjson')
  const second = await again(world, 'again.ndjson', { deadLetters: world.path('third.ndjson') })
  expect(second).toMatchObject({ created: 1 })
  expect(await takeBack(world, run)).toMatchObject({ isComplete: true, deleted: 2 })
  for (const one of [first, second]) expect(await listed(world, one.run)).toMatchObject({ undone: { with: run } })
  const third = { deadLetters: world.path('third.ndjson') }
  expect(await again(world, 'again.ndjson', third)).toMatchObject({ created: 0, rejected: 1 })
  expect(await again(world, 'third.ndjson', { again: true })).toMatchObject({ created: 1 })
})

test('an undo that keeps a document has deleted the others all the same', async () => {
  await using world = await openRunWorld(lab)
  const { run, sent } = await replayed(world)
  const [id = ''] = lab.control.ids(world.index).filter(one => one.endsWith('-1'))
  await world.bulk([{ index: { _id: id } }, { n: 100 }])
  expect(await takeBack(world, run)).toMatchObject({ isComplete: false, deleted: 1, changed: 1 })
  expect(await listed(world, sent.run)).toMatchObject({ undone: { with: run, isPart: true } })
  expect(await again(world, 'dead.ndjson')).toMatchObject({ created: 1, duplicate: 0 })
  expect(lab.control.count(world.index)).toBe(2)
})

test('an undo that could delete nothing has undone no replay', async () => {
  await using world = await openRunWorld(lab)
  const { run, sent } = await replayed(world)
  lab.control.plant({ items: { status: 403, type: 'cluster_block_exception' } })
  expect(await takeBack(world, run)).toMatchObject({ isComplete: false, deleted: 0, failed: 2 })
  lab.control.heal()
  expect((await listed(world, sent.run))?.undone).toBeUndefined()
  expect(await again(world, 'dead.ndjson')).toMatchObject({ created: 0, duplicate: 1 })
  expect(await takeBack(world, run, { dryRun: true })).toMatchObject({ wouldDelete: 2 })
  expect(await again(world, 'dead.ndjson')).toMatchObject({ read: 0 })
})

test('a replay of dead letters of several runs is undone in part', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('b.ndjson'), 'no\n')
  const other = await world.load('b.ndjson', { format: 'ndjson', ids: 'cluster' })
  const { run, sent } = await replayed(world)
  expect(lab.control.count(world.index)).toBe(3)
  expect(sent).toMatchObject({ created: 2 })
  const undone = await takeBack(world, run)
  expect(undone).toMatchObject({ isComplete: true, deleted: 2 })
  expect(undone.notes).toEqual([expect.stringContaining(`rejected documents of ${other.run}`)])
  expect(await listed(world, sent.run)).toMatchObject({ undone: { with: run, isPart: true } })
})

test('replays to another index, and of other runs, stay as they are', async () => {
  await using world = await openRunWorld(lab)
  const { run, sent } = await replayed(world)
  const elsewhere = await again(world, 'dead.ndjson', { index: `${world.index}-other` })
  await writeFile(world.path('b.ndjson'), 'no\n')
  await world.load('b.ndjson', { format: 'ndjson', deadLetters: world.path('b.dead') })
  await repair(world, 'b.dead')
  const other = await again(world, 'b.dead')
  await takeBack(world, run)
  expect(await listed(world, sent.run)).toMatchObject({ undone: { with: run } })
  for (const one of [elsewhere, other]) expect((await listed(world, one.run))?.undone).toBeUndefined()
  expect(await again(world, 'b.dead')).toMatchObject({ read: 0 })
  expect(await again(world, 'dead.ndjson', { index: `${world.index}-other` })).toMatchObject({ read: 0 })
})

test('a later replay that continued behind it is forgotten, but is not undone', async () => {
  await using world = await openRunWorld(lab)
  const { run } = await replayed(world)
  await writeFile(world.path('b.ndjson'), 'no\n')
  await world.load('b.ndjson', { format: 'ndjson', deadLetters: world.path('b.dead') })
  await repair(world, 'b.dead')
  await appendFile(world.path('dead.ndjson'), await readFile(world.path('b.dead')))
  const behind = await again(world, 'dead.ndjson')
  expect(behind).toMatchObject({ read: 1, created: 1 })
  await takeBack(world, run)
  expect(await listed(world, behind.run)).toMatchObject({ status: 'finished', counts: { created: 1 } })
  expect((await listed(world, behind.run))?.undone).toBeUndefined()
  expect(await again(world, 'dead.ndjson')).toMatchObject({ rejected: 1, duplicate: 1 })
})
