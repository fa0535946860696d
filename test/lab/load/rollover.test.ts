// @module-tag long
import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type IngestEvent,
  type IngestOptions,
  type ReplayOptions,
  connect,
  replay,
  verify,
} from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { type RunWorld, codeOf, lines, openRunWorld } from '../../support/lab/run-world.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

/** Loads a file, rolling the data stream over when a request is about to be sent again. */
async function loadAcross(world: RunWorld, more: Partial<IngestOptions> = {}) {
  const warnings: string[] = []
  let rolled = false
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'warning') warnings.push(event.message)
    if (event.type !== 'retry' || rolled) return
    rolled = true
    lab.control.rollOver(world.index)
  }
  const receipt = await world.load('a.ndjson', { concurrency: 1, onEvent, ...more })
  return { receipt, warnings }
}

const refused = JSON.stringify({
  error: { type: 'security_exception', reason: 'no read', root_cause: [] },
  status: 403,
})

describe('a data stream that rolls over', () => {
  test('between a send without an answer and the next one doubles nothing', async () => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    await writeFile(world.path('a.ndjson'), lines(500))
    lab.control.plant({ drop: { after: 1, times: 1 } })
    const { receipt, warnings } = await loadAcross(world)
    expect(receipt).toMatchObject({ read: 500, created: 400, duplicate: 100, rejected: 0, unknown: 0 })
    expect(receipt.notes).toBeUndefined()
    expect(warnings).toEqual([])
    expect(lab.control.count(world.index)).toBe(500)
    const seen = await verify({ ...(await world.way()), run: receipt.run, stateDir: world.stateDir })
    expect(seen).toMatchObject({ ok: true, found: 500, doubled: 0 })
  })

  test('sends again what was not stored of a body', async () => {
    await using world = await openRunWorld(lab)
    const backing = lab.control.createDataStream(world.index)
    await writeFile(world.path('a.ndjson'), lines(100))
    lab.control.plant({ drop: { times: 1 } })
    let rolled = false
    const receipt = await world.load('a.ndjson', {
      concurrency: 1,
      runId: `part-${process.pid}`,
      onEvent: event => {
        if (event.type !== 'retry' || rolled) return
        rolled = true
        lab.control.rollOver(world.index)
      },
    })
    expect(receipt).toMatchObject({ duplicate: 100 })
    const { token } = (await world.checkpoint()).inputs[0] ?? { token: '' }
    await world.bulk(
      [3, 50, 99].map(number => ({ delete: { _id: `${token}-${number}` } })),
      backing,
    )
    await world.killedAt(0)
    expect(await world.load('a.ndjson', { runId: `part-${process.pid}` })).toMatchObject({ created: 3, duplicate: 97 })
    expect(lab.control.count(world.index)).toBe(100)
  })

  test('before a resume doubles nothing', async () => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    await writeFile(world.path('a.ndjson'), lines(1000))
    await world.load('a.ndjson')
    await world.killedAt(300)
    lab.control.rollOver(world.index)
    expect(await world.load('a.ndjson')).toMatchObject({ created: 300, duplicate: 700 })
    expect(lab.control.count(world.index)).toBe(1000)
  })

  test('before a named run is repeated without its state doubles nothing', async () => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    await writeFile(world.path('a.ndjson'), lines(300))
    const named = { runId: `rolled-${process.pid}` }
    await world.load('a.ndjson', named)
    lab.control.rollOver(world.index)
    const again = await world.load('a.ndjson', { ...named, stateDir: undefined })
    expect(again).toMatchObject({ created: 0, duplicate: 300 })
    expect(lab.control.count(world.index)).toBe(300)
  })

  test('before a named run that is repeated without its state, and interrupted, doubles nothing when it goes on', async () => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    await writeFile(world.path('a.ndjson'), lines(500))
    const named = { runId: `again-${process.pid}` }
    await world.load('a.ndjson', { ...named, stateDir: undefined })
    lab.control.rollOver(world.index)
    const controller = new AbortController()
    const onEvent = ({ type }: IngestEvent) => {
      if (type === 'progress') controller.abort('test')
    }
    const first = world.load('a.ndjson', { ...named, concurrency: 1, signal: controller.signal, onEvent })
    expect(await codeOf(first)).toMatch(/^RUN_INTERRUPTED/)
    expect(await world.load('a.ndjson', named)).toMatchObject({ status: 'finished', created: 0, duplicate: 500 })
    expect(lab.control.count(world.index)).toBe(500)
  })

  test('is not looked through where nothing has changed behind it', async () => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    lab.control.rollOver(world.index)
    await writeFile(world.path('a.ndjson'), lines(300))
    lab.control.plant({ drop: { times: 1 }, lookup: { status: 403, body: refused } })
    const { notes, duplicate } = await world.load('a.ndjson', { concurrency: 1 })
    expect({ notes, duplicate }).toEqual({ notes: undefined, duplicate: 100 })
  })

  test('while a document whose answer was lost waits for access doubles nothing', async () => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    await writeFile(world.path('a.ndjson'), lines(300))
    lab.control.plant({ drop: { times: 1 } })
    const receipt = await world.load('a.ndjson', {
      concurrency: 1,
      onBlock: { waitMs: 60_000 },
      onEvent: ({ type }) => {
        if (type === 'retry') lab.control.register('none')
        if (type !== 'blocked') return
        lab.control.rollOver(world.index)
        lab.control.register('both')
      },
    })
    expect(receipt).toMatchObject({ created: 200, duplicate: 100, unknown: 0 })
    expect(lab.control.count(world.index)).toBe(300)
  })

  test('a lookup that is refused for want of access waits for it, and no document is sent unseen', async () => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    await writeFile(world.path('a.ndjson'), lines(300))
    lab.control.plant({
      drop: { times: 1 },
      lookup: { status: 403, body: '{"ok":false,"message":"Forbidden"}', times: 1 },
    })
    const { receipt, warnings } = await loadAcross(world)
    expect(receipt).toMatchObject({ created: 200, duplicate: 100 })
    expect(warnings).toEqual([])
    expect(lab.control.count(world.index)).toBe(300)
  })

  test('a lookup is tried again while the cluster is busy', async () => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    await writeFile(world.path('a.ndjson'), lines(300))
    lab.control.plant({ drop: { times: 1 }, lookup: { status: 503, times: 2 } })
    const { receipt } = await loadAcross(world)
    expect(receipt).toMatchObject({ created: 200, duplicate: 100 })
    expect(lab.control.count(world.index)).toBe(300)
  })

  test.each([
    [
      'what stands behind it',
      {
        method: 'GET',
        path: '/_settings/index.uuid,index.refresh_interval,index.default_pipeline,index.final_pipeline',
      },
    ],
    ['for a refresh', { method: 'POST', path: '/_refresh' }],
  ])('is asked %s until it answers: nothing is sent unseen meanwhile', async (_, question) => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    await writeFile(world.path('a.ndjson'), lines(300))
    lab.control.plant({ drop: { times: 1 } })
    const warnings: string[] = []
    let rolled = false
    const receipt = await world.load('a.ndjson', {
      concurrency: 1,
      timeoutMs: 5000,
      onEvent: event => {
        if (event.type === 'warning') warnings.push(event.message)
        if (event.type !== 'retry' || rolled) return
        rolled = true
        lab.control.rollOver(world.index)
        lab.control.plant({ stall: { ...question, times: 1 } })
      },
    })
    expect(lab.control.struck('stall')).toBe(1)
    expect(receipt).toMatchObject({ created: 200, duplicate: 100 })
    expect(warnings).toEqual([])
    expect(lab.control.count(world.index)).toBe(300)
  })

  test('if its ids may not be looked up, the load warns once', async () => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    await writeFile(world.path('a.ndjson'), lines(300))
    lab.control.plant({ drop: { times: 2 }, lookup: { status: 403, body: refused } })
    const { receipt, warnings } = await loadAcross(world)
    expect(warnings).toEqual([expect.stringContaining('cannot look up its ids') as string])
    expect(receipt.notes).toEqual(warnings)
  })
})

