/** Loads over a connection that `connect` has opened. */
import { writeFile } from 'node:fs/promises'
import { Client, errors } from 'elasticsearch-8'
import { expect, test } from 'vitest'
import { connect, ingest, isSluiceError, replay, serve, type SluiceError } from '../../../src/index.js'
import { index, lab, path, shareLab, way } from '../../support/lab/shared-lab.js'

shareLab()

const opened = () => lab.control.connections().filter(({ at }) => at === 'proxy').length
const small = () => ({ index, deadLetters: false as const, stateDir: path('state') })

function gate() {
  let open = () => {}
  const passed = new Promise<void>(resolve => (open = resolve))
  return { passed, open: () => open() }
}

async function failing(loading: Promise<unknown>): Promise<SluiceError> {
  const error: unknown = await loading.then(
    () => expect.unreachable('the load must fail'),
    (thrown: unknown) => thrown,
  )
  if (!isSluiceError(error)) throw error
  return error
}

test('twenty loads take one preflight and one pool', async () => {
  lab.control.forgetConnections()
  await using connection = await connect({ ...way(), preflightConnections: 16 })
  for (let n = 0; n < 20; n += 1) {
    const receipt = await ingest({ connection, index, deadLetters: false, source: [{ n }] })
    expect(receipt).toMatchObject({ status: 'finished', created: 1, unknown: 0 })
    expect(receipt.bytes.sent).toBeLessThan(5000)
  }
  expect(lab.control.count(index)).toBe(20)
  expect(opened()).toBeLessThanOrEqual(17)
})

test('two loads at once share it, and the client is open after both', async () => {
  await using connection = await connect(way())
  const read = gate()
  async function* slow() {
    yield { n: 1 }
    await read.passed
    yield { n: 2 }
  }
  const first = ingest({ connection, ...small(), source: slow() })
  const second = await ingest({ connection, ...small(), source: [{ n: 3 }], concurrency: 2 })
  read.open()
  expect([second.created, (await first).created]).toEqual([1, 2])
  expect((await connection.client.count({ index })).count).toBe(3)
})

test('closing waits for a load, and later loads are refused', async () => {
  const connection = await connect(way())
  const begun = gate()
  const read = gate()
  async function* slow() {
    begun.open()
    await read.passed
    yield { n: 1 }
  }
  const loading = ingest({ connection, ...small(), source: slow() })
  await begun.passed
  const closing = connection.close()
  const refused = await failing(ingest({ connection, ...small(), source: [{ n: 2 }] }))
  expect(refused.message).toContain('connection: is closed')
  read.open()
  expect((await loading).created).toBe(1)
  await closing
})

test('lost access is named, and the next load tests the connection first', { tags: 'long' }, async () => {
  await using connection = await connect({ ...way(), preflightConnections: 4 })
  await ingest({ connection, ...small(), source: [{ n: 1 }] })
  lab.control.register('none')
  expect((await failing(ingest({ connection, ...small(), source: [{ n: 2 }] }))).code).toBe('EGRESS_NOT_ALLOWED')
  const again = await failing(ingest({ connection, ...small(), source: [{ n: 2 }] }))
  expect(again.failure).toMatchObject({ code: 'EGRESS_NOT_ALLOWED', evidence: { refused: expect.any(Number) } })
  expect(Number(again.failure.evidence['probes'])).toBeGreaterThanOrEqual(4)
  lab.control.register('both')
  lab.control.forgetConnections()
  expect((await ingest({ connection, ...small(), source: [{ n: 2 }] })).created).toBe(1)
  expect(opened()).toBeGreaterThanOrEqual(4)
  expect(lab.control.count(index)).toBe(2)
})

test('credentials that one load renewed hold for the next load and for the client', async () => {
  await using connection = await connect(way())
  const { apiKey } = lab.control.rotateApiKey().cluster
  const renewing = { onBlock: { waitMs: 60_000 }, refreshCredentials: () => ({ apiKey }) }
  expect((await ingest({ connection, ...small(), ...renewing, source: [{ n: 1 }] })).created).toBe(1)
  expect((await ingest({ connection, ...small(), source: [{ n: 2 }] })).created).toBe(1)
  expect((await connection.client.count({ index })).count).toBe(2)
})

test('options that the connection has already are refused', async () => {
  await using connection = await connect({ ...way(), concurrency: 2 })
  const { target, proxy } = way()
  const load = { connection, ...small(), source: [{ n: 1 }] }
  const wrong = {
    target: { ...load, target },
    proxy: { ...load, proxy },
    byteBudget: { ...load, byteBudget: 1_000_000 },
    concurrency: { ...load, concurrency: 3 },
    connection: { ...load, connection: {} },
  }
  for (const [option, options] of Object.entries(wrong)) {
    const { code, failure } = await failing(ingest(options as never))
    expect([code, failure.evidence['option']]).toEqual(['OPTION_INVALID', option])
  }
  expect((await failing(connect({ ...way(), connection } as never))).message).toContain('connection')
  expect((await failing(connect({ ...way(), Client: 5 } as never))).message).toMatch(/^Client: is not the class/)
})

test('a receiver ends if its connection is closed, and keeps what it has accepted', { tags: 'long' }, async () => {
  const connection = await connect(way())
  const serving = await serve({ connection, ...small(), token: false, listen: '127.0.0.1:0', batchMs: 1 })
  await connection.close()
  const headers = { 'content-type': 'application/json' }
  expect((await fetch(serving.url, { method: 'POST', headers, body: '{"n":1}' })).status).toBe(202)
  expect((await failing(serving.finished)).message).toContain('connection: is closed')
  await using another = await connect(way())
  const again = await serve({ connection: another, ...small(), token: false, listen: '127.0.0.1:0' })
  expect(await again.close()).toMatchObject({ created: 1 })
})

test('the client is of the version that the application has', async () => {
  await using connection = await connect({ ...way(), Client })
  expect(connection.client).toBeInstanceOf(Client)
  await connection.client.index({ index, document: { n: 1 }, refresh: true })
  expect((await connection.client.count({ index })).count).toBe(1)
  lab.control.register('none')
  const refused: unknown = await connection.client.count({ index }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(errors.ConnectionError)
  expect(refused).toMatchObject({ message: expect.stringMatching(/^EGRESS_NOT_ALLOWED: /) })
})

test('replay and serve use it', { tags: 'long' }, async () => {
  await using connection = await connect({ ...way(), preflightConnections: 16 })
  lab.control.forgetConnections()
  const letter = {
    operation: 'create',
    id: 'x',
    origin: { input: 'a', document: 1, line: 1 },
    index,
    document: { n: 1 },
  }
  await writeFile(path('letters.ndjson'), `${JSON.stringify(letter)}\n`)
  expect((await replay({ connection, source: path('letters.ndjson'), deadLetters: false })).created).toBe(1)
  const serving = await serve({ connection, ...small(), token: false, listen: '127.0.0.1:0', batchMs: 1 })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(serving.url, { method: 'POST', headers, body: '[{"n":2},{"n":3}]' })
  expect(answer.status).toBe(202)
  expect(await serving.close()).toMatchObject({ status: 'finished', created: 2 })
  expect((await connection.client.count({ index })).count).toBe(3)
  expect(opened()).toBeLessThanOrEqual(2)
})
