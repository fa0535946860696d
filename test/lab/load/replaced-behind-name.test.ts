// @module-tag long
/** Indices behind an alias or a data stream that are deleted and made anew, while Sluice loads into the name or between two loads. */
import { writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { connect, ingest, type IngestEvent, type IngestOptions, type Receipt } from '../../../src/index.js'
import { eventually } from '../../support/eventually.js'
import { codeOf } from '../../support/lab/run-world.js'
import { index, lab, path, shareLab, smallBatches, way } from '../../support/lab/shared-lab.js'
import { lastRun } from '../../support/state/stored-runs.js'

shareLab()

const DOCUMENTS = 1000

type Client = Awaited<ReturnType<typeof connect>>['client']

/** How a name is made, what it leads to at first, and how it is taken away with everything behind it. */
interface Name {
  make(client: Client): Promise<unknown>
  remove(client: Client): Promise<unknown>
}

function aliasWith(properties: object): Name {
  return {
    make: async client => await client.indices.create({ index: `${index}-000001`, aliases: { [index]: properties } }),
    remove: async client => await client.indices.delete({ index: `${index}-*` }),
  }
}

const stream: Name = {
  make: async client => {
    await client.indices.putIndexTemplate({ name: index, index_patterns: [index], data_stream: {} })
    await client.indices.createDataStream({ name: index })
  },
  remove: async client => await client.indices.deleteDataStream({ name: index }),
}

const names: readonly (readonly [string, Name])[] = [
  ['an alias', aliasWith({})],
  ['an alias with a write index', aliasWith({ is_write_index: true })],
  ['a data stream', stream],
]

const source = async () => {
  const text = Array.from({ length: DOCUMENTS }, (_, n) => `{"@timestamp":"2026-11-21T00:00:00Z","n":${n}}\n`).join('')
  await writeFile(path('a.ndjson'), text)
  return path('a.ndjson')
}

type Progress = IngestEvent & { type: 'progress' }

/** Loads, and changes something once `when` says so. The other documents wait until that is done. */
async function loadAnd(
  change: (client: Client) => Promise<unknown>,
  when: (event: Progress) => boolean | Promise<boolean> = () => true,
  more: Partial<IngestOptions> = {},
): Promise<{ readonly receipt: Receipt; readonly warnings: string[] }> {
  lab.control.plant({ latencyMs: 15 })
  await using direct = await connect(way())
  const warnings: string[] = []
  let changing: Promise<void> | undefined
  const begin = async () => {
    lab.control.plant({ bulk: { status: 429 } })
    await change(direct.client)
    lab.control.heal()
  }
  const receipt = await ingest({
    ...smallBatches(),
    batchDocs: 20,
    // Longer than it takes to write a checkpoint.
    concurrency: 1,
    source: await source(),
    onEvent: event => {
      if (event.type === 'warning') warnings.push(event.message)
      if (event.type === 'progress')
        void Promise.resolve(when(event)).then(isTime => {
          if (isTime) changing ??= begin()
        })
    },
    ...more,
  })
  expect(changing).toBeDefined()
  await changing
  return { receipt, warnings }
}

/** Whether a checkpoint knows the index by its uuid. */
const isKnown = async () => {
  const { target } = (await lastRun(path('state'))).checkpoint
  return target.holders?.some(({ indexUuid }) => indexUuid !== undefined) === true
}

/** Loads until the first documents are stored. */
async function loadPart(more: Partial<IngestOptions> = {}): Promise<void> {
  const controller = new AbortController()
  const load = ingest({
    ...smallBatches(),
    source: await source(),
    signal: controller.signal,
    onEvent: ({ type }) => {
      if (type === 'progress') controller.abort('test')
    },
    ...more,
  })
  expect(await codeOf(load)).toMatch(/^RUN_INTERRUPTED/)
  lab.control.heal()
}

async function loadAll() {
  const warnings: string[] = []
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'warning') warnings.push(event.message)
  }
  const receipt = await ingest({ ...smallBatches(), batchDocs: 200, source: await source(), onEvent })
  return { receipt, warnings: warnings.join('\n') }
}

