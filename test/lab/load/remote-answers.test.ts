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
