// @module-tag long
/** Inputs that several runs have read, one after the other or side by side: the newest of them says how far an input has come. */
import { appendFile, readFile, rename, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { type IngestEvent, type IngestOptions, type Receipt, ingest, isSluiceError } from '../../../src/index.js'
import { lines } from '../../support/lab/run-world.js'
import { lastRun, runFiles, runIn } from '../../support/state/stored-runs.js'
import { index, lab, path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()

async function load(names: readonly string[], more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await ingest({ source: names.map(path), ...smallBatches(), ...more })
}

/** The same, stopped once so many documents are stored. Returns the name of the run. */
async function begin(names: readonly string[], after: number, more: Partial<IngestOptions> = {}): Promise<string> {
  const stop = new AbortController()
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'progress' && event.counts.created >= after) stop.abort()
  }
  const error: unknown = await load(names, { ...more, signal: stop.signal, onEvent }).catch((error: unknown) => error)
  if (!isSluiceError(error) || error.code !== 'RUN_INTERRUPTED') throw error
  return (error.receipt as Receipt).run
}

const known = ({ inputs }: Receipt) => inputs.map(({ alreadyLoaded = false }) => alreadyLoaded)

test('an input that was found again under another name keeps its place in the run that loaded it', async () => {
  await writeFile(path('a'), lines(10))
  await writeFile(path('b'), lines(10, 101))
  await writeFile(path('c'), lines(300, 1001))
  const first = await begin(['a', 'b', 'c'], 60)
  await rename(path('b'), path('b2'))
  expect(known(await load(['b2']))).toEqual([true])
  await appendFile(path('b2'), lines(5, 111))
  const second = await load(['b2', 'c'])
  expect(second).toMatchObject({ run: first, read: 325, inputs: [{ read: 15 }, { read: 300 }] })
  expect(known(await load(['a', 'b2', 'c']))).toEqual([true, true, true])
  expect(lab.control.count(index)).toBe(325)
})

test('an older run that continues takes over an input that a later run has loaded', async () => {
  await writeFile(path('a'), lines(10))
  await writeFile(path('c'), lines(300, 1001))
  const first = await begin(['c'], 60, { ids: 'cluster' })
  await load(['a'], { ids: 'cluster' })
  await appendFile(path('a'), lines(5, 11))
  expect((await load(['a', 'c'], { ids: 'cluster' })).run).toBe(first)
  expect(known(await load(['a', 'c'], { ids: 'cluster' }))).toEqual([true, true])
  expect(lab.control.count(index)).toBe(315)
})

test('a process that is killed before its first checkpoint leaves an appended input where it began', async () => {
  await writeFile(path('a'), lines(10))
  await load(['a'], { ids: 'cluster' })
  await appendFile(path('a'), lines(300, 11))
  await begin(['a'], 60, { ids: 'cluster' })
  const { path: file } = await lastRun(path('state'))
  const text = await readFile(file, 'utf8')
  // Nothing was stored yet when it was killed.
  await writeFile(file, text.slice(0, text.indexOf('["mark"')))
  expect((await runIn(file)).inputs).toMatchObject([
    { status: 'begun', mark: { document: 11, offset: lines(10).length } },
  ])
  expect(await load(['a'], { ids: 'cluster' })).toMatchObject({ read: 300 })
})

test('documents of a killed process are compared, also after another process has begun again', async () => {
  const text = lines(200_000)
  await writeFile(path('a'), text)
  const more = { batchDocs: 10_000 }
  await begin(['a'], 150_000, more)
  const [file = ''] = await runFiles(path('state'))
  // The process was killed before its first checkpoint.
  const forgetMarks = async () => {
    const rows = (await readFile(file, 'utf8')).split('\n')
    await writeFile(file, rows.filter(row => !row.startsWith('["mark"')).join('\n'))
  }
  await forgetMarks()
  await begin(['a'], 0, more)
  await forgetMarks()
  await writeFile(path('a'), text.replace('"n":140000}', '"n":140001}'))
  await expect(load(['a'], more)).rejects.toMatchObject({ code: 'INPUT_CHANGED' })
})

test('two runs at once share a file of dead letters, and each record in it is whole', async () => {
  const bad = (from: number) => Array.from({ length: 400 }, (_, n) => `{"n":${from + n}}\nnone\n`).join('')
  await writeFile(path('a'), bad(1))
  await writeFile(path('b'), bad(1001))
  const deadLetters = path('shared.ndjson')
  const receipts = await Promise.all([load(['a'], { deadLetters }), load(['b'], { deadLetters })])
  expect(receipts.map(({ rejected }) => rejected)).toEqual([400, 400])
  const records = (await readFile(deadLetters, 'utf8')).trimEnd().split('\n')
  const of = records.map(record => JSON.parse(record) as { readonly run: string; readonly line: string })
  for (const { run } of receipts) expect(of.filter(one => one.run === run && one.line === 'none')).toHaveLength(400)
})
