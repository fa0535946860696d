// @module-tag long
/**
 * Runs whose state an older version wrote, when it kept one JSON file for each command. The folders of fixtures/old-state were made by
 * that version: `work` is the folder of the command, and `stored.ndjson` holds the documents that the cluster had by then.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { knownRuns } from '../../../src/run/state/runs/runs.js'
import { type RestoredWorld, restoreWorld, storedNumbers } from '../../support/state/restored.js'

const FIXTURES = new URL('../../../fixtures/old-state/', import.meta.url).pathname
const index = 'old-state'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

interface OldWorld extends RestoredWorld {
  /** The run that the older version began last. */
  readonly began: string
}

/** Puts everything back as the older version left it. */
async function restore(name: string): Promise<OldWorld> {
  const world = await restoreWorld(lab, index, join(FIXTURES, name))
  let began = ''
  for (const part of ['earlier', 'runs']) {
    const states = join(world.path, 'state', part)
    for (const file of await readdir(states).catch(() => []))
      began = (JSON.parse(await readFile(join(states, file), 'utf8')) as { run: string }).run
  }
  return { ...world, began }
}

const stored = () => storedNumbers(lab, index)

const numbers = (count: number, from = 1) => Array.from({ length: count }, (_, n) => from + n)

/** The files of the runs, and that all of them can be read. */
async function runs({ path }: OldWorld): Promise<string[]> {
  expect((await knownRuns(join(path, 'state'))).broken).toEqual([])
  return (await readdir(join(path, 'state', 'runs'))).toSorted()
}

describe('a run of an older version that has documents left', () => {
  test.each([
    ['interrupted', '{work}/a.ndjson', numbers(120), 80],
    ['killed', 'a.ndjson', numbers(120), 90],
    ['killed-at-once', 'a.ndjson', numbers(120), 10],
    ['gzip', 'a.ndjson.gz', numbers(120), 80],
    ['glob', 'in/*.ndjson', [...numbers(30), ...numbers(120, 1001), ...numbers(30, 2001)], 80],
  ])('continues under its name, and stores no document twice: %s', async (name, input, all, before) => {
    await using world = await restore(name)
    const source = input.replace('{work}', world.path)
    expect(stored()).toHaveLength(before)
    const rejected = name === 'interrupted' ? 1 : 0
    const { receipt } = await world.load(source)
    expect(stored()).toEqual(all)
    expect(receipt).toMatchObject({ run: world.began, status: 'finished', read: all.length + rejected, rejected })
    expect(receipt.created + receipt.duplicate).toBe(all.length)
    expect(receipt.thisProcess.read).toBeLessThan(name === 'killed-at-once' ? Infinity : all.length)
    expect(await runs(world)).toEqual([`${world.began}.jsonl`])

    const { receipt: again } = await world.load(source)
    expect(again).toMatchObject({ status: 'finished', read: 0, created: 0, duplicate: 0, requests: 0 })
    expect(again.inputs.every(({ loadedBy }) => loadedBy?.run === world.began)).toBe(true)
    expect(stored()).toEqual(all)
  })

  test('keeps its dead letters, with none of them twice', async () => {
    await using world = await restore('interrupted')
    const before = await readFile(join(world.path, 'dead.ndjson'), 'utf8')
    await world.load('a.ndjson')
    expect(await readFile(join(world.path, 'dead.ndjson'), 'utf8')).toBe(before)
  })

  test.each([['interrupted'], ['killed'], ['gzip']])('continues with a file that was renamed: %s', async name => {
    await using world = await restore(name)
    const [was, now] = name === 'gzip' ? ['a.ndjson.gz', 'b.gz'] : ['a.ndjson', 'b.ndjson']
    await mkdir(join(world.path, 'later'))
    await rename(join(world.path, was), join(world.path, 'later', now))
    const { receipt } = await world.load(`later/${now}`)
    expect(receipt).toMatchObject({ run: world.began, status: 'finished' })
    expect(stored()).toEqual(numbers(120))
  })

  test('is refused if the part that it read has changed', async () => {
    await using world = await restore('killed')
    const text = await readFile(join(world.path, 'a.ndjson'), 'utf8')
    await writeFile(join(world.path, 'a.ndjson'), text.replace('{"n":7}', '{"n":8}'))
    const { receipt } = await world.load('a.ndjson')
    expect(receipt).toMatchObject({ status: 'failed', failure: { code: 'INPUT_CHANGED' } })
    expect(stored()).toHaveLength(90)
  })

  test('is known by its checksum from then on: a change behind where the older version stopped is another content', async () => {
    await using world = await restore('killed')
    await world.load('a.ndjson')
    const text = await readFile(join(world.path, 'a.ndjson'), 'utf8')
    await writeFile(join(world.path, 'a.ndjson'), text.replace('{"n":100}', '{"n":999}'))
    expect((await world.load('a.ndjson')).receipt).toMatchObject({ created: 120, duplicate: 0 })
    expect(stored()).toHaveLength(240)
  })
})

describe('a run of an older version that is finished', () => {
  test('has loaded its file, whatever the name and the command are now', async () => {
    await using world = await restore('finished')
    const nothingNew = { status: 'finished', read: 0, created: 0, requests: 0 }
    const loadedBy = { run: world.began }
    const check = async (source: string) => {
      const { receipt } = await world.load(source)
      expect(receipt).toMatchObject({ ...nothingNew, inputs: [{ alreadyLoaded: true, loadedBy }] })
      expect(receipt.run).not.toBe(world.began)
    }
    await check('a.ndjson')
    await check('*.ndjson')
    await rename(join(world.path, 'a.ndjson'), join(world.path, 'b.ndjson'))
    await check('b.ndjson')
    expect(stored()).toEqual(numbers(120))
  })

  test('takes lines that were appended, and numbers them onwards', async () => {
    await using world = await restore('finished')
    await writeFile(join(world.path, 'a.ndjson'), '{"n":121}\n', { flag: 'a' })
    expect((await world.load('a.ndjson')).receipt).toMatchObject({ read: 1, created: 1, inputs: [{ resumedAt: 121 }] })
    expect(stored()).toEqual(numbers(121))
  })

  test('is listed beside the one before it, and both have loaded the file', async () => {
    await using world = await restore('again')
    const { known } = await knownRuns(join(world.path, 'state'))
    expect(known.map(({ checkpoint, isEarlier }) => [checkpoint.run === world.began, isEarlier])).toEqual([
      [true, false],
      [false, true],
    ])
    expect((await world.load('a.ndjson')).receipt).toMatchObject({ created: 0, requests: 0 })
    expect(stored()).toHaveLength(240)
    await rm(join(world.path, 'state', 'runs'), { recursive: true })
    expect((await world.load('a.ndjson')).receipt).toMatchObject({ created: 0, requests: 0 })
    expect(stored()).toHaveLength(240)
  })
})
