import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type IngestOptions, type Receipt, ingest } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { failureOf, newIndex } from '../../contracts/options.js'

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
    ...more,
  })
}

test('a program that loads the same file twice at once loads it once; a dry run, and one without state, are not kept from it', async () => {
  lab.control.plant({ latencyMs: 50 })
  let run: Promise<Receipt> | undefined
  await new Promise<void>(begun => {
    run = load({ onEvent: ({ type }) => (type === 'input' ? begun() : undefined) })
  })
  const { code, receipt } = await failureOf(load())
  expect({ code, receipt }).toEqual({ code: 'RUN_LOCKED', receipt: undefined })
  expect(await load({ dryRun: true })).toMatchObject({ unsent: 100 })
  expect(await load({ index: newIndex('lock'), stateDir: undefined })).toMatchObject({ created: 100 })
  expect(await run).toMatchObject({ created: 100 })
  expect(await load()).toMatchObject({ inputs: [{ alreadyLoaded: true }] })
  expect(lab.control.count(index)).toBe(100)
})

test('a program that loads the same file by another URL of the same cluster is kept from it; other files are not', async () => {
  lab.control.plant({ latencyMs: 50 })
  let run: Promise<Receipt> | undefined
  await new Promise<void>(begun => {
    run = load({ onEvent: ({ type }) => (type === 'input' ? begun() : undefined) })
  })
  const { apiKey, httpUrl } = lab.line.cluster
  const target = { url: httpUrl, apiKey }
  expect((await failureOf(load({ target }))).code).toBe('RUN_LOCKED')
  await writeFile(join(work, 'b.ndjson'), '{"n":1000}\n')
  expect(await load({ target, source: join(work, 'b.ndjson') })).toMatchObject({ created: 1 })
  expect(await run).toMatchObject({ created: 100 })
  expect(lab.control.count(index)).toBe(101)
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
