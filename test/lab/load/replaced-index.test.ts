// @module-tag long
/** An index that is deleted while Sluice loads into it: the next bulk request makes a new one of the same name. */
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { connect, ingest, type IngestEvent, type IngestOptions, type Receipt } from '../../../src/index.js'
import { codeOf, lines } from '../../support/lab/run-world.js'
import { index, lab, path, shareLab, smallBatches, way } from '../../support/lab/shared-lab.js'
import { lastRun } from '../../support/state/stored-runs.js'

shareLab()

const DOCUMENTS = 3000

/** Collects warnings. */
function listening() {
  const warnings: string[] = []
  const hear = (event: IngestEvent): void => {
    if (event.type === 'warning') warnings.push(event.message)
  }
  return { warnings, hear }
}

/** A load during which somebody deletes the index, once `when` says so. */
async function loadAndDelete(
  when: (event: IngestEvent & { type: 'progress' }) => boolean | Promise<boolean>,
  more: Partial<IngestOptions> = {},
): Promise<{ readonly receipt: Receipt; readonly warnings: string[] }> {
  await writeFile(path('a.ndjson'), lines(DOCUMENTS))
  lab.control.plant({ latencyMs: 15 })
  await using direct = await connect(way())
  // The rest of the documents waits until the index is gone.
  const deleteIndex = async () => {
    lab.control.plant({ bulk: { status: 429 } })
    await direct.client.indices.delete({ index })
    lab.control.heal()
  }
  let isDeleted = false
  const { warnings, hear } = listening()
  const receipt = await ingest({
    ...smallBatches(),
    source: path('a.ndjson'),
    onEvent: event => {
      hear(event)
      if (event.type !== 'progress' || isDeleted) return
      void Promise.resolve(when(event)).then(isTime => {
        if (!isTime || isDeleted) return
        isDeleted = true
        void deleteIndex()
      })
    },
    ...more,
  })
  expect(isDeleted).toBe(true)
  return { receipt, warnings }
}

const isKnown = async () => (await lastRun(path('state'))).checkpoint.target.indexUuid !== undefined

test.each([
  ['whose uuid is known', isKnown, {}],
  ['before its uuid is known', () => true, {}],
  ['during a load with --again', isKnown, { again: true }],
])('an index that is deleted %s is named, and all that it lost is loaded again', async (_, when, more) => {
  const { receipt, warnings } = await loadAndDelete(when, more)
  expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS })
  expect(receipt.created + receipt.duplicate).toBe(DOCUMENTS)
  expect(receipt.duplicate).toBeGreaterThan(0)
  expect(warnings).toEqual([expect.stringContaining(`${index} is no longer the index that run`) as string])
  expect(lab.control.count(index)).toBe(DOCUMENTS)
  expect(await ingest({ ...smallBatches(), source: path('a.ndjson') })).toMatchObject({ created: 0, read: 0 })
})

test('a request that meets the deletion is refused, and all is loaded again', async () => {
  await writeFile(path('a.ndjson'), lines(DOCUMENTS))
  lab.control.plant({ latencyMs: 15 })
  await using direct = await connect(way())
  // As Elasticsearch answers a request that it has begun to work on.
  const reason = `no such index [${index}]`
  let isDeleted = false
  const deleteOnce = async () => {
    if (!(await isKnown()) || isDeleted) return
    isDeleted = true
    lab.control.plant({ items: { status: 404, type: 'index_not_found_exception', reason } })
    await direct.client.indices.delete({ index })
  }
  const { warnings, hear } = listening()
  const receipt = await ingest({
    ...smallBatches(),
    source: path('a.ndjson'),
    onEvent: event => {
      hear(event)
      // The load begins again.
      if (event.type === 'warning') lab.control.heal()
      if (event.type === 'progress') void deleteOnce()
    },
  })
  expect(warnings).toEqual([expect.stringContaining(`${index} is no longer the index that run`) as string])
  expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS, rejected: 0 })
  expect(lab.control.count(index)).toBe(DOCUMENTS)
})

test('the next command loads it again if this one may not', async () => {
  const stream = loadAndDelete(isKnown, { ids: 'cluster' })
  expect(await codeOf(stream)).toMatch(/^INDEX_REPLACED: .* \(--ids cluster\)/)
})

/** Loads until the first documents are accepted. Whether they are still there stays unknown, because the question gets no answer. */
async function loadUnseen(options: Partial<IngestOptions>): Promise<void> {
  await writeFile(path('a.ndjson'), lines(300).replaceAll('}', ',"kind":"a"}'))
  lab.control.plant({ latencyMs: 5, stall: { method: 'POST', path: '/_mget' } })
  const controller = new AbortController()
  const load = ingest({
    ...smallBatches(),
    concurrency: 4,
    source: path('a.ndjson'),
    graceMs: 50,
    signal: controller.signal,
    onEvent: ({ type }) => {
      if (type === 'progress') controller.abort('test')
    },
    ...options,
  })
  expect(await codeOf(load)).toMatch(/^RUN_INTERRUPTED/)
  lab.control.heal()
}

test.each([
  ['one index', { ids: 'run' }],
  ['one index, with ids from a field', { ids: 'field', idField: 'n' }],
  ['an index by a field', { byField: true }],
] as const)(
  'an index that somebody makes anew after a stop is noticed, although nobody had looked into it: %s',
  async (_, options) => {
    const more = 'byField' in options ? { index: `${index}-{kind}` } : options
    const where = 'byField' in options ? `${index}-a` : index
    await loadUnseen(more)
    await using direct = await connect(way())
    await direct.client.indices.delete({ index: where })
    await direct.client.indices.create({ index: where })
    const { warnings, hear } = listening()
    const receipt = await ingest({ ...smallBatches(), source: path('a.ndjson'), onEvent: hear, ...more })
    expect(warnings.join('\n')).toContain(`${where} is no longer the index that run`)
    expect(receipt).toMatchObject({ status: 'finished', read: 300, rejected: 0 })
    expect(lab.control.count(where)).toBe(300)
  },
)

test('an index that is still the same continues at its mark, although nobody had looked into it', async () => {
  await loadUnseen({})
  const stored = lab.control.count(index)
  const receipt = await ingest({ ...smallBatches(), source: path('a.ndjson') })
  expect(receipt).toMatchObject({ status: 'finished' })
  expect(receipt.thisProcess?.read).toBeLessThan(300)
  expect(stored).toBeGreaterThan(0)
  expect(lab.control.count(index)).toBe(300)
  expect((await lastRun(path('state'))).checkpoint.target).not.toHaveProperty('witnesses')
})
