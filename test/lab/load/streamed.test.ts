// @module-tag long
/** URLs of unknown length whose second answer is needed, because the first one cannot stay open, or is longer than what stays in memory. */
import { expect, test } from 'vitest'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { ingest, type IngestOptions, isSluiceError, type Receipt } from '../../../src/index.js'
import { ObjectServer } from '../../support/servers/object-server.js'
import { index, lab, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)
const lines = (from: number, to: number) =>
  numbers(from, to)
    .map(n => `{"n":${n}}\n`)
    .join('')
const fill = 'x'.repeat(100_000)
const long = (all: readonly number[]) => all.map(n => `{"n":${n},"fill":"${fill}"}\n`).join('')

async function load(source: IngestOptions['source'], more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await ingest({ source, ...smallBatches(), ...more })
}

function stored(): number[] {
  const documents = lab.control.ids(index).map(id => String(lab.control.source(index, id)))
  return documents.map(one => (JSON.parse(one) as { n: number }).n).toSorted((a, b) => a - b)
}

async function streaming(): Promise<ObjectServer> {
  const server = await ObjectServer.start()
  server.sendsLength = false
  return server
}

test('one that was sent with its length before, and then fails without it, is still known', async () => {
  await using server = await streaming()
  server.sendsLength = true
  server.put('a.ndjson', lines(0, 6000))
  await load(server.url('a.ndjson'))
  server.sendsLength = false
  server.put('a.ndjson', lines(0, 6010))
  server.fault = (_, response, object) => {
    if (object === undefined) return false
    response.writeHead(200).write(object.bytes.subarray(0, 40_000), () => response.destroy())
    return true
  }
  const failed = await load(server.url('a.ndjson'), { maxElapsedMs: 0 }).catch((error: unknown) => error)
  expect(isSluiceError(failed) && failed.code).toBe('SOURCE_UNAVAILABLE')
  server.fault = undefined
  expect(await load(server.url('a.ndjson'))).toMatchObject({ created: 10, duplicate: 0 })
  expect(stored()).toEqual(numbers(0, 6010))
})

/** More than stay open between the comparison and the load. */
const NAMES = numbers(0, 7).map(n => `${n}.ndjson`)

test('many of them load their new lines, and then nothing', async () => {
  await using server = await streaming()
  const urls = NAMES.map(name => server.url(name))
  for (const [at, name] of NAMES.entries()) server.put(name, lines(at * 100, at * 100 + 20))
  expect(await load(urls)).toMatchObject({ created: 140 })
  for (const [at, name] of NAMES.entries()) server.put(name, lines(at * 100, at * 100 + 30))
  expect(await load(urls)).toMatchObject({ created: 70, duplicate: 0 })
  server.asked = []
  expect(await load(urls)).toMatchObject({ created: 0, inputs: NAMES.map(() => ({ alreadyLoaded: true })) })
  expect(server.asked).toHaveLength(14)
  expect(stored()).toEqual(NAMES.flatMap((_, at) => numbers(at * 100, at * 100 + 30)))
})

test('one that is replaced between the comparison and the load fails, and nothing of it is lost or doubled', async () => {
  await using server = await streaming()
  const urls = NAMES.map(name => server.url(name))
  for (const [at, name] of NAMES.entries()) server.put(name, lines(at * 100, at * 100 + 20))
  await load(urls)
  for (const [at, name] of NAMES.entries()) server.put(name, lines(at * 100, at * 100 + 30))
  let answers = 0
  server.fault = ({ path: asked, headers }) => {
    if (asked !== '/6.ndjson' || headers.range !== undefined) return false
    answers += 1
    if (answers === 1) server.put('6.ndjson', lines(2000, 2040))
    return false
  }
  const failed = await load(urls).catch((error: unknown) => error)
  expect(isSluiceError(failed) && failed.code).toBe('INPUT_REPLACED')
  expect(await load(urls)).toMatchObject({ status: 'finished', duplicate: 0 })
  const others = NAMES.slice(0, 6).flatMap((_, at) => numbers(at * 100, at * 100 + 30))
  expect(stored()).toEqual([...others, ...numbers(600, 620), ...numbers(2000, 2040)])
})

