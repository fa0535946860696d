/** What a caller with the token can do to the process. Its heap is small: whatever gathers there ends it. */
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { type Answer, ask, readSome } from '../../support/lab/lab-clients.js'
import { type Folder, type Running, folder, startSluice } from '../../support/command/sluice.js'

const token = 'a-token-of-the-command-0123456789'
const ndjson = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
const gzip = { ...ndjson, 'content-encoding': 'gzip' }

let lab: Lab
let work: Folder
let running: Running
let url: string
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())
beforeEach(async () => {
  work = await folder()
  running = startSluice(
    ['serve', '--index', 'hostile', '--listen', '127.0.0.1:0', '--preflight-connections', '1', '--max-body', '20mb'],
    {
      cwd: work.path,
      env: {
        ...lab.env,
        SLUICE_STATE_DIR: join(work.path, 'state'),
        SLUICE_SERVE_TOKEN: token,
        NODE_OPTIONS: '--max-old-space-size=64',
      },
    },
  )
  let text = ''
  running.child.stderr?.on('data', (chunk: string) => (text += chunk))
  await running.printed('listening on ')
  url = /listening on ([^\s"]+)/.exec(text)?.[1] ?? ''
})
afterEach(async () => {
  running.child.kill('SIGTERM')
  const { code, stderr } = await running.ended
  await work[Symbol.asyncDispose]()
  expect(code, stderr).toBe(0)
})

const post = async (body: Buffer | string, headers: Record<string, string>): Promise<Answer> =>
  await ask(url, { method: 'POST', body, headers })

test('millions of documents in a small gzip body are refused, with the limit', { tags: 'long' }, async () => {
  const { status, text } = await post(gzipSync('{}\n'.repeat(6_000_000)), gzip)
  expect({ status, text }).toEqual({
    status: 413,
    text: '{"error":"a request may have at most 100000 documents","line":100001}\n',
  })
  expect((await post(`[${'{},'.repeat(100_000)}{}]`, { ...ndjson, 'content-type': 'application/json' })).status).toBe(
    413,
  )
  expect((await post('{}\n'.repeat(100_000), ndjson)).status).toBe(202)
})

test(
  'one document of many levels, or of many values, takes no more memory than its bytes',
  { tags: 'long' },
  async () => {
    const deep = gzipSync(Buffer.concat([Buffer.from('{"a":'), Buffer.alloc(19_000_000, '[')]))
    const { status, text } = await post(deep, gzip)
    expect({ status, text }).toEqual({ status: 422, text: '{"error":"line 1 has more than 1000 levels","line":1}\n' })
    expect((await post(gzipSync(`{"a":[${'[],'.repeat(6_000_000)}`), gzip)).status).toBe(400)
  },
)

test('a body in chunks of one byte is refused', { tags: 'long' }, async () => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const fields = Object.entries({ ...ndjson, host: hostname, 'transfer-encoding': 'chunked' })
  socket.write(`POST / HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  const chunks = '1\r\n \r\n'.repeat(10_000)
  socket.write(chunks.repeat(2))
  const answer = (await readSome(socket)).toString()
  expect(answer).toMatch(/^HTTP\/1.1 400 [\s\S]*connection: close/i)
  expect(answer).toContain('the body comes in too many small pieces')
  socket.destroy()
})

test('documents behind a zero byte in gzip data are not lost in silence', async () => {
  const [one, two] = [gzipSync('{"n":1}\n'), gzipSync('{"n":2}\n')]
  expect((await post(Buffer.concat([one, Buffer.alloc(3), two]), gzip)).status).toBe(400)
  expect((await post(Buffer.concat([one, two, Buffer.alloc(300)]), gzip)).text).toBe('{"accepted":2}\n')
})
