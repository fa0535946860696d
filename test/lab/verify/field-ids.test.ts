/** Runs whose ids come from fields: `verify` and `undo` read the inputs again, if they are as they were. */
import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type IngestOptions, type UndoOptions, replay, undo, verify } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { type RunWorld, codeOf, lines, openRunWorld } from '../../support/lab/run-world.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

const byField = { ids: 'field', idField: 'n' } as const

async function look({ stateDir, way }: RunWorld, run: string) {
  return await verify({ ...(await way()), run, stateDir })
}

async function takeBack({ stateDir, way }: RunWorld, run: string, more: Partial<UndoOptions> = {}) {
  return await undo({ ...(await way()), run, stateDir, ...more })
}

const csv = `n;name\n${Array.from({ length: 50 }, (_, at) => `${at};"a ""${at}"""\n`).join('')}`
const array = JSON.stringify(Array.from({ length: 50 }, (_, n) => ({ n, deep: { id: n } })))

const inputs: readonly (readonly [name: string, content: string | Buffer, options: Partial<IngestOptions>])[] = [
  ['a.ndjson', lines(50), byField],
  ['a.ndjson.gz', gzipSync(lines(50)), byField],
  ['a.csv', csv, { ...byField, csv: { delimiter: ';', inferTypes: true } }],
  ['a.json', array, { ids: 'field', idField: 'n,deep.id', idSeparator: '|' }],
  ['hashed.ndjson', lines(50), { ids: 'hash', idField: 'n' }],
  ['routed.ndjson', lines(50), { ...byField, routingField: 'n' }],
]

test.for(inputs)(
  '%s: the ids are read again, what is missing is named, and the run is undone',
  async ([name, content, options]) => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path(name), content)
    const { run } = await world.load(name, options)
    expect(await look(world, run)).toMatchObject({ ok: true, documents: 50, found: 50, missing: 0, notes: [] })
    if (options.ids === 'field' && options.routingField === undefined && options.idField === 'n') {
      await world.bulk([{ delete: { _id: '7' } }])
      const seen = await look(world, run)
      expect(seen).toMatchObject({ ok: false, found: 49, missing: 1 })
      expect(seen.inputs[0]?.missingIds).toEqual(['7'])
    }
    expect(await takeBack(world, run)).toMatchObject({ isComplete: true, failed: 0, changed: 0 })
    expect(lab.control.count(world.index)).toBe(0)
    expect(await world.load(name, options)).toMatchObject({ created: 50 })
  },
)

describe('undo keeps what was there before', () => {
  test('documents that the run skipped', async () => {
    await using world = await openRunWorld(lab)
    await world.bulk([{ create: { _id: '3' } }, { n: 3 }])
    await writeFile(world.path('a.ndjson'), lines(10))
    const { run } = await world.load('a.ndjson', { ...byField, onConflict: 'skip' })
    expect(await look(world, run)).toMatchObject({ ok: true, found: 10 })
    expect(await codeOf(takeBack(world, run))).toMatch(/^RUN_IDS_UNKNOWN: .*may have been there before/)
    expect(lab.control.count(world.index)).toBe(10)
  })

  test('documents that refused those of the run', async () => {
    await using world = await openRunWorld(lab)
    await world.bulk([{ create: { _id: '3' } }, { n: 3 }])
    await writeFile(world.path('a.ndjson'), `${lines(10)}no\n`)
    const { run } = await world.load('a.ndjson', byField)
    expect(await look(world, run)).toMatchObject({ documents: 11, found: 9, rejected: 2, missing: 0 })
    const undone = await takeBack(world, run)
    expect(undone).toMatchObject({ isComplete: true, deleted: 9 })
    expect(undone.notes).toEqual([
      'the run rejected 1 document, and another document in the index had its id. Sluice deletes such a document only if this run created it',
    ])
    expect(lab.control.count(world.index)).toBe(1)
  })

  test('documents that the run replaced', async () => {
    await using world = await openRunWorld(lab)
    await world.bulk([{ create: { _id: '3' } }, { n: 3 }])
    await writeFile(world.path('a.ndjson'), lines(10))
    const { run } = await world.load('a.ndjson', { ...byField, op: 'index' })
    expect(await takeBack(world, run)).toMatchObject({ isComplete: false, deleted: 9, changed: 1, changedIds: ['3'] })
  })

  test('documents that a later run loaded again', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(10))
    const { run } = await world.load('a.ndjson', byField)
    await world.bulk(Array.from({ length: 10 }, (_, at) => ({ delete: { _id: String(at + 1) } })))
    await world.load('a.ndjson', { ...byField, again: true })
    expect(await codeOf(takeBack(world, run))).toMatch(/^UNDO_LOADED_AGAIN/)
  })
})

