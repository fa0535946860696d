/** A dry run says what a load would do with each input. It sends nothing, and writes nothing into the state. */
import { appendFile, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type IngestEvent, type IngestOptions, type Receipt, ingest, isSluiceError } from '../../../src/index.js'
import { lines } from '../../support/lab/run-world.js'
import { index, lab, path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()

const all = () => path('*.ndjson')

async function load(source: IngestOptions['source'], more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await ingest({ source, ...smallBatches(), deadLetters: path('dead.letters'), ...more })
}

async function dry(source: IngestOptions['source'], more: Partial<IngestOptions> = {}): Promise<Receipt> {
  try {
    return await load(source, { ...more, dryRun: true })
  } catch (error) {
    if (isSluiceError(error) && error.receipt !== undefined) return error.receipt
    throw error
  }
}

async function interrupted(source: IngestOptions['source'], after: number): Promise<void> {
  const controller = new AbortController()
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'progress' && event.counts.created >= after) controller.abort('test')
  }
  await expect(load(source, { signal: controller.signal, onEvent })).rejects.toMatchObject({ code: 'RUN_INTERRUPTED' })
}

/** Every file of the state with its content and its time of change. */
async function stateNow(): Promise<unknown> {
  const names = (await readdir(path('state'), { recursive: true })).toSorted()
  return await Promise.all(
    names.map(async name => {
      const at = join(path('state'), name)
      const found = await stat(at)
      return [name, found.mtimeMs, found.ctimeMs, found.isFile() ? await readFile(at, 'utf8') : '']
    }),
  )
}

async function plans(): Promise<Record<string, unknown>> {
  const { inputs } = await dry(all())
  return Object.fromEntries(inputs.map(({ name, plan }) => [name.replace(path(''), '').replace('/', ''), plan]))
}

test('lists what is new, known, continued and changed, and leaves the state as it is', { tags: 'long' }, async () => {
  for (const name of ['known', 'grown', 'changed'])
    await writeFile(path(`${name}.ndjson`), `${lines(30)}{"of":"${name}"}\n`)
  const first = await load(all())
  await writeFile(path('begun.ndjson'), `not json\n${lines(400)}`)
  await interrupted(path('begun.ndjson'), 100)
  await appendFile(path('grown.ndjson'), lines(5))
  await writeFile(path('new.ndjson'), lines(7))
  await writeFile(path('changed.ndjson'), `{"of":"others"}\n${lines(30)}`)
  const before = await stateNow()
  const letters = await stat(path('dead.letters'))
  const count = lab.control.count(index)
  const receipt = await dry(all())
  expect(receipt).toMatchObject({ dryRun: true, status: 'finished', requests: 0, thisProcess: { created: 0 } })
  const by = { run: first.run, at: expect.any(String) as string }
  expect(receipt.inputs).toMatchObject([
    { name: path('begun.ndjson'), plan: 'continues', resumedAt: expect.any(Number) as number },
    { name: path('changed.ndjson'), plan: 'changed', loadedBy: by, read: 31 },
    { name: path('grown.ndjson'), plan: 'continues', loadedBy: by, resumedAt: 32 },
    { name: path('known.ndjson'), plan: 'known', alreadyLoaded: true, loadedBy: by },
    { name: path('new.ndjson'), plan: 'new', read: 7 },
  ])
  expect(receipt).not.toHaveProperty('checkpoint')
  expect(await stateNow()).toEqual(before)
  expect(await stat(path('dead.letters'))).toEqual(letters)
  expect(lab.control.count(index)).toBe(count)
  // What it said is what the load then does.
  const loaded = await load(all())
  expect(loaded.thisProcess.created).toBe(receipt.thisProcess.unsent)
  expect(await plans()).toEqual(
    Object.fromEntries(['begun', 'changed', 'grown', 'known', 'new'].map(name => [`${name}.ndjson`, 'known'])),
  )
})

test('lists an input that a load would refuse with the reason, and ends as the load would', async () => {
  await writeFile(path('a.ndjson'), lines(400))
  await interrupted(all(), 100)
  await writeFile(path('a.ndjson'), `{"n":"x"}\n${lines(400)}`)
  await utimes(path('a.ndjson'), 1, 1)
  await writeFile(path('b.ndjson'), lines(3))
  const before = await stateNow()
  const receipt = await dry(all())
  expect(receipt).toMatchObject({
    failure: { code: 'INPUT_CHANGED' },
    inputs: [
      { name: path('a.ndjson'), plan: 'changed', failure: { code: 'INPUT_CHANGED' } },
      { name: path('b.ndjson'), plan: 'new', read: 3 },
    ],
  })
  expect(await stateNow()).toEqual(before)
  await expect(load(all())).rejects.toMatchObject({ code: 'INPUT_CHANGED' })
})

test('options that differ from those of the load are refused by name', async () => {
  await writeFile(path('a.ndjson'), lines(4))
  await load(all())
  expect(await dry(all(), { ids: 'field', idField: 'n' })).toMatchObject({
    inputs: [{ plan: 'changed', failure: { code: 'RUN_OPTIONS_CHANGED' } }],
  })
})

test('a file that was rotated is not called changed', async () => {
  await writeFile(path('app.ndjson'), lines(4))
  await load(all())
  await rename(path('app.ndjson'), path('app-1.ndjson'))
  await writeFile(path('app.ndjson'), lines(9))
  expect(await plans()).toEqual({ 'app-1.ndjson': 'known', 'app.ndjson': 'new' })
})

test('before the first load everything is new, and no state folder is made', async () => {
  await writeFile(path('a.ndjson'), lines(4))
  expect(await plans()).toEqual({ 'a.ndjson': 'new' })
  await expect(readdir(path('state'))).rejects.toMatchObject({ code: 'ENOENT' })
})
