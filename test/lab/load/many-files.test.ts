/** Very many small files, as one load. */
import { mkdir, stat, unlink, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ingest, type IngestEvent, isSluiceError, type Receipt } from '../../../src/index.js'
import { index, lab, path, shareLab, way } from '../../support/lab/shared-lab.js'
import { lastRun } from '../../support/state/stored-runs.js'

shareLab()

const FILES = 500
const DOCUMENTS = 3
const nameOf = (file: number) => path(`in/${file % 10}/${String(file).padStart(5, '0')}.ndjson`)

async function makeFiles(): Promise<void> {
  for (let folder = 0; folder < 10; folder += 1) await mkdir(path(`in/${folder}`), { recursive: true })
  for (let file = 0; file < FILES; file += 1) {
    const lines = Array.from({ length: DOCUMENTS }, (_, n) => `${JSON.stringify({ file, n })}\n`)
    await writeFile(nameOf(file), lines.join(''))
  }
}

const load = async (more: Partial<Parameters<typeof ingest>[0]> = {}) =>
  await ingest({ ...way(), source: path('in/*/*.ndjson'), index, stateDir: path('state'), deadLetters: false, ...more })

const stored = () =>
  lab.control.ids(index).map(id => JSON.parse(String(lab.control.source(index, id))) as { file: number; n: number })

function expectWhole(): void {
  const seen = new Set(stored().map(({ file, n }) => file * DOCUMENTS + n))
  expect(seen.size).toBe(FILES * DOCUMENTS)
  expect(lab.control.count(index)).toBe(FILES * DOCUMENTS)
}

test('share bodies, are known again without a request, and take little state', { tags: 'long' }, async () => {
  await makeFiles()
  const first = await load({ batchMs: 3_600_000 })
  expect(first).toMatchObject({ status: 'finished', read: FILES * DOCUMENTS, created: FILES * DOCUMENTS })
  expect(first.inputs).toHaveLength(FILES)
  expect(first.requests).toBe(1)
  expectWhole()
  const { size } = await stat((await lastRun(path('state'))).path)
  expect(size / FILES).toBeLessThan(250)

  const again = await load()
  expect(again).toMatchObject({ status: 'finished', read: 0, requests: 0 })
  expect(
    again.inputs.every(({ alreadyLoaded, loadedBy }) => alreadyLoaded === true && loadedBy?.run === first.run),
  ).toBe(true)
  expect(lab.control.count(index)).toBe(FILES * DOCUMENTS)
})

test('continue where they were stopped, each from its own mark', { tags: 'long' }, async () => {
  await makeFiles()
  const receipts: Receipt[] = []
  for (const after of [3, 5, 40]) {
    const stop = new AbortController()
    let left = after
    const onEvent = ({ type }: IngestEvent) => {
      if (type === 'progress' && (left -= 1) === 0) stop.abort()
    }
    const stopped = load({ batchDocs: 15, concurrency: 2, signal: stop.signal, onEvent })
    await expect(stopped).rejects.toMatchObject({ code: 'RUN_INTERRUPTED' })
    await stopped.catch((error: unknown) => {
      if (isSluiceError(error)) receipts.push(error.receipt as Receipt)
    })
  }
  const last = await load()
  expect(new Set([...receipts, last].map(({ run }) => run)).size).toBe(1)
  expect(last).toMatchObject({ status: 'finished', read: FILES * DOCUMENTS, unsent: 0, unknown: 0 })
  expect(last.inputs).toHaveLength(FILES)
  expectWhole()
})

test('that vanish between listing and reading are named, and all others are loaded', { tags: 'long' }, async () => {
  await makeFiles()
  const gone = [FILES - 1, FILES - 7].map(nameOf)
  let isFirst = true
  const unlinked: Promise<void>[] = []
  const onEvent = ({ type }: IngestEvent) => {
    if (type !== 'preflight' || !isFirst) return
    isFirst = false
    for (const name of gone) unlinked.push(unlink(name))
  }
  const failed: unknown = await load({ onEvent }).catch((error: unknown) => error)
  await Promise.all(unlinked)
  if (!isSluiceError(failed)) throw failed
  const { inputs, created } = failed.receipt as Receipt
  expect(failed.code).toBe('INPUT_NOT_FOUND')
  expect(inputs.filter(({ status }) => status === 'failed').map(({ name }) => name)).toEqual(gone.toSorted())
  expect(created).toBe((FILES - gone.length) * DOCUMENTS)

  expect(await load()).toMatchObject({ status: 'finished', thisProcess: { read: 0 } })
})