describe('verify does not take another document with the same id for one that the run rejected', () => {
  const cases: readonly (readonly [
    what: string,
    before: readonly object[],
    text: string,
    options: Partial<IngestOptions>,
  ])[] = [
    ['an id twice in one file', [], '{"n":1}\n{"n":2}\n{"n":1,"x":2}\n', byField],
    [
      'a row twice',
      [],
      'n;x\n1;a\n2;b\n1;a\n',
      { ids: 'hash', idField: 'n,x', format: 'csv', csv: { delimiter: ';' } },
    ],
    ['an id that was there', [{ create: { _id: '3' } }, { n: 3 }], lines(3), byField],
  ]

  test.for(cases)('%s', async ([, before, text, options]) => {
    await using world = await openRunWorld(lab)
    if (before.length > 0) await world.bulk(before)
    await writeFile(world.path('a.ndjson'), text)
    const receipt = await world.load('a.ndjson', options)
    expect(receipt).toMatchObject({ read: 3, created: 2, rejected: 1 })
    const counted = { documents: 3, found: 2, rejected: 1, missing: 0 }
    expect(await look(world, receipt.run)).toMatchObject({
      ok: true,
      ...counted,
      unlisted: 0,
      inputs: [counted],
      notes: [],
    })
    await rename(world.path('dead.ndjson'), world.path('kept.ndjson'))
    const unnamed = await look(world, receipt.run)
    expect(unnamed).toMatchObject({ ok: true, ...counted, unlisted: 1 })
    expect(unnamed.notes).toEqual([expect.stringContaining('dead.ndjson no longer exists') as string])
    await rename(world.path('kept.ndjson'), world.path('dead.ndjson'))
    const undone = await takeBack(world, receipt.run)
    expect(undone).toMatchObject({ isComplete: true, deleted: 2 })
    for (const note of undone.notes) expect(note).toMatch(/^the run rejected 1 document, /)
    expect(lab.control.count(world.index)).toBe(before.length / 2)
  })

  test('a document that is missing is not taken for the rejected one, also without dead letters', async () => {
    await using world = await openRunWorld(lab)
    await world.bulk([{ create: { _id: '3' } }, { n: 3 }])
    await writeFile(world.path('a.ndjson'), lines(3))
    const { run } = await world.load('a.ndjson', byField)
    await world.bulk([{ delete: { _id: '1' } }])
    const counted = { ok: false, documents: 3, found: 1, rejected: 1, missing: 1 }
    expect(await look(world, run)).toMatchObject(counted)
    await rm(world.path('dead.ndjson'))
    expect(await look(world, run)).toMatchObject(counted)
  })

  test('a document that a replay has stored is found, also after its dead letters were deleted', async () => {
    await using world = await openRunWorld(lab)
    await world.bulk([{ create: { _id: '3' } }, { n: 3 }])
    await writeFile(world.path('a.ndjson'), lines(3))
    const { run } = await world.load('a.ndjson', byField)
    await world.bulk([{ delete: { _id: '3' } }])
    const { stateDir, way } = world
    const again = {
      ...(await way()),
      stateDir,
      source: world.path('dead.ndjson'),
      deadLetters: world.path('again.ndjson'),
    }
    expect(await replay(again)).toMatchObject({ created: 1, rejected: 0 })
    expect(await look(world, run)).toMatchObject({ ok: true, found: 3, rejected: 0 })
    await rm(world.path('dead.ndjson'))
    expect(await look(world, run)).toMatchObject({ ok: true, found: 3, rejected: 0, notes: [] })
  })

  test('the rejected documents of another run in the same dead letters are those of that run', async () => {
    await using world = await openRunWorld(lab)
    await world.bulk([{ create: { _id: '3' } }, { n: 3 }])
    await writeFile(world.path('a.ndjson'), lines(3))
    await world.load('a.ndjson', byField)
    await world.bulk([1, 2, 3].map(id => ({ delete: { _id: `${id}` } })))
    await world.bulk([{ create: { _id: '2' } }, { n: 2 }])
    const { run } = await world.load('a.ndjson', { ...byField, again: true })
    const seen = await look(world, run)
    expect(seen).toMatchObject({ ok: true, found: 2, rejected: 1, unlisted: 0 })
    await world.bulk([{ delete: { _id: '3' } }])
    expect((await look(world, run)).inputs).toMatchObject([{ found: 1, rejected: 1, missingIds: ['3'] }])
  })
})

