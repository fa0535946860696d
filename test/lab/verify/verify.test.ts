import { appendFile, rm, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type VerifyOptions, verify } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { lastRun, rewriteRun } from '../../support/state/stored-runs.js'
import { type RunWorld, codeOf, lines, openRunWorld } from '../../support/lab/run-world.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

async function look({ stateDir, way }: RunWorld, run: string, more: Partial<VerifyOptions> = {}) {
  return await verify({ ...(await way()), run, stateDir, ...more })
}

describe('verify', () => {
  test('finds every document of a run, and knows the rejected ones by the dead letters', { tags: 'long' }, async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), `${lines(1500)}not json\n\n${lines(1000, 1501)}{"n":"no number"}\n`)
    await writeFile(world.path('b.ndjson'), lines(10))
    const receipt = await world.load('a.ndjson', { source: [world.path('a.ndjson'), world.path('b.ndjson')] })
    expect(receipt).toMatchObject({ created: 2510, rejected: 2 })
    await rm(world.path('a.ndjson'))
    const told: number[] = []
    const seen = await look(world, receipt.run, { onProgress: lookedUp => told.push(lookedUp) })
    expect(seen).toMatchObject({
      run: receipt.run,
      ok: true,
      index: world.index,
      documents: 2512,
      found: 2510,
      rejected: 2,
      unlisted: 0,
      missing: 0,
      unsettled: 0,
      foreign: 0,
      doubled: 0,
      inputs: [
        { name: world.path('a.ndjson'), first: 1, last: 2502, found: 2500, rejected: 2, missing: 0, missingIds: [] },
        { name: world.path('b.ndjson'), documents: 10, found: 10 },
      ],
      notes: [],
    })
    expect(Math.max(...told)).toBe(2512)
  })

  test('names what is missing, and what has the token of the run and is not its own', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(300))
    const { run } = await world.load('a.ndjson')
    const token = (await world.checkpoint()).inputs[0]?.token ?? ''
    const gone = Array.from({ length: 30 }, (_, at) => `${token}-${7 * at + 1}`)
    await world.bulk(gone.map(id => ({ delete: { _id: id } })))
    await world.bulk([{ create: { _id: `${token}-301` } }, { n: 0 }, { create: { _id: 'else' } }, { n: 0 }])
    const seen = await look(world, run)
    expect(seen).toMatchObject({ ok: false, documents: 300, found: 270, missing: 30, foreign: 1, unsettled: 0 })
    expect(seen.inputs[0]?.missingIds).toEqual(gone.slice(0, 20))
    expect(seen.inputs[0]?.foreignIds).toEqual([`${token}-301`])
    expect((await look(world, run, { listed: Infinity })).inputs[0]?.missingIds).toEqual(gone)
  })

  test('without dead letters, as many as were rejected are not missing', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), `${lines(20)}no\nno\n${lines(20, 21)}`)
    const { run } = await world.load('a.ndjson')
    await rm(world.path('dead.ndjson'))
    const first = await look(world, run)
    expect(first).toMatchObject({ ok: true, documents: 42, found: 40, rejected: 2, unlisted: 2, missing: 0 })
    expect(first.notes).toEqual([expect.stringContaining('dead.ndjson no longer exists') as string])
    const token = first.inputs[0]?.token
    await world.bulk([{ delete: { _id: `${token}-1` } }])
    expect(await look(world, run)).toMatchObject({ ok: false, found: 39, rejected: 2, missing: 1 })
  })

  test('dead letters of several runs in one file hide nothing', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), `{"n":1}\nno\n{"n":"x"}\n{"n":4}\n`)
    await world.load('a.ndjson')
    const { run } = await world.load('a.ndjson', { again: true })
    const seen = await look(world, run)
    expect(seen).toMatchObject({ ok: true, documents: 4, found: 2, rejected: 2, missing: 0 })
    await world.bulk([{ delete: { _id: `${seen.inputs[0]?.token}-4` } }])
    expect(await look(world, run)).toMatchObject({ ok: false, found: 1, rejected: 2, missing: 1 })
  })

  test(
    'documents that a killed process had sent are unsettled, however far behind the checkpoint',
    { tags: 'long' },
    async () => {
      await using world = await openRunWorld(lab)
      await writeFile(world.path('a.ndjson'), lines(30_000))
      const { run } = await world.load('a.ndjson', { batchDocs: 5000 })
      await world.killedAt(100)
      expect(await look(world, run)).toMatchObject({
        ok: true,
        status: 'running',
        documents: 100,
        found: 100,
        missing: 0,
        unsettled: 29_900,
        notes: [
          expect.stringContaining('was killed') as string,
          expect.stringContaining('finds their outcome') as string,
        ],
      })
      const token = (await world.checkpoint()).inputs[0]?.token
      await world.bulk(Array.from({ length: 20_000 }, (_, at) => ({ delete: { _id: `${token}-${101 + at}` } })))
      expect(await look(world, run)).toMatchObject({ ok: true, found: 100, unsettled: 9900, foreign: 0 })
    },
  )

  test('a last line that is blank is no document', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), '{"n":1}\n{"n":2}\n   ')
    const blank = await world.load('a.ndjson')
    expect(await look(world, blank.run)).toMatchObject({ ok: true, documents: 2, found: 2, missing: 0 })
  })

  test('a last line without a line end is one', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), '{"n":1}\n{"n":2}')
    const { run } = await world.load('a.ndjson')
    const seen = await look(world, run)
    expect(seen).toMatchObject({ ok: true, documents: 2, found: 2 })
    await world.bulk([{ delete: { _id: `${seen.inputs[0]?.token}-2` } }])
    expect(await look(world, run)).toMatchObject({ ok: false, documents: 2, missing: 1 })
  })

  test('documents that an earlier run loaded of a file that has grown are not the run’s', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(50))
    await world.load('a.ndjson')
    await appendFile(world.path('a.ndjson'), lines(10, 51))
    const { run } = await world.load('a.ndjson')
    expect(await look(world, run)).toMatchObject({
      ok: true,
      documents: 10,
      found: 10,
      inputs: [{ first: 51, last: 60 }],
    })
  })

  test('sees a data stream whole, and what stands in it twice', async () => {
    await using world = await openRunWorld(lab)
    const backing = lab.control.createDataStream(world.index)
    await writeFile(world.path('a.ndjson'), lines(40))
    const { run } = await world.load('a.ndjson')
    lab.control.rollOver(world.index)
    const seen = await look(world, run)
    expect(seen).toMatchObject({ ok: true, documents: 40, found: 40, doubled: 0 })
    const id = `${seen.inputs[0]?.token}-3`
    await world.bulk([{ create: { _id: id } }, { n: 3 }])
    await world.bulk([{ delete: { _id: `${seen.inputs[0]?.token}-4` } }], backing)
    expect(await look(world, run)).toMatchObject({
      ok: false,
      found: 39,
      missing: 1,
      doubled: 1,
      inputs: [{ doubledIds: [id] }],
    })
  })

  test('asks for fewer ids where a request is too large, and again where the cluster is busy', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(3000))
    const { run } = await world.load('a.ndjson')
    lab.control.plant({ lookup: { status: 413, times: 5 } })
    expect(await look(world, run)).toMatchObject({ ok: true, found: 3000 })
    const busy = JSON.stringify({ error: { type: 'es_rejected_execution_exception', reason: 'busy' }, status: 429 })
    lab.control.plant({ lookup: { status: 429, times: 3, body: busy } })
    expect(await look(world, run)).toMatchObject({ ok: true, found: 3000 })
    lab.control.plant({ lookup: { status: 429, body: busy } })
    expect(await codeOf(look(world, run, { maxElapsedMs: 100 }))).toContain('CLUSTER_OVERLOADED')
  })

  test('calls nothing missing that it could not ask for', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(3))
    const { run } = await world.load('a.ndjson')
    const closed = JSON.stringify({ error: { type: 'index_closed_exception', reason: 'closed' }, status: 400 })
    lab.control.plant({ lookup: { status: 400, body: closed } })
    expect(await codeOf(look(world, run))).toContain('LOOKUP_REFUSED')
    // One odd answer is asked for again; only patience ends.
    lab.control.plant({ lookup: { status: 200, body: '{"docs":[]}', times: 1 } })
    expect(await look(world, run)).toMatchObject({ ok: true, found: 3 })
    const impatient = { maxElapsedMs: 100 }
    lab.control.plant({ lookup: { status: 200, body: '{"docs":[]}' } })
    expect(await codeOf(look(world, run, impatient))).toContain('CLUSTER_UNAVAILABLE')
    const headers = { 'x-elastic-product': 'Elasticsearch' }
    const shard = {
      _index: world.index,
      _id: 'x',
      error: { type: 'no_shard_available_action_exception', reason: 'no' },
    }
    lab.control.plant({ lookup: { status: 200, headers, body: JSON.stringify({ docs: [shard, shard, shard] }) } })
    expect(await codeOf(look(world, run, impatient))).toContain('CLUSTER_UNAVAILABLE')
    lab.control.plant({ lookup: { status: 200, headers, body: '{"docs":[' } })
    expect(await codeOf(look(world, run, impatient))).toContain('CLUSTER_UNAVAILABLE')
    lab.control.register('none')
    try {
      expect(await codeOf(look(world, run))).toContain('EGRESS_NOT_ALLOWED')
    } finally {
      lab.control.register('both')
    }
  })

  test('says that the index is gone, or was made anew', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(3))
    const { run } = await world.load('a.ndjson')
    const { connect } = await import('../../../src/index.js')
    await using direct = await connect(await world.way())
    await direct.client.indices.delete({ index: world.index })
    expect(await look(world, run)).toMatchObject({
      ok: false,
      missing: 3,
      notes: [`the index ${world.index} no longer exists`],
    })
    await direct.client.indices.create({ index: world.index })
    expect((await look(world, run)).notes).toEqual([expect.stringContaining('is a new index') as string])
  })

  test('refuses what it cannot tell: an unknown run, ids that are not its own, another cluster', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(3))
    const { run } = await world.load('a.ndjson', { ids: 'cluster' })
    expect(await codeOf(look(world, run))).toMatch(/^RUN_IDS_UNKNOWN: .*--ids cluster/)
    // Ranges keep no checkpoint. If one ever said so, their ids would not be numbers in a row.
    const { path: file, checkpoint } = await lastRun(world.stateDir)
    await rewriteRun(file, { ...checkpoint, options: { ...checkpoint.options, ids: 'offset' } })
    expect(await codeOf(look(world, run))).toMatch(/^RUN_IDS_UNKNOWN: .*offsets of lines/)
    expect(await codeOf(look(world, `${run.slice(0, -1)}_`))).toMatch(/^RUN_NOT_FOUND: .*did you mean/)
    const own = await world.load('a.ndjson', { index: `${world.index}-own` })
    const other = await lab.control.createDeployment(`other-${process.pid}`)
    const { target, ...way } = await world.way()
    const there = { ...way, target: { ...target, url: other.url } }
    expect(await codeOf(look(world, own.run, there))).toMatch(/^RUN_ELSEWHERE: /)
    // @ts-expect-error -- as a JavaScript caller might
    expect(await codeOf(verify({ ...(await world.way()), stateDir: world.stateDir }))).toBe(
      'OPTION_INVALID: run: is not set',
    )
    expect(await codeOf(look(world, run, { listed: -1 }))).toMatch(/^OPTION_INVALID: listed: /)
  })

  test('two runs of one name are told apart by their checkpoints', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(3))
    const runId = `named-${process.pid}`
    const { checkpoint = '' } = await world.load('a.ndjson', { runId })
    await world.load('a.ndjson', { runId, index: `${world.index}-b` })
    expect(await codeOf(look(world, runId))).toMatch(/^OPTION_INVALID: run: .* is the name of 2 runs/)
    expect(await look(world, checkpoint)).toMatchObject({ run: runId, ok: true, index: world.index })
  })

  test('ends when it is aborted', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(3000))
    const { run } = await world.load('a.ndjson')
    const controller = new AbortController()
    const onProgress = () => controller.abort('test')
    expect(await codeOf(look(world, run, { signal: controller.signal, onProgress }))).toContain('RUN_INTERRUPTED')
  })
})
