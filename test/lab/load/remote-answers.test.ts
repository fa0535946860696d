import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ingest } from '../../../src/index.js'
import { type LabWorld, startLabWorld } from '../../contracts/lab-world.js'
import { failureOf, loadThrough, newIndex } from '../../contracts/options.js'

/** Answers of web servers that are legal and rare, and pages in place of a file. */
let world: LabWorld
beforeAll(async () => {
  world = await startLabWorld()
})
afterAll(async () => await world[Symbol.asyncDispose]())

async function serving(answer: RequestListener) {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.ndjson`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const load = (source: string) => ({ ...loadThrough(world, world.proxy.http), source, index: newIndex() })

test('a part of an object whose size the server does not know is loaded like a stream', async () => {
  const bytes = Buffer.from(Array.from({ length: 40 }, (_, n) => `{"n":${n}}\n`).join(''))
  await using server = await serving(({ headers }, response) => {
    const [, first] = /^bytes=(\d+)-/.exec(headers.range ?? '') ?? []
    if (first === undefined) return void response.writeHead(200, { etag: '"1"' }).end(bytes)
    const part = bytes.subarray(Number(first), Number(first) + 100)
    const range = `bytes ${first}-${Number(first) + part.length - 1}/*`
    response.writeHead(206, { etag: '"1"', 'content-range': range }).end(part)
  })
  expect(await ingest(load(server.url))).toMatchObject({ read: 40, created: 40 })
})

test('a page to sign in is named, and no line of it becomes a rejected document', async () => {
  await using server = await serving((_, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end('\n<!DOCTYPE html><title>Sign in</title>\n')
  })
  const { code, evidence } = await failureOf(ingest(load(server.url)))
  expect({ code, observed: evidence['observed'] }).toEqual({
    code: 'SOURCE_REFUSED',
    observed: 'it answers with a web page, such as a page to sign in, instead of the file',
  })
})

test('lines are loaded also if the server calls them HTML', async () => {
  await using server = await serving((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('{"n":1}\n{"n":2}\n')
  })
  expect(await ingest(load(server.url))).toMatchObject({ created: 2 })
})

test('an object whose parts have different sizes is refused, also if its ETag stays', async () => {
  const bytes = Buffer.from(
    Array.from({ length: 90 }, (_, n) => `{"n":${n},"fill":"${'x'.repeat(100_000)}"}\n`).join(''),
  )
  const length = bytes.indexOf('\n', 5_000_000) + 1
  await using server = await serving(({ headers }, response) => {
    const [, first = 0, last = 0] = /^bytes=(\d+)-(\d+)/.exec(headers.range ?? '')?.map(Number) ?? []
    // The second part says that the object ends in it.
    const size = first === 4 << 20 ? length : bytes.length
    const part = bytes.subarray(first, Math.min(last + 1, size))
    const range = `bytes ${first}-${first + part.length - 1}/${size}`
    response.writeHead(206, { etag: '"1"', 'content-range': range }).end(part)
  })
  const { code, evidence } = await failureOf(ingest(load(server.url)))
  expect({ code, observed: evidence['observed'] }).toEqual({
    code: 'INPUT_REPLACED',
    observed: 'its parts come with different sizes of the whole',
  })
})

test.each([
  ['Location', { location: `${'a'.repeat(9000)}://x` }, 302],
  ['Content-Encoding', { 'content-encoding': Array.from({ length: 1000 }, () => 'gzip').join(',') }, 200],
])('a very long header %s makes no long message', async (_, headers, status) => {
  await using server = await serving((__, response) => void response.writeHead(status, headers).end('{}\n'))
  const { evidence } = await failureOf(ingest(load(server.url)))
  expect(String(evidence['problem']).length).toBeLessThan(300)
})
