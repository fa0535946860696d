// @module-tag long
/** A receiver among callers that mean harm, or are many. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ask, readSome } from '../../support/lab/lab-clients.js'
import { ndjson, post, start } from '../../support/lab/serve-world.js'
import { index, lab, shareLab } from '../../support/lab/shared-lab.js'

shareLab()

test('a request has a limit of documents, which its answer names', async () => {
  await using serving = await start({ maxDocuments: 3 })
  expect((await post('{}\n{}\n{}\n')).status).toBe(202)
  expect(await post('{}\n{}\n{}\n{}\n')).toMatchObject({
    status: 413,
    text: '{"error":"a request may have at most 3 documents","line":4}\n',
  })
  expect(await serving.close()).toMatchObject({ accepted: 3, created: 3 })
})

test('without a token, only programs of this machine may post or look, and no web page', async () => {
  await using serving = await start({ token: false })
  const { port } = new URL(serving.url)
  const asked = async (headers: Record<string, string>, path = '/') => {
    const body = path === '/' ? { body: '{"n":1}\n' } : {}
    return (await ask(`http://127.0.0.1:${port}${path}`, { ...body, headers: { ...headers, ...type } })).status
  }
  const type = { 'content-type': ndjson['content-type'] }
  for (const host of ['localhost', `localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'LOCALHOST'])
    expect(await asked({ host }), host).toBe(202)
  // A page whose name leads to this machine is its own origin: the browser sends no preflight.
  for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', '127.0.0.1.evil.example']) {
    expect(await asked({ host }), host).toBe(403)
    expect(await asked({ host }, '/health'), host).toBe(403)
  }
  for (const origin of ['https://evil.example', 'null', `http://localhost:${port}`])
    expect(await asked({ host: 'localhost', origin }), origin).toBe(403)
  expect(await serving.close()).toMatchObject({ accepted: 5 })
})

test('with a token, callers may use any name of the receiver', async () => {
  await using serving = await start()
  const headers = { ...ndjson, host: 'events.example', origin: 'https://app.example' }
  expect((await ask(serving.url, { body: '{"n":1}\n', headers })).status).toBe(202)
})

test('the limit of the spool counts what small requests take on the disk', async () => {
  lab.control.register('none')
  await using serving = await start({ acceptAnyway: true, spoolLimit: 1_000_000 })
  // Leaves little room, so that few requests fill it.
  const large = `{"text":"${'x'.repeat(800_000)}"}\n`
  expect((await ask(serving.url, { body: large, headers: ndjson })).status).toBe(202)
  const statuses = new Map<number, number>()
  const callers = Array.from({ length: 20 }, async (_, caller) => {
    for (let at = 0; at < 50; at += 1) {
      const headers = { ...ndjson, 'idempotency-key': `${caller}-${at}` }
      const { status } = await ask(serving.url, { body: '{"n":1}\n', headers })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })
  await Promise.all(callers)
  expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([202, 429])
  expect(JSON.parse((await ask(`${serving.url}health`, { headers: ndjson })).text)).toMatchObject({ state: 'full' })
  lab.control.register('both')
  await expect.poll(() => serving.status().waiting.documents).toBe(0)
  expect((await ask(serving.url, { body: '{"n":1}\n', headers: ndjson })).status).toBe(202)
  expect((await serving.close()).created).toBe((statuses.get(202) ?? 0) + 2)
})

test.each(['identity', 'gzip'])('a large request (%s) waits for memory that others use', async encoding => {
  await using serving = await start({ maxBody: 1_000_000 })
  const port = Number(new URL(serving.url).port)
  const fields = Object.entries({ ...ndjson, host: 'x', 'content-length': '600000' })
  const head = `POST / HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  const uploads: Socket[] = []
  for (let at = 0; at < 2; at += 1) {
    const socket = connect(port, '127.0.0.1')
    socket.write(head + ' '.repeat(599_998))
    uploads.push(socket)
  }
  const large = Buffer.from(`{"n":1,"a":"${'x'.repeat(900_000)}"}\n`)
  const body = encoding === 'gzip' ? gzipSync(large) : large
  const asked = async () => await ask(serving.url, { body, headers: { ...ndjson, 'content-encoding': encoding } })
  // The uploads have all large memory once such a request has to wait.
  await expect.poll(() => uploads.every(({ writableLength }) => writableLength === 0)).toBe(true)
  for (let at = 0; at < 20; at += 1) await ask(`${serving.url}health`)
  const answer = asked()
  for (let at = 0; at < 50; at += 1) await ask(`${serving.url}health`)
  for (const socket of uploads) socket.write('{}')
  for (const socket of uploads) {
    expect((await readSome(socket)).toString()).toMatch(/^HTTP\/1.1 202 /)
    socket.destroy()
  }
  expect((await answer).status).toBe(202)
  expect(await serving.close()).toMatchObject({ accepted: 3, created: 3 })
})

test('a failure is not shown once it is over', async () => {
  await using serving = await start()
  lab.control.register('none')
  expect((await post('{"n":1}\n')).status).toBe(202)
  const shown = async () => JSON.parse((await ask(`${serving.url}health`, { headers: ndjson })).text) as object
  await expect.poll(shown).toMatchObject({ state: 'blocked', failure: { code: 'EGRESS_NOT_ALLOWED' } })
  lab.control.register('both')
  await expect.poll(() => lab.control.count(index)).toBe(1)
  await expect.poll(shown).toMatchObject({ state: 'ok' })
  expect(await shown()).not.toHaveProperty('failure')
})

test('connections without a request make room for others, and leave those whose request is on its way', async () => {
  await using serving = await start()
  const port = Number(new URL(serving.url).port)
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }
  const upload = await open()
  const fields = { ...ndjson, host: 'x', 'content-length': '8', expect: '100-continue' }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  upload.write(`POST / HTTP/1.1\r\n${head.join('')}\r\n`)
  expect((await readSome(upload)).toString()).toMatch(/^HTTP\/1.1 100 /)
  const silent: Socket[] = []
  const closed = new Set<number>()
  for (let at = 0; at < 350; at += 1) {
    const socket = await open()
    socket.once('close', () => closed.add(at)).resume()
    silent.push(socket)
  }
  expect((await ask(serving.url, { body: '{"n":1}\n', headers: ndjson })).status).toBe(202)
  // 250 stay: of 352, the first ones had to go, and neither the upload nor the last ones.
  await expect.poll(() => closed.size).toBe(102)
  expect(Math.max(...closed)).toBe(101)
  upload.write('{"n":2}\n')
  expect((await readSome(upload)).toString()).toMatch(/^HTTP\/1.1 202 /)
  for (const socket of silent) socket.destroy()
  expect(await serving.close()).toMatchObject({ accepted: 2 })
})

test('requests that are sent before the answers to earlier ones are few, and a caller that goes away leaves nothing behind', async () => {
  await using serving = await start()
  const port = Number(new URL(serving.url).port)
  const send = async (requests: number, isGone: boolean): Promise<string> => {
    const fields = Object.entries({ ...ndjson, host: 'x', 'content-length': '3' })
    const head = `POST / HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.split('HTTP/1.1').length > requests) socket.destroy()
    })
    socket.write(`${head}{}\n`.repeat(requests), () => {
      // The first ones are being written to the disk.
      if (isGone) socket.destroy()
    })
    await once(socket, 'close')
    return text
  }
  expect((await send(10, false)).match(/HTTP\/1.1 202/g)).toHaveLength(10)
  expect(await send(100, false)).toBe('')
  await Promise.all(Array.from({ length: 20 }, async () => await send(5, true)))
  const { accepted, created } = await serving.close()
  expect(accepted).toBeGreaterThan(10)
  expect(accepted).toBeLessThan(10 + 10 + 100 + 1)
  expect(created).toBe(accepted)
})