test('one that is edited behind what stays in memory is read again, and loaded whole', async () => {
  await using server = await streaming()
  server.put('a.ndjson', long(numbers(0, 200)))
  await load(server.url('a.ndjson'))
  const edited = [...numbers(0, 190), ...numbers(500, 510)]
  server.put('a.ndjson', long(edited))
  server.asked = []
  expect(await load(server.url('a.ndjson'))).toMatchObject({ created: 200 })
  expect(server.asked).toHaveLength(3)
  expect(stored()).toEqual([...numbers(0, 200), ...edited].toSorted((a, b) => a - b))
})

test('one that was interrupted continues, also if it does not stay open', async () => {
  await using server = await streaming()
  const urls = NAMES.map(name => server.url(name))
  for (const [at, name] of NAMES.entries()) server.put(name, lines(at * 100, at * 100 + 20))
  server.put('6.ndjson', long(numbers(1000, 1200)))
  const stop = new AbortController()
  const onEvent: IngestOptions['onEvent'] = event => {
    if (event.type === 'progress' && event.counts.created >= 160) stop.abort()
  }
  const stopped = await load(urls, { signal: stop.signal, onEvent }).catch((error: unknown) => error)
  expect(isSluiceError(stopped) && stopped.code).toBe('RUN_INTERRUPTED')
  for (const [at, name] of NAMES.slice(0, 6).entries()) server.put(name, lines(at * 100, at * 100 + 30))
  expect(await load(urls)).toMatchObject({ status: 'finished', created: 380 })
  const others = NAMES.slice(0, 6).flatMap((_, at) => numbers(at * 100, at * 100 + 30))
  expect(stored()).toEqual([...others, ...numbers(1000, 1200)])
})

test('one whose server ends the connection while it waits for its turn is requested again', async () => {
  await using server = await streaming()
  const urls = ['a.ndjson', 'b.ndjson'].map(name => server.url(name))
  server.put('a.ndjson', lines(0, 20))
  server.put('b.ndjson', long(numbers(100, 120)))
  await load(urls)
  server.put('a.ndjson', lines(0, 30))
  server.put('b.ndjson', long(numbers(100, 200)))
  const cut: ServerResponse[] = []
  server.fault = ({ path: asked, headers }, response, object) => {
    if (asked !== '/b.ndjson' || headers.range !== undefined || cut.length > 0 || object === undefined) return false
    cut.push(response.writeHead(200))
    response.write(object.bytes.subarray(0, object.bytes.length / 2))
    return true
  }
  let isCut = false
  const onEvent: IngestOptions['onEvent'] = event => {
    if (event.type !== 'progress' || isCut) return
    isCut = true
    for (const response of cut) response.destroy()
  }
  expect(await load(urls, { onEvent })).toMatchObject({ status: 'finished', created: 90, duplicate: 0 })
  expect(isCut && cut.length).toBe(1)
  expect(stored()).toEqual([...numbers(0, 30), ...numbers(100, 200)])
})

test('an interrupted load continues with an input that cannot be read twice beside it', async () => {
  await using server = await streaming()
  server.put('a.ndjson', long(numbers(0, 100)))
  const stop = new AbortController()
  const onEvent: IngestOptions['onEvent'] = event => {
    if (event.type === 'progress' && event.counts.created >= 20) stop.abort()
  }
  const bare = { ...smallBatches(), deadLetters: false } as const
  await ingest({ ...bare, source: server.url('a.ndjson'), signal: stop.signal, onEvent }).catch(() => undefined)
  const stdin = Readable.from([Buffer.from(lines(500, 520))])
  const receipt = await ingest({ ...bare, source: [server.url('a.ndjson'), '-'], stdin })
  expect(receipt).toMatchObject({ status: 'finished' })
  expect(stored()).toEqual([...numbers(0, 100), ...numbers(500, 520)])
})
