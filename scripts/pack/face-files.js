// What a project writes that uses the package: a test that goes through every door, and types of what can be loaded.

/** Each kind of source has two documents. */
const use = `
async function useEveryDoor() {
  const lab = await startLab()
  try {
    await useWith(lab)
  } finally {
    await lab.close()
  }
}
async function useWith(lab) {
  const { url, apiKey, caFile } = lab.line.cluster
  const target = { url, apiKey, ca: readFileSync(caFile) }
  const options = { target, proxy: lab.line.proxy.http, index: 'faces' }
  const lines = '{"a":1}\\n{"a":2}\\n'
  const bytes = new TextEncoder().encode(lines)
  const documents = [{ a: 1 }, { a: 2 }]
  async function* each() {
    yield* documents
  }
  const web = chunks =>
    new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk)
        controller.close()
      },
    })
  const sources = {
    array: documents,
    generator: each(),
    buffers: [Buffer.from('{"a":1}'), '{"a":2}'],
    stream: Readable.from([Buffer.from(lines)], { objectMode: false }),
    objects: Readable.from(documents),
    webBytes: web([bytes.subarray(0, 5), bytes.subarray(5)]),
    webText: web([lines]),
    webObjects: web(documents),
  }
  for (const [name, source] of Object.entries(sources)) {
    const { status, created } = await ingest({ ...options, source })
    assert.deepEqual([name, status, created], [name, 'finished', 2])
  }
  const byteStream = Readable.from([lines], { objectMode: false })
  const transformed = await ingest({ ...options, source: byteStream, transform: document => ({ ...document, b: 1 }) })
  assert.equal(transformed.created, 2)
  const error = await ingest({ ...options, source: documents, target: { ...target, apiKey: 'bm86Ym9keQ==' } }).catch(one => one)
  assert.ok(error instanceof SluiceError, String(error))
  assert.equal(error.code, 'CLUSTER_AUTH_REJECTED')
  const { url: instance, username, password } = lab.line.servicenow
  const access = { servicenow: { url: instance, username, password, ca: readFileSync(caFile) }, proxy: lab.line.proxy.http }
  const platform = await connectServiceNow(access)
  const { sys_id: id } = await platform.table('incident').create({ short_description: 'faces' })
  assert.equal(typeof id, 'string')
  const Connection = connectionThrough({ proxy: lab.line.proxy.socks5 })
  const client = new Client({ node: url, auth: { apiKey }, tls: { ca: readFileSync(caFile) }, Connection })
  assert.equal((await client.count({ index: 'faces' })).count, 18)
  await client.close()
  await platform.close()
}
`
const modules = `
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import { Client } from '@elastic/elasticsearch'
import { SluiceError, ingest } from 'sluice'
import { connectionThrough } from 'sluice/connection'
import { startLab } from 'sluice/lab'
import { connectServiceNow } from 'sluice/servicenow'
`
const common = modules.replaceAll(/import (.*) from (.*)/g, 'const $1 = require($2)')
const test = "test('a project goes through every door', useEveryDoor, 300_000)\n"
const nodeTest = "test('a project goes through every door', useEveryDoor)\n"

/** Returns a test for a runner: `node:test`, `vitest` or `jest`, with `import` or `require`. */
export function testFor(runner, isCommon) {
  if (runner === 'jest') return common + use + test
  const its = isCommon ? `const { test } = require('${runner}')\n` : `import { test } from '${runner}'\n`
  return its + (isCommon ? common : modules) + use + (runner === 'node:test' ? nodeTest : test)
}

/** Both module systems in one process: an error of either is an error of the other. */
export const bothSystems = `
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import * as imported from 'sluice'
const required = createRequire(import.meta.url)('sluice')
assert.notEqual(required.ingest, imported.ingest)
for (const { ingest } of [required, imported]) {
  const error = await ingest({ source: [], index: 'faces' }).catch(one => one)
  assert.ok(error instanceof required.SluiceError, String(error))
  assert.ok(error instanceof imported.SluiceError, String(error))
}
assert.ok(!(new Error('another') instanceof imported.SluiceError))
`

