/** Documents that were rejected, and that nobody replayed: the same command says so until somebody acts. */
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { beforeEach, expect, test } from 'vitest'
import {
  connect,
  ingest,
  type IngestEvent,
  type IngestOptions,
  isSluiceError,
  type Receipt,
  replay,
} from '../../../src/index.js'
import { follow } from '../follow/followed.js'
import { index, lab, otherIndex, path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()

const letters = () => path('dead.ndjson')
let said: string[] = []

beforeEach(async () => {
  otherIndex()
  said = []
  await rm(letters(), { force: true })
  await rm(path('state'), { recursive: true, force: true })
})

async function load(more: Partial<IngestOptions> = {}): Promise<{ receipt: Receipt | undefined; code?: string }> {
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'warning') said.push(event.message)
  }
  const options = {
    ...smallBatches(),
    source: path('a.ndjson'),
    deadLetters: letters(),
    stateDir: path('state'),
    onEvent,
  }
  try {
    return { receipt: await ingest({ ...options, ...more }) }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { receipt: error.receipt, code: error.code }
  }
}

async function again(source: string, deadLetters = 'again.ndjson'): Promise<Receipt> {
  return await replay({ ...smallBatches(), source, deadLetters: path(deadLetters), stateDir: path('state') })
}

async function repair(file: string): Promise<void> {
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll('"n":"x"', '"n":7'))
}

async function withMapping(type: 'long' | 'keyword'): Promise<void> {
  const { deadLetters: _, ...way } = smallBatches()
  await using open = await connect({ ...way, preflightConnections: 1 })
  const { client } = open
  await client.indices.delete({ index, ignore_unavailable: true })
  await client.indices.create({ index, mappings: { properties: { n: { type } } } })
}

/** So many that a load stops before it has sent all of them. */
const MANY = 1000

const rows = (count: number, wrong: number) =>
  Array.from({ length: count }, (_, n) => `{"n":${n < wrong ? '"x"' : n}}\n`).join('')

test('after too many rejections, the same command fails until they are replayed', async () => {
  await withMapping('long')
  await writeFile(path('a.ndjson'), rows(40, 40))
  // All in one request, so that nothing is left to load.
  expect(await load({ maxRejected: 10, batchDocs: 100 })).toMatchObject({ code: 'TOO_MANY_REJECTED' })
  const again = await load({ maxRejected: 100 })
  expect(again).toMatchObject({ code: 'REJECTED_NOT_REPLAYED', receipt: { unreplayed: [{ documents: 40 }] } })
  await rm(letters())
  expect(await load({ maxRejected: 100 })).toMatchObject({ receipt: { exit: 0, status: 'finished' } })
})

test('after too many rejections in the middle, the same command loads the rest and what is new, and fails until they are replayed', async () => {
  await withMapping('long')
  const wrong = (n: number) => `{"n":"x","row":${n}}\n`.repeat(10)
  await writeFile(path('a.ndjson'), rows(10, 0) + wrong(1) + rows(MANY, 0))
  const stopped = await load({ maxRejected: 5, concurrency: 1 })
  expect(stopped).toMatchObject({ code: 'TOO_MANY_REJECTED', receipt: { rejected: 10 } })
  expect(lab.control.count(index)).toBeLessThan(10 + MANY)

  await writeFile(path('b.ndjson'), rows(20, 0))
  const night = { source: [path('a.ndjson'), path('b.ndjson')], maxRejected: 5, concurrency: 1 }
  const second = await load(night)
  const waiting = [{ run: stopped.receipt?.run, documents: 10, deadLetters: letters() }]
  expect(second).toMatchObject({
    code: 'REJECTED_NOT_REPLAYED',
    receipt: { created: 30 + MANY, rejected: 10, exit: 3 },
  })
  expect(second.receipt?.unreplayed).toEqual(waiting)
  expect(said.join()).toContain(`sluice replay ${letters()}`)

  const { receipt, code } = await load(night)
  expect({ code, read: receipt?.read }).toEqual({ code: 'REJECTED_NOT_REPLAYED', read: 0 })
  expect(receipt?.unreplayed).toEqual(waiting)

  // Rejected for the same reason: the limit counts anew, and names what waits.
  await appendFile(path('b.ndjson'), wrong(2) + rows(MANY, 0))
  const third = await load(night)
  expect(third).toMatchObject({ code: 'TOO_MANY_REJECTED', receipt: { rejected: 10, unreplayed: waiting } })
  await writeFile(path('c.ndjson'), rows(5, 2))
  const fourth = await load({ ...night, source: [...night.source, path('c.ndjson')] })
  expect(fourth).toMatchObject({ code: 'REJECTED_NOT_REPLAYED', receipt: { created: 3 + MANY, rejected: 12 } })
  expect(fourth.receipt?.unreplayed?.map(one => one.documents)).toEqual([10, 10])

  await repair(letters())
  expect(await again(letters())).toMatchObject({ created: 22 })
  expect(await load(night)).toMatchObject({ receipt: { exit: 0, created: 0 } })
})

