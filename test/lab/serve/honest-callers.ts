/** Honest callers of a receiver, in a process of their own: what they measure is the receiver, and not those who attack it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Answers and does nothing else. How long that takes is due to the machine. */
const idle = `require('node:http').createServer((request, response) => request.resume().on('end', () => response.end()))
.listen(0, '127.0.0.1', function () { console.log(this.address().port) })`

/** Four callers. Each posts 10 documents at a time: with a key or not, as gzip or not, on a new connection or an old one. */
const program = `
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { gzipSync } from 'node:zlib'
const [port, token, idle] = process.argv.slice(1)
const answers = {}
const times = []
const idleTimes = []
const idler = spawn(process.execPath, ['-e', idle], { stdio: ['ignore', 'pipe', 'inherit'] })
const idlePort = Number(String((await once(idler.stdout, 'data'))[0]))
let posted = 0
let isOver = false
process.stdin.on('data', () => (isOver = true))

async function post(port, body, headers, agent, times) {
  const from = performance.now()
  const answer = await new Promise(resolve => {
    const call = request({ port, host: '127.0.0.1', method: 'POST', agent, headers }, response => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    call.on('error', error => resolve(error.code ?? error.message))
    call.end(body)
  })
  times.push(performance.now() - from)
  return answer
}

async function call(caller) {
  const kept = new Agent({ keepAlive: true })
  for (let n = 0; !isOver; n += 1) {
    const documents = Array.from({ length: 10 }, (_, at) => '{"honest":"' + caller + '-' + n + '-' + at + '"}\\n').join('')
    const isGzip = n % 3 === 0
    const headers = {
      authorization: 'Bearer ' + token,
      'content-type': 'application/x-ndjson',
      ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
      ...(n % 2 === 0 ? { 'idempotency-key': caller + '-' + n } : {}),
    }
    const body = isGzip ? gzipSync(documents) : documents
    const answer = await post(port, body, headers, n % 4 === 0 ? false : kept, times)
    answers[answer] = (answers[answer] ?? 0) + 1
    posted += 10
    await post(idlePort, body, headers, false, idleTimes)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  kept.destroy()
}

await Promise.all([0, 1, 2, 3].map(call))
idler.kill()
times.sort((one, other) => one - other)
const idleMs = Math.round(Math.max(...idleTimes))
const at = share => Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))])
console.log(JSON.stringify({ posted, answers, medianMs: at(0.5), p99Ms: at(0.99), slowestMs: at(1), idleMs, slow: times.filter(ms => ms > 1000).length }))
process.exit(0)
`

export interface Measured {
  readonly posted: number
  readonly answers: Readonly<Record<string, number>>
  readonly medianMs: number
  readonly p99Ms: number
  readonly slowestMs: number
  /** The slowest answer of a server that does nothing: how long the machine itself keeps a caller waiting. */
  readonly idleMs: number
  /** Requests that took longer than a second. */
  readonly slow: number
}

/** Calls until the returned function is called, which resolves to what was measured. */
export function callHonestly(port: number, token: string): () => Promise<Measured> {
  const args = ['--input-type=module', '-e', program, String(port), token, idle]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', (text: Buffer) => (out += text.toString()))
  return async () => {
    const closed = once(child, 'close')
    child.stdin.end('over\n')
    await closed
    return JSON.parse(out) as Measured
  }
}