test.each([
  ['an alias', {}],
  ['an alias with a filter that hides the documents', { filter: { term: { n: -1 } } }],
])('%s that is led to a new index before a resume doubles nothing, also with --op index', async (_, more) => {
  for (const op of ['create', 'index'] as const) {
    await using world = await openRunWorld(lab)
    const { index } = world
    await using direct = await connect(await world.way())
    await direct.client.indices.create({ index: `${index}-1`, aliases: { [index]: { ...more, is_write_index: true } } })
    await writeFile(world.path('a.ndjson'), lines(1000))
    await world.load('a.ndjson', { op })
    await world.killedAt(300)
    await direct.client.indices.create({ index: `${index}-2` })
    const add = (to: string, write: boolean) => ({ add: { ...more, index: to, alias: index, is_write_index: write } })
    await direct.client.indices.updateAliases({ actions: [add(`${index}-1`, false), add(`${index}-2`, true)] })
    expect(await world.load('a.ndjson', { op })).toMatchObject({ created: 300, duplicate: 700 })
    expect([lab.control.count(`${index}-1`), lab.control.count(`${index}-2`)]).toEqual([1000, 0])
  }
})

describe('a replay', () => {
  /** Dead letters whose documents may be stored already, as after a lost answer. */
  const letters = (index: string, count: number, id = (n: number) => `abcdefghijklmnop-${n}`) =>
    Array.from({ length: count }, (_, at) => {
      const [document, origin] = [{ n: at }, { input: 'a', document: at + 1 }]
      return `${JSON.stringify({ operation: 'create', origin, index, id: id(at + 1), attempts: 1, document })}\n`
    }).join('')

  async function again(world: RunWorld, more: Partial<ReplayOptions> = {}) {
    const source = world.path('dead.ndjson')
    const own = { stateDir: world.stateDir, deadLetters: world.path('again.ndjson'), batchDocs: 10, concurrency: 1 }
    return await replay({ ...(await world.way()), ...own, source, ...more })
  }

  test('finds documents from before a rollover, of any load', async () => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    await writeFile(world.path('dead.ndjson'), letters(world.index, 30))
    expect(await again(world)).toMatchObject({ created: 30 })
    lab.control.rollOver(world.index)
    expect(await again(world, { again: true })).toMatchObject({ created: 0, duplicate: 30 })
    expect(await again(world, { stateDir: undefined })).toMatchObject({ created: 0, duplicate: 30 })
    expect(lab.control.count(world.index)).toBe(30)
  })

  test('finds them also behind a rollover in the middle of it', async () => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    await writeFile(world.path('dead.ndjson'), letters(world.index, 30))
    await again(world)
    let rolled = false
    const onEvent = ({ type }: IngestEvent) => {
      if (type !== 'progress' || rolled) return
      rolled = true
      lab.control.rollOver(world.index)
    }
    expect(await again(world, { again: true, onEvent })).toMatchObject({ created: 0, duplicate: 30 })
    expect(lab.control.count(world.index)).toBe(30)
  })

  test('sends documents with ids of somebody else’s to the index that takes them now', async () => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    const given = (n: number) => `sku-${n}`
    await writeFile(world.path('dead.ndjson'), letters(world.index, 30, given))
    await world.bulk([{ create: { _id: given(7) } }, { n: 0 }])
    lab.control.rollOver(world.index)
    expect(await again(world)).toMatchObject({ created: 30, unknown: 0 })
  })

  test('doubles nothing in any of the data streams that it goes to', async () => {
    await using world = await openRunWorld(lab)
    const other = `${world.index}-other`
    lab.control.createDataStream(world.index)
    lab.control.createDataStream(other)
    const given = (n: number) => `sku-${n}`
    for (const id of [undefined, given]) {
      await writeFile(world.path('dead.ndjson'), letters(world.index, 10, id) + letters(other, 30, id))
      // The first request goes to the one, the others to the other.
      lab.control.plant({ drop: { after: 2, times: 1 } })
      const onEvent = (event: IngestEvent) => void (event.type === 'retry' && lab.control.rollOver(other))
      const receipt = await again(world, { onConflict: 'skip', onEvent, again: true })
      expect(receipt).toMatchObject({ created: 30, [id === undefined ? 'duplicate' : 'skipped']: 10 })
    }
    expect([lab.control.count(world.index), lab.control.count(other)]).toEqual([20, 60])
  })
})

test('a time-series data stream takes no ids: the load stops, and nothing is rejected', async () => {
  await using world = await openRunWorld(lab)
  lab.control.createDataStream(world.index, true)
  await writeFile(world.path('a.ndjson'), lines(30))
  expect(await codeOf(world.load('a.ndjson'))).toMatch(/^IDS_REFUSED: .*time_series mode/)
  // The advice of the failure, over the same state.
  expect(await world.load('a.ndjson', { ids: 'cluster' })).toMatchObject({
    created: 30,
    rejected: 0,
  })
})