test('if a load continues with a limit that allows all of them, it only counts them', async () => {
  await withMapping('long')
  await writeFile(path('a.ndjson'), rows(10, 10) + rows(MANY, 0))
  expect(await load({ maxRejected: 5, concurrency: 1 })).toMatchObject({ code: 'TOO_MANY_REJECTED' })
  expect(await load({ maxRejected: 10 })).toMatchObject({ receipt: { created: MANY, rejected: 10, exit: 1 } })
  expect(await load({ maxRejected: 10 })).toMatchObject({ receipt: { exit: 0, unreplayed: [{ documents: 10 }] } })
})

test('rejections of an earlier run are named each time, until they are replayed', async () => {
  await withMapping('long')
  await writeFile(path('a.ndjson'), rows(20, 3))
  expect(await load()).toMatchObject({ receipt: { created: 17, rejected: 3, exit: 1 } })
  for (let night = 0; night < 2; night += 1) {
    said = []
    const { receipt } = await load()
    expect(receipt).toMatchObject({ exit: 0, created: 0, unreplayed: [{ documents: 3, deadLetters: letters() }] })
    expect(said.join()).toContain(`sluice replay ${letters()}`)
  }
  await repair(letters())
  expect(await again(letters())).toMatchObject({ created: 3 })
  said = []
  expect((await load()).receipt).not.toHaveProperty('unreplayed')
  expect(said).toEqual([])
})

test('what a replay rejects again is named by the load and by the same replay, until all of it is stored', async () => {
  await withMapping('long')
  await writeFile(path('a.ndjson'), rows(20, 3))
  await load()
  expect(await again(letters())).toMatchObject({ rejected: 3 })
  const left = { unreplayed: [{ documents: 3, deadLetters: path('again.ndjson') }] }
  expect((await load()).receipt).toMatchObject(left)
  expect(said.join()).toContain(`sluice replay ${path('again.ndjson')}`)
  expect(await again(letters(), 'other.ndjson')).toMatchObject({ read: 0, ...left })
  await repair(path('again.ndjson'))
  expect(await again(path('again.ndjson'), 'other.ndjson')).toMatchObject({ created: 3 })
  expect((await load()).receipt).not.toHaveProperty('unreplayed')
  expect(await again(letters(), 'other.ndjson')).not.toHaveProperty('unreplayed')
})

test('a load without rejections says nothing, and --again does not either', async () => {
  await withMapping('keyword')
  await writeFile(path('a.ndjson'), rows(20, 3))
  await load()
  expect((await load()).receipt).not.toHaveProperty('unreplayed')
  expect((await load({ again: true })).receipt).not.toHaveProperty('unreplayed')
  expect(said.filter(one => one.includes('replay'))).toEqual([])
})

test('a load that follows reminds once, in its receipt, too, and does not end', async () => {
  await withMapping('long')
  await writeFile(path('a.ndjson'), rows(40, 40))
  expect(await load({ maxRejected: 10, batchDocs: 100 })).toMatchObject({ code: 'TOO_MANY_REJECTED' })
  const following = follow(path('a.ndjson'), { deadLetters: path('more.ndjson'), stateDir: path('state') })
  await following.heard(`sluice replay ${letters()}`)
  for (const n of [1, 2]) {
    await appendFile(path('a.ndjson'), `{"n":${n}}\n`)
    await following.stored(n)
  }
  const receipt = await following.stop()
  expect(receipt).toMatchObject({ status: 'finished', created: 2, unreplayed: [{ documents: 40 }] })
  expect(following.said.filter(one => one.includes('sluice replay'))).toHaveLength(1)
})
