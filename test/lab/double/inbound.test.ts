import { once } from 'node:events'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { ask } from '../../support/lab/lab-clients.js'

let lab: Lab
let application: Server
beforeAll(async () => {
  lab = await startLab()
  application = createServer((request, response) => {
    let bytes = 0
    request.on('data', (chunk: Buffer) => (bytes += chunk.length))
    request.on('end', () => response.end(`${request.method} ${request.url} ${bytes}`))
  }).listen(0, '127.0.0.1')
  await once(application, 'listening')
})
afterAll(async () => {
  application.close()
  await lab.close()
})
afterEach(() => {
  lab.control.heal()
  lab.control.inbound.forwardTo(undefined)
})

const port = () => (application.address() as AddressInfo).port
const post = async (body: string) => await ask(`${lab.line.inbound.url}/hook`, { body })
const failure = async (asked: Promise<unknown>) =>
  await asked.then(
    () => 'none',
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  )

test('the inbound entry leads to the application that it is told of, and tells who came', async () => {
  lab.control.forgetConnections()
  lab.control.inbound.forwardTo(port())
  expect((await post('12345')).text).toBe('POST /hook 5')
  expect(lab.control.connections()).toMatchObject([{ at: 'inbound', port: 'tcp', from: '127.0.0.1', requests: 1 }])
  expect(lab.line.inbound.url).toBe(`http://${lab.line.inbound.address}`)
})

test('without an application, or with one that does not listen, connections are closed', async () => {
  expect(await failure(post('1'))).toMatch(/ECONNRESET|socket hang up/)
  lab.control.inbound.forwardTo(1)
  expect(await failure(post('1'))).toMatch(/ECONNRESET|socket hang up/)
})

test('it cuts callers off in the middle of a request, where that is planted', async () => {
  lab.control.inbound.forwardTo(port())
  lab.control.plant({ inboundCut: { afterBytes: 1000, times: 1 } })
  expect(await failure(post('x'.repeat(100_000)))).toMatch(/ECONNRESET|EPIPE|socket hang up/)
  expect(lab.control.struck('inboundCut')).toBe(1)
  expect((await post('x'.repeat(100_000))).text).toBe('POST /hook 100000')
})

test('the control API sets the application, and takes it away', async () => {
  const { control } = lab.line
  expect((await ask(`${control}/inbound`, { method: 'PUT', body: JSON.stringify({ port: port() }) })).status).toBe(204)
  expect((await post('123')).text).toBe('POST /hook 3')
  expect(JSON.parse((await ask(`${control}/inbound`)).text)).toEqual({ port: port() })
  expect((await ask(`${control}/inbound`, { method: 'DELETE' })).status).toBe(204)
  expect(JSON.parse((await ask(`${control}/inbound`)).text)).toEqual({})
})