describe.each(names)('behind %s', (kind, name) => {
  const behind = () => (kind === 'a data stream' ? `.ds-${index}-` : `${index}-000001`)
  const makeAnew = async (client: Client) => {
    await name.remove(client)
    await name.make(client)
  }

  test.each([
    ['whose uuid is known', isKnown],
    ['before its uuid is known', () => true],
  ])('an index that is made anew %s is named, and all that it lost is loaded again', async (_, when) => {
    await using direct = await connect(way())
    await name.make(direct.client)
    const { receipt, warnings } = await loadAnd(makeAnew, when)
    expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS })
    expect(warnings.join('\n')).toContain(behind())
    expect(warnings).toEqual([expect.stringContaining('is no longer the index that run') as string])
    expect(lab.control.count(index)).toBe(DOCUMENTS)
    expect((await loadAll()).receipt).toMatchObject({ created: 0, read: 0 })
  })

  test('an index that is made anew after a stop is noticed, and its documents are loaded again', async () => {
    await using direct = await connect(way())
    await name.make(direct.client)
    await loadPart()
    await makeAnew(direct.client)
    const { receipt, warnings } = await loadAll()
    expect(warnings).toContain('is no longer the index that run')
    expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS, rejected: 0 })
    expect(lab.control.count(index)).toBe(DOCUMENTS)
  })

  test('an index that is made anew after a stop is noticed although nobody had read its uuid', async () => {
    await using direct = await connect(way())
    await name.make(direct.client)
    // The look whether its first documents are still there gets no answer.
    lab.control.plant({ stall: { method: 'POST', path: '/_mget' } })
    await loadPart({ graceMs: 50 })
    await makeAnew(direct.client)
    const { receipt, warnings } = await loadAll()
    expect(warnings).toContain('is no longer the index that run')
    expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS })
    expect(lab.control.count(index)).toBe(DOCUMENTS)
  })

  test('an index that is made anew after a load is loaded again', async () => {
    await using direct = await connect(way())
    await name.make(direct.client)
    await loadAll()
    await makeAnew(direct.client)
    const { receipt, warnings } = await loadAll()
    expect(warnings).toContain('is no longer the index that run')
    expect(receipt).toMatchObject({ status: 'finished', created: DOCUMENTS })
    expect(lab.control.count(index)).toBe(DOCUMENTS)
  })

  test('a rollover during a load is no loss', async () => {
    await using direct = await connect(way())
    await name.make(direct.client)
    const roll = async (client: Client) => await client.indices.rollover({ alias: index })
    const { receipt, warnings } = await loadAnd(roll, isKnown)
    expect(warnings).toEqual([])
    expect(receipt).toMatchObject({ status: 'finished', created: DOCUMENTS, duplicate: 0 })
    const { holders } = (await lastRun(path('state'))).checkpoint.target
    expect((await loadAll()).receipt).toMatchObject({ read: 0 })
    expect(holders).toHaveLength(2)
    const each = holders?.map(one => lab.control.count(one.index)) ?? []
    expect(each.every(count => count > 0)).toBe(true)
    expect(each.reduce((sum, count) => sum + count, 0)).toBe(DOCUMENTS)
  })

  test('an index that is gone after a rollover is loaded again, and what others hold is not doubled', async () => {
    await using direct = await connect(way())
    await name.make(direct.client)
    let old = ''
    const rollAndDelete = async (client: Client) => {
      ;({ old_index: old } = await client.indices.rollover({ alias: index }))
      lab.control.heal()
      await eventually(() => lab.control.count(index) > lab.control.count(old))
      await client.indices.delete({ index: old })
    }
    const { receipt, warnings } = await loadAnd(rollAndDelete, isKnown)
    expect(warnings.join('\n')).toContain(`${old} is no longer the index that run`)
    expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS })
    expect(receipt.duplicate).toBeGreaterThan(0)
    expect(lab.control.count(index)).toBe(DOCUMENTS)
  })

  test('an old index that a retention removes after a load is not loaded again', async () => {
    await using direct = await connect(way())
    await name.make(direct.client)
    await loadAll()
    const { old_index: old } = await direct.client.indices.rollover({ alias: index })
    await direct.client.indices.delete({ index: old })
    const { receipt, warnings } = await loadAll()
    expect(warnings).toBe('')
    expect(receipt).toMatchObject({ read: 0, created: 0 })
  })
})

