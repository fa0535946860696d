/** Callers of a receiver that mean harm. Each does one thing, again and again. Some have the token. */
import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { ask } from '../../support/lab/lab-clients.js'
import { seeded } from '../../support/random/seeded.js'

export interface Target {
  readonly port: number
  readonly token: string
  readonly signal: AbortSignal
}

/** How often each hostile caller did what, and how it was answered. */
export type Harm = Readonly<Record<string, Readonly<Record<string, number>>>>

type Attack = (target: Target) => Promise<string>

const MEGABYTE = 1_000_000

const bombs: readonly Buffer[] = [
  // Millions of documents. One document, too large. Too many levels. Millions of values, and broken at the end.
  gzipSync('{}\n'.repeat(3_300_000)),
  gzipSync(`{"a":"${' '.repeat(50 * MEGABYTE)}"}`),
  gzipSync(`{"a":${'['.repeat(9 * MEGABYTE)}`),
  gzipSync(`{"a":[${'[],'.repeat(3 * MEGABYTE)}`),
  gzipSync('\n'.repeat(9.9 * MEGABYTE)),
  Buffer.concat(Array.from({ length: 50_000 }, () => gzipSync(''))),
]
let bomb = 0
let key = 0
const random = seeded(17)

const CHUNKED = { 'transfer-encoding': 'chunked' }

/** Each with its callers, and the longest pause of each between two attacks. */
const attacks: Readonly<Record<string, readonly [callers: number, pauseMs: number, attack: Attack]>> = {
  'gzip bombs': [
    1,
    2000,
    async target => await post(target, bombs[bomb++ % bombs.length] ?? '', { 'content-encoding': 'gzip' }),
  ],
  'deep JSON': [1, 1000, async target => await post(target, `{"a":${'{"a":'.repeat(300_000)}`)],
  'tiny keyed requests': [
    8,
    100,
    async target => await post(target, '{"hostile":1}\n', { 'idempotency-key': `hostile ${(key += 1)}` }),
  ],
  'wrong tokens': [2, 200, async target => await post({ ...target, token: 'x'.repeat(64) }, 'x'.repeat(300_000))],
  'wrong hosts': [2, 200, async target => await post({ ...target, token: '' }, '{}', { host: 'evil.example' })],
  'huge headers': [2, 200, async target => await post(target, '{}', { 'x-huge': 'x'.repeat(random.below(100_000)) })],
  'aborted uploads': [2, 500, async target => await stalled(target, MEGABYTE, 20)],
  'stalled uploads': [8, 1000, async target => await stalled(target, 8 * MEGABYTE, 5000)],
  slowloris: [600, 10000, async target => await slowly(target)],
  'chunks of one byte': [
    1,
    2000,
    async target => await raw(target, `${head(target, CHUNKED)}${'1\r\n{\r\n'.repeat(50_000)}`),
  ],
  garbage: [2, 500, async target => await raw(target, randomBytes(random.below(100_000)))],
  'pipelined garbage': [
    1,
    1000,
    async target =>
      await raw(target, `${head(target, { 'content-length': '3' })}{}\n`.repeat(500) + '\0garbage\r\n\r\n'),
  ],
}

/** Attacks until the signal aborts. */
export async function attack(target: Target): Promise<Harm> {
  const harm: Record<string, Record<string, number>> = {}
  setMaxListeners(0, target.signal)
  const calling = Object.entries(attacks).flatMap(([name, [callers, pauseMs, once]]) => {
    const answers = (harm[name] ??= {})
    return Array.from({ length: callers }, async () => {
      while (!target.signal.aborted) {
        const answer = await once(target).catch((error: NodeJS.ErrnoException) => error.code ?? error.message)
        answers[answer] = (answers[answer] ?? 0) + 1
        await pause(random.below(pauseMs))
      }
    })
  })
  await Promise.all(calling)
  return harm
}

async function post({ port, token }: Target, body: string | Buffer, more: Record<string, string> = {}) {
  const { status } = await ask(`http://127.0.0.1:${port}/`, { body, headers: { ...headers(token), ...more } })
  return String(status)
}

/** Says that it sends 9 MB, sends fewer, and goes after some time. */
async function stalled(target: Target, bytes: number, ms: number): Promise<string> {
  return await raw(target, head(target, { 'content-length': String(9 * MEGABYTE) }) + 'x'.repeat(bytes), ms)
}

/** Never gets to the end of its headers. */
async function slowly(target: Target): Promise<string> {
  const socket = connect(target.port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nhost: x\r\n')
  return await whileOpen(socket, target.signal, 60_000, () => socket.write('x: y\r\n'))
}

/** Writes bytes, reads nothing, and goes. */
async function raw(target: Target, bytes: string | Buffer, ms = 200): Promise<string> {
  const socket = connect(target.port, '127.0.0.1')
  socket.write(bytes)
  return await whileOpen(socket, target.signal, ms)
}

async function whileOpen(socket: Socket, signal: AbortSignal, ms: number, everySecond = () => {}): Promise<string> {
  return await new Promise(resolve => {
    const go = () => socket.destroy()
    let answer = 'gone'
    const timers = [setTimeout(go, ms), setInterval(everySecond, 1000)]
    signal.addEventListener('abort', go)
    socket.on('error', (error: NodeJS.ErrnoException) => (answer = error.code ?? 'error'))
    socket.on('end', () => (answer = 'closed'))
    socket.on('close', () => {
      signal.removeEventListener('abort', go)
      for (const timer of timers) clearTimeout(timer)
      resolve(answer)
    })
    if (ms > 1000) socket.resume()
  })
}

function headers(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
}

function head({ token }: Target, more: Record<string, string>): string {
  const fields = Object.entries({ host: 'x', ...headers(token), ...more })
  return `POST / HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

async function pause(ms: number): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, ms))
}
