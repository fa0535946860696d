/** Indices of another cluster as inputs. The lab's cluster is both of them, over the same proxy. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FromOptions, type IngestOptions, connect } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { type RunWorld, codeOf, openRunWorld } from '../../support/lab/run-world.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

async function fromOf({ way }: RunWorld): Promise<FromOptions> {
  const { target, proxy } = await way()
  return { ...target, url: String(target.url), proxy: String(proxy) } as FromOptions
}

async function move(world: RunWorld, more: Partial<IngestOptions> = {}) {
  const source = `elasticsearch:${world.index}-old`
  return await world.load(source, { source, from: await fromOf(world), ...more })
}

/** Sends documents past Sluice, byte for byte. */
async function store(
  world: RunWorld,
  documents: readonly (readonly [id: string, source: string])[],
  more: object = {},
) {
  const bulkBody = documents
    .map(([id, source]) => `${JSON.stringify({ index: { _id: id, ...more } })}\n${source}\n`)
    .join('')
  await request(world, { method: 'POST', path: `/${world.index}-old/_bulk`, bulkBody })
}

async function request({ way }: RunWorld, what: { method: string; path: string; bulkBody?: string; body?: object }) {
  await using direct = await connect(await way())
  const type = what.bulkBody === undefined ? 'application/json' : 'application/x-ndjson'
  await direct.client.transport.request(what, { headers: { 'content-type': type, accept: 'application/json' } })
}

const many = (count: number, from = 1) =>
  Array.from({ length: count }, (_, at) => [`id-${from + at}`, `{"n":${from + at}}`] as const)

test('documents keep their ids, their routing and their bytes', async () => {
  await using world = await openRunWorld(lab)
  const odd = '{ "z":1.0, "a":9223372036854775807, "t":"a\\nb\\u00e9" }'
  await store(world, [['a', odd]], { routing: 'r1' })
  await store(world, [['b', '{"n":2}']])
  const receipt = await move(world)
  expect(receipt).toMatchObject({ read: 2, created: 2, rejected: 0, ids: { given: 2, own: 0 } })
  expect(String(lab.control.source(world.index, 'a'))).toBe(odd)
  expect(receipt.from).toMatchObject({ url: expect.stringContaining('https://') as string })
})

describe('a load that is interrupted, or runs again', () => {
  test('continues after the last document that was settled', async () => {
    await using world = await openRunWorld(lab)
    await store(world, many(3000))
    const stop = new AbortController()
    const first = move(world, {
      batchDocs: 100,
      concurrency: 1,
      signal: stop.signal,
      onEvent: event => {
        if (event.type === 'progress' && event.counts.created >= 1200) stop.abort('enough')
      },
    })
    expect(await codeOf(first)).toMatch(/^RUN_INTERRUPTED/)
    const stored = lab.control.count(world.index)
    expect(stored).toBeLessThan(3000)
    const receipt = await move(world, { batchDocs: 100 })
    expect(receipt).toMatchObject({ created: 3000, rejected: 0, duplicate: 0 })
    expect(receipt.thisProcess.read).toBe(3000 - stored)
    expect(lab.control.count(world.index)).toBe(3000)
  })

  test('reads only what was written since', async () => {
    await using world = await openRunWorld(lab)
    await store(world, many(700))
    await move(world)
    await store(world, many(5, 701))
    await store(world, [['id-3', '{"n":-3}']])
    const receipt = await move(world, { op: 'index' })
    expect(receipt).toMatchObject({ read: 6, created: 5, updated: 1 })
  })
})

test('a query chooses documents', async () => {
  await using world = await openRunWorld(lab)
  await store(world, many(10))
  const from = { ...(await fromOf(world)), query: { query: { range: { n: { gte: 8 } } } } }
  expect(await move(world, { from })).toMatchObject({ created: 3 })
})

test('what cannot be read is refused before anything is sent', async () => {
  await using world = await openRunWorld(lab)
  expect(await codeOf(move(world))).toMatch(/^INPUT_NOT_FOUND/)
  await store(world, many(1))
  const source = `elasticsearch:${world.index}-old`
  expect(await codeOf(world.load(source, { source }))).toMatch(/^OPTION_INVALID: .*from/)
  expect(await codeOf(move(world, { format: 'csv' }))).toMatch(/^OPTION_INVALID: .*format/)
  const from = { ...(await fromOf(world)), apiKey: 'd3Jvbmc6d3Jvbmc=', username: undefined, password: undefined }
  expect(await codeOf(move(world, { from }))).toMatch(/^CLUSTER_AUTH_REJECTED/)
})