test('an alias that somebody moves while the old index exists is no loss: the old index keeps its documents', async () => {
  await using direct = await connect(way())
  await direct.client.indices.create({ index: `${index}-old`, aliases: { [index]: {} } })
  const move = async (client: Client) => {
    await client.indices.create({ index: `${index}-new` })
    const [remove, add] = [`${index}-old`, `${index}-new`].map(one => ({ index: one, alias: index }))
    await client.indices.updateAliases({ actions: [{ remove: remove ?? {} }, { add: add ?? {} }] })
  }
  const { receipt, warnings } = await loadAnd(move, isKnown)
  expect(warnings).toEqual([])
  expect(receipt).toMatchObject({ status: 'finished', created: DOCUMENTS, duplicate: 0 })
  expect(lab.control.count(`${index}-old`)).toBeGreaterThan(0)
  expect(lab.control.count(`${index}-old`) + lab.control.count(`${index}-new`)).toBe(DOCUMENTS)
  expect((await loadAll()).receipt).toMatchObject({ read: 0 })
})

test('a data stream that the first document makes is watched from then on', async () => {
  await using direct = await connect(way())
  await direct.client.indices.putIndexTemplate({ name: index, index_patterns: [index], data_stream: {} })
  // The next document makes it anew.
  const { receipt, warnings } = await loadAnd(stream.remove)
  expect(warnings).toEqual([expect.stringContaining(`.ds-${index}-`) as string])
  expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS })
  expect(lab.control.count(index)).toBe(DOCUMENTS)
})

test('an index that an alias replaces during a load is loaded again behind the alias', async () => {
  await using direct = await connect(way())
  await direct.client.indices.create({ index })
  const replace = async (client: Client) => {
    await client.indices.delete({ index })
    await client.indices.create({ index: `${index}-000001`, aliases: { [index]: {} } })
  }
  const { receipt, warnings } = await loadAnd(replace)
  expect(warnings).toEqual([expect.stringContaining(`${index} is no longer the index that run`) as string])
  expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS })
  expect(lab.control.count(index)).toBe(DOCUMENTS)
})

test('a data stream that fields of documents name is loaded again if it is made anew', async () => {
  await using direct = await connect(way())
  await stream.make(direct.client)
  const makeAnew = async (client: Client) => {
    await stream.remove(client)
    await stream.make(client)
  }
  const { receipt, warnings } = await loadAnd(makeAnew, () => true, { index: `${index.slice(0, -1)}{c}`, ...last() })
  expect(warnings).toEqual([expect.stringContaining(`.ds-${index}-`) as string])
  expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS })
  expect(lab.control.count(index)).toBe(DOCUMENTS)
})

/** Adds the field that ends the name of the index. */
function last(): Partial<IngestOptions> {
  return { edits: { set: { c: index.slice(-1) } } }
}

test('credentials that may not see what is behind a name load into it as before', async () => {
  const name = `least-${index}`
  const { leastPrivilegeApiKey: apiKey } = lab.line.cluster
  await using direct = await connect(way())
  await direct.client.indices.create({ index: `${name}-000001`, aliases: { [name]: {} } })
  const makeAnew = async (client: Client) => {
    await client.indices.delete({ index: `${name}-000001` })
    await client.indices.create({ index: `${name}-000001`, aliases: { [name]: {} } })
  }
  const { target } = way()
  const more = { index: name, target: { ...target, apiKey } }
  const { receipt, warnings } = await loadAnd(makeAnew, () => true, more)
  expect(warnings.join('\n')).not.toContain('is no longer the index')
  expect(receipt).toMatchObject({ status: 'finished', created: DOCUMENTS })
})