test('lines that were appended belong to the run that loaded them', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(10))
  const first = await world.load('a.ndjson', byField)
  await appendFile(world.path('a.ndjson'), lines(5, 11))
  const second = await world.load('a.ndjson', byField)
  expect(await look(world, first.run)).toMatchObject({ ok: true, documents: 10, found: 10 })
  expect(await look(world, second.run)).toMatchObject({ ok: true, documents: 5, found: 5 })
  expect(await takeBack(world, second.run)).toMatchObject({ isComplete: true, deleted: 5 })
  expect(lab.control.count(world.index)).toBe(10)
})

test('an input that changed, or is gone, is named', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(10))
  const { run } = await world.load('a.ndjson', byField)
  await writeFile(world.path('a.ndjson'), lines(10, 2))
  expect(await codeOf(look(world, run))).toMatch(/^RUN_IDS_UNKNOWN: .*a\.ndjson has changed since/)
  await writeFile(world.path('a.ndjson'), lines(10))
  expect(await look(world, run)).toMatchObject({ ok: true, found: 10 })
  await rm(world.path('a.ndjson'))
  expect(await codeOf(takeBack(world, run))).toMatch(/^RUN_IDS_UNKNOWN: .*a\.ndjson is no longer there/)
})

test('options whose text does not say all are refused', async () => {
  await using world = await openRunWorld(lab)
  await writeFile(world.path('a.ndjson'), lines(10))
  const { run } = await world.load('a.ndjson', {
    ...byField,
    edits: { set: { from: 'here' } },
  })
  expect(await codeOf(look(world, run))).toMatch(/^RUN_IDS_UNKNOWN: .*--ids field/)
})

test('a replay that also rejected documents of another run again takes nothing from what this run stored', async () => {
  await using world = await openRunWorld(lab)
  const dead = world.path('dead.ndjson')
  await writeFile(world.path('a.ndjson'), '{"n":1,"v":1}\n{"n":2,"v":"x"}\n')
  await writeFile(world.path('b.ndjson'), '{"n":3,"v":"y"}\n{"n":4,"v":"y"}\n')
  const { run } = await world.load('a.ndjson', { ...byField, deadLetters: dead })
  await world.load('b.ndjson', { ...byField, deadLetters: dead })
  const text = await readFile(dead, 'utf8')
  await writeFile(dead, text.replace('"x"', '2'))
  const { stateDir, way, path } = world
  const again = { source: dead, deadLetters: path('again.ndjson') }
  expect(await replay({ ...(await way()), stateDir, ...again })).toMatchObject({ created: 1, rejected: 2 })
  expect(await look(world, run)).toMatchObject({ ok: true, documents: 2, found: 2, rejected: 0 })
})
