// @module-tag long
/** Rejected documents of any earlier run wait until somebody acts: not only those of the last run of an input. */
import { appendFile, copyFile, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { connect, ingest, type IngestOptions, isSluiceError, replay, type Receipt, verify } from '../../../src/index.js'
import { forgetRun } from '../../../src/cli/commands/run-list.js'
import { index, otherIndex, path, shareLab, smallBatches, way } from '../../support/lab/shared-lab.js'
import { ObjectServer } from '../../support/servers/object-server.js'
import { runFiles } from '../../support/state/stored-runs.js'
import { follow } from '../follow/followed.js'

shareLab()

beforeEach(async () => {
  otherIndex()
  await withMapping('long')
})

async function withMapping(type: 'long' | 'keyword'): Promise<void> {
  const { deadLetters: _, ...way } = smallBatches()
  await using open = await connect({ ...way, preflightConnections: 1 })
  const { client } = open
  await client.indices.delete({ index, ignore_unavailable: true })
  await client.indices.create({ index, mappings: { properties: { n: { type } } } })
}

interface Ended {
  readonly run: string
  readonly code: string | undefined
  /** Documents that wait, of each run. */
  readonly waiting: readonly number[]
  readonly files: readonly (string | undefined)[]
}

function ended(receipt: Receipt | undefined, code?: string): Ended {
  const { run = '', unreplayed = [] } = receipt ?? {}
  return { run, code, waiting: unreplayed.map(one => one.documents), files: unreplayed.map(one => one.deadLetters) }
}

let letters = 0

/** Each load has dead letters of its own, unless it names a file. */
async function load(source: string | readonly string[], more: Partial<IngestOptions> = {}): Promise<Ended> {
  const named = [source].flat().map(one => (one.includes('://') ? one : path(one)))
  const own = { ...smallBatches(), source: named, deadLetters: path(`dead-${(letters += 1)}.ndjson`) }
  try {
    return ended(await ingest({ ...own, ...more }))
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return ended(error.receipt, error.code)
  }
}

const last = () => path(`dead-${letters}.ndjson`)

async function again(source: string, more: object = {}): Promise<Ended> {
  return ended(
    await replay({ ...smallBatches(), source, deadLetters: path(`again-${(letters += 1)}.ndjson`), ...more }),
  )
}

async function repair(file: string, lines = Infinity): Promise<void> {
  const text = (await readFile(file, 'utf8')).trimEnd().split('\n').slice(0, lines)
  await writeFile(file, text.map(line => `${line.replace('"n":"x"', '"n":7')}\n`).join(''))
}

let made = 0
const good = (count: number) => Array.from({ length: count }, () => `{"n":${(made += 1)}}\n`).join('')
const bad = (count: number) => Array.from({ length: count }, () => `{"n":"x","made":${(made += 1)}}\n`).join('')

async function write(name: string, text: string): Promise<void> {
  await writeFile(path(name), text)
}

async function append(name: string, text: string): Promise<void> {
  await appendFile(path(name), text)
}

/** Resolves to the load that names what waits. */
type Story = () => Promise<() => Promise<Ended>>

/** `waiting`: documents that wait, of each run, fewest first. */
const stories: Record<string, { readonly story: Story; readonly waiting: readonly number[]; readonly code?: string }> =
  {
    'new lines were loaded since, and nothing is new': {
      waiting: [3],
      story: async () => {
        await write('a', good(20) + bad(3))
        await load('a')
        await append('a', good(5))
        expect(await load('a')).toMatchObject({ waiting: [3] })
        return async () => await load('a')
      },
    },
    'two runs of a file rejected different lines': {
      waiting: [2, 3],
      story: async () => {
        await write('a', good(2) + bad(3))
        await load('a')
        await append('a', bad(2))
        await load('a')
        await append('a', good(1))
        await load('a')
        return async () => await load('a')
      },
    },
    'more lines followed one load with too many': {
      waiting: [12],
      code: 'REJECTED_NOT_REPLAYED',
      story: async () => {
        await write('a', good(2) + bad(12))
        expect(await load('a', { maxRejected: 5, batchDocs: 100 })).toMatchObject({ code: 'TOO_MANY_REJECTED' })
        await append('a', good(5))
        expect(await load('a')).toMatchObject({ code: 'REJECTED_NOT_REPLAYED' })
        return async () => await load('a')
      },
    },
    'one of several inputs has grown': {
      waiting: [1],
      story: async () => {
        await write('a', good(2) + bad(1))
        await write('b', good(2))
        await load(['a', 'b'])
        await append('a', good(1))
        await load(['a', 'b'])
        return async () => await load(['b', 'a'])
      },
    },
    'a glob has a new file each night, and the old one is removed': {
      waiting: [1],
      story: async () => {
        await write('n-1.log', good(2) + bad(1))
        await load('n-*.log', { format: 'ndjson' })
        await rm(path('n-1.log'))
        await write('n-2.log', good(2))
        await load('n-*.log', { format: 'ndjson' })
        return async () => await load('n-*.log', { format: 'ndjson' })
      },
    },
    'the input was renamed, compressed and loaded by another command': {
      waiting: [2],
      story: async () => {
        await write('a.ndjson', good(20) + bad(2))
        await load('a.ndjson')
        await write('b.ndjson.gz', '')
        await writeFile(
          path('b.ndjson.gz'),
          gzipSync(Buffer.concat([await readFile(path('a.ndjson')), Buffer.from(good(3))])),
        )
        await rm(path('a.ndjson'))
        await load('b.ndjson.gz')
        return async () => await load('b.ndjson.gz')
      },
    },
    'the file of that name is another one now, after a rotation': {
      waiting: [2],
      story: async () => {
        await write('a', good(20) + bad(2))
        await load('a')
        await rename(path('a'), path('a.1'))
        await write('a', good(30))
        await load('a')
        return async () => await load('a')
      },
    },
    'a load with --follow rejected them': {
      waiting: [2],
      story: async () => {
        await write('a.ndjson', good(1) + bad(2))
        const following = follow(path('a.ndjson'), { deadLetters: last(), stateDir: path('state') })
        await following.stored(1)
        await following.stop()
        await append('a.ndjson', good(2))
        await load('a.ndjson')
        return async () => await load('a.ndjson')
      },
    },
    'a URL of unknown length has grown': {
      waiting: [2],
      story: async () => {
        const server = await ObjectServer.start()
        onTestFinished(async () => await server[Symbol.asyncDispose]())
        server.sendsLength = false
        const lines = good(3) + bad(2)
        server.put('a.ndjson', lines)
        await load(server.url('a.ndjson'))
        server.put('a.ndjson', lines + good(4))
        await load(server.url('a.ndjson'))
        return async () => await load(server.url('a.ndjson'))
      },
    },
    'a replay rejected some of them again': {
      waiting: [1],
      story: async () => {
        await write('a', good(2) + bad(3))
        await load('a')
        const file = last()
        const text = (await readFile(file, 'utf8')).split('\n')
        await writeFile(
          file,
          [text[0]?.replace('"n":"x"', '"n":1'), text[1]?.replace('"n":"x"', '"n":2'), text[2], ''].join('\n'),
        )
        await again(file)
        await append('a', good(1))
        await load('a')
        return async () => await load('a')
      },
    },
    'two runs share a file, and only the first was replayed': {
      waiting: [2],
      story: async () => {
        const shared = { deadLetters: path('shared.ndjson') }
        await write('a', good(2) + bad(3))
        await load('a', shared)
        await repair(path('shared.ndjson'))
        await again(path('shared.ndjson'))
        await append('a', bad(2))
        await load('a', shared)
        return async () => await load('a')
      },
    },
    'two runs share a file, and all of it was replayed in two parts': {
      waiting: [],
      story: async () => {
        const shared = { deadLetters: path('shared.ndjson') }
        await write('a', good(2) + bad(3))
        await load('a', shared)
        // Unchanged, so that the second replay reads only what is new.
        await again(path('shared.ndjson'), { index: `${index}-texts` })
        await append('a', bad(2))
        await load('a', shared)
        expect(await load('a')).toMatchObject({ waiting: [2] })
        await again(path('shared.ndjson'), { index: `${index}-texts` })
        return async () => await load('a')
      },
    },
    'a copy of the file was repaired and replayed': {
      waiting: [],
      story: async () => {
        await write('a', good(2) + bad(3))
        await load('a')
        await copyFile(last(), path('copy.ndjson'))
        await repair(path('copy.ndjson'))
        await again(path('copy.ndjson'))
        return async () => await load('a')
      },
    },
    'a copy of a part of the file was replayed': {
      waiting: [3],
      story: async () => {
        await write('a', good(2) + bad(3))
        await load('a')
        await copyFile(last(), path('copy.ndjson'))
        await repair(path('copy.ndjson'), 2)
        await again(path('copy.ndjson'))
        return async () => await load('a')
      },
    },
    'a copy of a part of the file was replayed, with dead letters of a run that is not known': {
      waiting: [3],
      story: async () => {
        const shared = path('shared.ndjson')
        await write('x', good(2) + bad(5))
        await load('x', { stateDir: path('elsewhere'), deadLetters: shared })
        await write('a', good(2) + bad(3))
        await load('a', { deadLetters: shared })
        await copyFile(shared, path('copy.ndjson'))
        await repair(path('copy.ndjson'), 7)
        await again(path('copy.ndjson'))
        return async () => await load('a')
      },
    },
    'the file was renamed, and a replay rejected its documents again': {
      waiting: [3],
      story: async () => {
        await write('a', good(2) + bad(3))
        await load('a')
        await rename(last(), path('renamed.ndjson'))
        await again(path('renamed.ndjson'))
        return async () => await load('a')
      },
    },
    'all was loaded again with --again': {
      waiting: [14],
      story: async () => {
        await write('a', good(2) + bad(12))
        await load('a', { maxRejected: 5, batchDocs: 100 })
        await append('a', bad(2))
        await load('a')
        expect(await load('a', { again: true })).toMatchObject({ waiting: [], code: undefined })
        await append('a', good(1))
        await load('a')
        return async () => await load('a')
      },
    },
    'only one of its inputs was loaded with --again': {
      waiting: [1, 2],
      story: async () => {
        await write('a', good(2) + bad(1))
        await write('b', good(2) + bad(1))
        await load(['a', 'b'])
        await load('a', { again: true })
        return async () => await load(['a', 'b'])
      },
    },
    'a run of the same name was loaded with --again': {
      waiting: [2],
      story: async () => {
        await write('a', good(2) + bad(2))
        await load('a', { runId: 'night' })
        await load('a', { runId: 'night', again: true })
        return async () => await load('a', { runId: 'night' })
      },
    },
    'one of two runs was forgotten': {
      waiting: [3],
      story: async () => {
        await write('a', good(2) + bad(3))
        await load('a')
        await append('a', bad(2))
        const { run } = await load('a')
        await append('a', good(1))
        await load('a')
        await forgetRun(path('state'), run)
        return async () => await load('a')
      },
    },
    'the index was deleted, and all was loaded again': {
      waiting: [],
      story: async () => {
        await write('a', good(2) + bad(3))
        await load('a')
        await withMapping('keyword')
        await load('a')
        return async () => await load('a')
      },
    },
    'the run was continued with other files of dead letters': {
      waiting: [1, 5, 6],
      story: async () => {
        const calm = { batchDocs: 10, concurrency: 1 }
        await write('a', good(4) + bad(6) + good(1005) + bad(5) + good(1009) + bad(1))
        expect(await load('a', { ...calm, maxRejected: 2 })).toMatchObject({ code: 'TOO_MANY_REJECTED' })
        const first = last()
        expect(await load('a', { ...calm, maxRejected: 2 })).toMatchObject({
          code: 'TOO_MANY_REJECTED',
          files: [first],
        })
        const { run, waiting } = await load('a')
        expect(waiting).toEqual([6, 5])
        const checked = await verify({ ...way(), run, stateDir: path('state') })
        expect(checked).toMatchObject({ ok: true, rejected: 12, unlisted: 0 })
        return async () => await load('a')
      },
    },
    'they were rejected by another index': {
      waiting: [],
      story: async () => {
        await write('a', bad(3) + good(2))
        await load('a')
        // Its first document makes the field a text.
        await load('a', { index: `${index}-other` })
        return async () => await load('a', { index: `${index}-other` })
      },
    },
    'it failed, was read again, and both runs are older than any limit': {
      waiting: [],
      story: async () => {
        await write('a', bad(3) + good(2))
        expect(await load('a', { maxRejected: 2 })).toMatchObject({ code: 'TOO_MANY_REJECTED' })
        const more = { edits: { drop: ['n'] }, keepRuns: 1 }
        await load('a', { ...more, again: true })
        for (let night = 0; night < 3; night += 1) {
          await append('a', good(1))
          await load('a', more)
        }
        return async () => await load('a', more)
      },
    },
    'a replay in two parts is older than any limit, and its run is unfinished': {
      waiting: [],
      story: async () => {
        const calm = { deadLetters: path('parts.ndjson'), batchDocs: 10, concurrency: 1 }
        await write('a', good(4) + bad(6) + good(1005) + bad(5) + good(1009))
        for (const _ of [1, 2]) {
          expect(await load('a', { ...calm, maxRejected: 2 })).toMatchObject({ code: 'TOO_MANY_REJECTED' })
          // Unchanged, so that the second replay reads only what is new.
          await again(path('parts.ndjson'), { index: `${index}-texts` })
        }
        await write('b', good(2))
        await load('b')
        for (const file of await runFiles(path('state'))) await utimes(file, 1, 1)
        await write('c', good(2))
        await load('c', { keepDays: 1 })
        return async () => await load('a')
      },
    },
    'the run is older than any limit': {
      waiting: [3],
      story: async () => {
        await write('a', good(2) + bad(3))
        const { run } = await load('a')
        await write('b', good(2))
        await load('b')
        for (const file of await runFiles(path('state'))) await utimes(file, 1, 1)
        await load('b', { keepDays: 1 })
        expect((await readdir(path('state/runs'))).join()).toContain(run)
        return async () => await load('a', { keepDays: 1 })
      },
    },
  }

test.for(Object.entries(stories))('a load names what waits if %s', async ([, { story, waiting, code }]) => {
  const repeat = await story()
  const found = await repeat()
  expect(found.waiting.toSorted((one, other) => one - other)).toEqual(waiting)
  expect(found.code).toBe(code)
  // The same once more: only what is advised ends it.
  expect(await repeat()).toMatchObject({ waiting: found.waiting, code })
  for (const file of new Set(found.files)) {
    await repair(file ?? '')
    expect(await again(file ?? '')).toMatchObject({ code: undefined })
  }
  expect(await repeat()).toMatchObject({ waiting: [], code: undefined })
})

test('of many runs, three are named each, and the receipt names all', async () => {
  const said: string[] = []
  const heard: number[] = []
  await write('a', good(2))
  for (const count of [1, 2, 3, 4, 5]) {
    await append('a', bad(count))
    await load('a')
  }
  const onEvent: IngestOptions['onEvent'] = event => {
    if (event.type !== 'warning') return
    said.push(event.message)
    if (event.missing?.unreplayed !== undefined) heard.push(event.missing.unreplayed)
  }
  const { waiting, files } = await load('a', { onEvent })
  expect(waiting).toEqual([5, 4, 3, 2, 1])
  expect(new Set(files).size).toBe(5)
  expect(said.filter(one => one.includes('sluice replay'))).toHaveLength(3)
  expect(said.at(-1)).toContain('2 more runs rejected 3 documents')
  expect(heard.at(-1)).toBe(15)
})
