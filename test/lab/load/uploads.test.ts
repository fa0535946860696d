/** A request to a server of the caller is the source. Its client gets an answer, however the run ends, and the run ends if the client goes away. */
import { type IncomingMessage, createServer } from 'node:http'
import { type AddressInfo, type Socket, connect } from 'node:net'
import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type IngestOptions, ingest, isSluiceError } from '../../../src/index.js'
import { index, lab, shareLab, way } from '../../support/lab/shared-lab.js'

shareLab()

/** Larger than what the socket and the buffers of both sides hold. */
const LARGE = `${JSON.stringify({ fill: 'x'.repeat(1000) })}\n`.repeat(30_000)

interface Ending {
  readonly body: string | Buffer
  readonly options?: () => Partial<IngestOptions>
  readonly answer: string
}

const endings: Readonly<Record<string, Ending>> = {
  'all is stored': { body: LARGE, answer: 'stored 30000' },
  'nothing was sent': { body: '', answer: 'stored 0' },
  'the key is wrong': {
    body: LARGE,
    options: () => ({ target: { ...way().target, apiKey: 'wrong' } }),
    answer: 'CLUSTER_AUTH_REJECTED',
  },
  'the proxy refuses the password': {
    body: LARGE,
    options: () => ({ proxy: { url: lab.line.proxy.http.replace(/:[^:@]*@/, ':wrong@') } }),
    answer: 'PROXY_AUTH_REJECTED',
  },
  'too many documents are rejected': {
    body: `not JSON\n${LARGE}`.repeat(3),
    options: () => ({ maxRejected: 0 }),
    answer: 'TOO_MANY_REJECTED',
  },
  'the last line is cut off': { body: '{"n":1}\n{"n":', answer: 'stored 1, rejected 1' },
  'gzip ends too early': { body: gzipSync(LARGE).subarray(0, 5000), answer: 'INPUT_TRUNCATED' },
}

test.each(Object.entries(endings))('a client gets an answer if %s', async (_, { body, options, answer }) => {
  await using server = await uploads(options?.() ?? {})
  const client = connect(server.port, '127.0.0.1')
  client.write(`POST / HTTP/1.1\r\nhost: uploads\r\ncontent-length: ${body.length}\r\n\r\n`)
  // This client reads nothing before it has sent everything.
  client.pause()
  await new Promise<void>(resolve => client.write(body, () => resolve()))
  expect(await answered(client)).toContain(answer)
  // The connection is still there, and takes the next request.
  client.write('POST / HTTP/1.1\r\nhost: uploads\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  expect(await answered(client)).toMatch(/stored 0|[A-Z_]{10}/)
})

test('the run ends if the client goes away', async () => {
  await using server = await uploads({})
  const client = connect(server.port, '127.0.0.1')
  client.write('POST / HTTP/1.1\r\nhost: uploads\r\ncontent-length: 1000\r\n\r\n{"n":1}\n{"n":2}\n')
  await server.routed
  client.destroy()
  expect(await server.outcome()).toMatch(/^INPUT_UNREADABLE/)
})

test('a request whose client has gone before the load began is not an empty input', async () => {
  await using server = await uploads({}, async request => {
    await new Promise(resolve => request.socket.once('close', resolve))
  })
  const client = connect(server.port, '127.0.0.1')
  client.write('POST / HTTP/1.1\r\nhost: uploads\r\ncontent-length: 1000\r\n\r\n{"n":1}\n')
  await server.routed
  client.destroy()
  expect(await server.outcome()).toMatch(/^INPUT_UNREADABLE/)
})

test('a signal of the caller ends the run, and the client gets its answer', async () => {
  const stop = new AbortController()
  await using server = await uploads({ signal: stop.signal })
  const client = connect(server.port, '127.0.0.1')
  client.write('POST / HTTP/1.1\r\nhost: uploads\r\ncontent-length: 16\r\n\r\n{"n":1}\n')
  await server.routed
  stop.abort()
  expect(await answered(client)).toContain('INTERRUPTED')
})

/** A server whose route loads what it receives, and answers with the outcome. */
async function uploads(options: Partial<IngestOptions>, before?: (request: IncomingMessage) => Promise<void>) {
  let told: (outcome: string) => void = () => {}
  const first = new Promise<string>(resolve => (told = resolve))
  const server = createServer((request, response) => {
    const loaded = load(request, options, before)
    void loaded.then(told)
    void loaded.then(outcome => response.end(outcome))
    server.emit('route')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** What the first request led to. */
    outcome: async () => await first,
    routed: once(server, 'route'),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function load(
  source: IncomingMessage,
  options: Partial<IngestOptions>,
  before?: (request: IncomingMessage) => Promise<void>,
): Promise<string> {
  try {
    await before?.(source)
    const { created, rejected } = await ingest({ ...way(), index, source, deadLetters: false, ...options })
    return `stored ${created}${rejected > 0 ? `, rejected ${rejected}` : ''}`
  } catch (error) {
    return isSluiceError(error) ? `${error.code}: ${error.message}` : String(error)
  }
}

/** Returns the next answer on a connection. Fails if the connection ends without one. */
async function answered(client: Socket): Promise<string> {
  let text = ''
  return await new Promise((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      text += String(chunk)
      const [head = '', body] = text.split('\r\n\r\n')
      const bytes = /content-length: (\d+)/i.exec(head)?.[1]
      if (body === undefined || Buffer.byteLength(body) < Number(bytes)) return
      client.off('data', read)
      resolve(body)
    }
    client.on('data', read).resume()
    client.once('close', () => reject(new Error(`the connection ended after: ${text}`)))
  })
}
