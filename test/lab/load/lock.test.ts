import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type IngestOptions, type Receipt, ingest } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { failureOf, newIndex } from '../../contracts/options.js'
import { until } from '../../support/eventually.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

let work: string
let index: string
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'lock-'))
  index = newIndex('lock')
  await writeFile(join(work, 'a.ndjson'), Array.from({ length: 100 }, (_, n) => `{"n":${n}}\n`).join(''))
})
afterEach(async () => {
  lab.control.heal()
  await rm(work, { recursive: true })
})

async function load(more: Partial<IngestOptions> = {}): Promise<Receipt> {
  const { url, apiKey, caFile } = lab.line.cluster
  return await ingest({
    source: join(work, '*.ndjson'),
    target: { url, apiKey, ca: await readFile(caFile) },
    proxy: lab.line.proxy.http,
    preflightConnections: 1,
    index,
    stateDir: join(work, 'state'),
    deadLetters: false,
    batchDocs: 10,
    batchMs: 3_600_000,
    ...more,
  })
}

/** A run that waits for the answer to one of its requests. Resolves to a function that ends it. */
async function beginRun(): Promise<() => Promise<void>> {
  lab.control.plant({ hold: { times: 1 } })
  const controller = new AbortController()
  const run = failureOf(load({ signal: controller.signal, graceMs: 1 }))
  await until(() => lab.control.struck('hold') > 0)
  return async () => {
    await until(() => lab.control.count(index) >= 90)
    controller.abort('SIGTERM')
    expect((await run).code).toBe('RUN_INTERRUPTED')
  }
}

test(
  'a program that loads the same file twice at once loads it once; a dry run, and one without state, are not kept from it',
  { tags: 'long' },
  async () => {
    const end = await beginRun()
    const { code, receipt } = await failureOf(load())
    expect({ code, receipt }).toEqual({ code: 'RUN_LOCKED', receipt: undefined })
    expect(await load({ dryRun: true })).toMatchObject({ unsent: 100 })
    expect(await load({ index: newIndex('lock'), stateDir: undefined })).toMatchObject({ created: 100 })
    await end()
    expect(await load()).toMatchObject({ status: 'finished', read: 100, unknown: 0 })
    expect(await load()).toMatchObject({ inputs: [{ alreadyLoaded: true }] })
    expect(lab.control.count(index)).toBe(100)
  },
)

test('a program that loads the same file by another URL of the same cluster is kept from it; other files are not', async () => {
  const end = await beginRun()
  const { apiKey, httpUrl } = lab.line.cluster
  const target = { url: httpUrl, apiKey }
  expect((await failureOf(load({ target }))).code).toBe('RUN_LOCKED')
  await writeFile(join(work, 'b.ndjson'), '{"n":1000}\n')
  expect(await load({ target, source: join(work, 'b.ndjson') })).toMatchObject({ created: 1 })
  await end()
  expect(lab.control.count(index)).toBe(91)
})

test('however a run ends, its locks end with it', async () => {
  const locks = async () => await readdir(join(work, 'state', 'locks'))
  expect((await failureOf(load({ target: { url: lab.line.cluster.url, apiKey: 'bm8=' } }))).code).not.toBe('RUN_LOCKED')
  expect(await locks()).toEqual([])
  expect((await failureOf(load({ signal: AbortSignal.abort('test') }))).code).toBe('RUN_INTERRUPTED')
  expect(await locks()).toEqual([])
  expect((await load()).created).toBe(100)
  expect(await locks()).toEqual([])
})