const streams = `
import { Readable } from 'node:stream'
import { ReadableStream as NodeStream } from 'node:stream/web'
import { type IngestOptions, type Receipt, ingest } from 'sluice'

const options: Omit<IngestOptions, 'source'> = { target: { url: 'https://localhost:9200' }, index: 'orders' }
interface Order { readonly order: string }
async function* orders(): AsyncGenerator<Order> { yield { order: 'A' } }

export const loaded: readonly Promise<Receipt>[] = [
  ingest({ ...options, source: new NodeStream<Uint8Array>() }),
  ingest({ ...options, source: new NodeStream<Order>() }),
  ingest({ ...options, source: new NodeStream<string>() }),
  ingest({ ...options, source: Readable.from([]) }),
  ingest({ ...options, source: orders() }),
  ingest({ ...options, source: new Set<Order>() }),
]
export const ofGlobal = (source: ReadableStream<Uint8Array>) => ingest({ ...options, source })
export const ofObjects = (source: ReadableStream<Order>) => ingest({ ...options, source })
export const ofAnswer = async () => {
  const { body } = await fetch('https://localhost/orders')
  return body === null ? undefined : await ingest({ ...options, source: body })
}
// @ts-expect-error a number is no source
export const wrong = ingest({ ...options, source: 5 })
`

/** Files that a compiler checks: `global` streams are those of the dom library, if there is one. */
export const typeFiles = { 'types/streams.mts': streams, 'types/streams.cts': streams }

/** Programs with wrong types, by the door whose declarations must refuse them. Each line that begins with `wrong` has one error. */
export const wrongPrograms = {
  sluice: `
import { type IngestOptions, type Receipt, ingest, replay, serve } from 'sluice'
const target = { url: 'https://localhost:9200' }
const wrongIndex: IngestOptions = { source: [], target, index: 5 }
const wrongName: IngestOptions = { source: [], target, index: 'orders', indx: 'orders' }
const wrongSource = () => ingest({ source: 5, target, index: 'orders' })
const wrongTarget = () => replay({ source: 'dead.ndjson', target: 5 })
const wrongToken = () => serve({ target, index: 'orders', stateDir: 'state', token: 5 })
const wrongCount = (receipt: Receipt): string => receipt.created
export const all = [wrongIndex, wrongName, wrongSource, wrongTarget, wrongToken, wrongCount]
`,
  'sluice/servicenow': `
import { connectServiceNow, pull } from 'sluice/servicenow'
const servicenow = { url: 'https://localhost', username: 'reader', password: 'secret' }
const wrongUrl = () => connectServiceNow({ servicenow: { ...servicenow, url: 5 } })
const wrongTable = () => pull({ servicenow, table: 5 })
export const all = [wrongUrl, wrongTable]
`,
  'sluice/connection': `
import { connectionThrough } from 'sluice/connection'
const wrongProxy = () => connectionThrough({ proxy: 5 })
export const all = [wrongProxy]
`,
  'sluice/lab': `
import { type Lab, startLab } from 'sluice/lab'
const wrongVersion = () => startLab({ version: 'the newest' })
const wrongLine = (lab: Lab): number => lab.line.cluster.url
export const all = [wrongVersion, wrongLine]
`,
}

/** Returns the places of the errors that a compiler has to report for these files: `FILE:LINE`. */
export function wrongLines(files) {
  return Object.entries(files).flatMap(([name, text]) =>
    text.split('\n').flatMap((line, at) => (line.startsWith('const wrong') ? [`${name}:${at + 1}`] : [])),
  )
}

/** The wrong programs of each module system. */
export const wrongFiles = Object.fromEntries(
  Object.entries(wrongPrograms).flatMap(([door, text]) =>
    ['mts', 'cts'].map(kind => [`wrong/${door.replace('/', '-')}.${kind}`, text]),
  ),
)
