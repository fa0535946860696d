/** A receiver that is killed at random instants while callers post to it, and what is in the index in the end. */
import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { ServeReceipt } from '../../../src/index.js'
import { type Running, startSluice } from '../../support/command/sluice.js'
import { kill } from '../../support/command/kill.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'

const token = 'a-token-of-the-lab-and-nothing-else'

export interface Killing {
  /** Of the process that serves. */
  readonly env: Readonly<Record<string, string>>
  readonly index: string
  /** Of the state and the dead letters; empty at first. */
  readonly folder: string
  readonly kills: number
  /** Callers at once. */
  readonly callers: number
  readonly seed: number
  /** Longest that one process lives, in milliseconds. */
  readonly longestMs: number
  /** Where callers post, given the port that the process listens on. Default: there. */
  urlOf?(port: number): string
  /** Before each process starts. */
  disturb?(random: Seeded): Promise<void> | void
  /** Before the last one starts, which is left alone. */
  settle?(): Promise<void> | void
}

/** One request, and what is known of it. */
export interface Posted {
  /** Of its documents, which have them as `n`. */
  readonly from: number
  readonly to: number
  /** False: it was never acknowledged, and was not repeated. */
  isAcknowledged: boolean
}

export interface Killed {
  readonly posted: readonly Posted[]
  readonly kills: number
  readonly answers: Readonly<Record<string, number>>
  /** Of the process that was left alone. */
  readonly receipt: ServeReceipt
  readonly code: number | null
  readonly stderr: string
}

const documentOf = (n: number) => `{"n":${n},"text":"${'x'.repeat((n * 37) % 400)}"}`

/** Serves until it was killed so often; then once more until all is loaded. */
export async function killServing(killing: Killing): Promise<Killed> {
  const random = seeded(killing.seed)
  const port = await freePort()
  const url = killing.urlOf?.(port) ?? `http://127.0.0.1:${port}/`
  const stop = new AbortController()
  const answers: Record<string, number> = {}
  const posted: Posted[] = []
  let next = 0
  const take = (count: number): Posted => {
    const one = { from: next, to: next + count, isAcknowledged: false }
    next += count
    posted.push(one)
    return one
  }
  const note = (answer: number | string) => void (answers[answer] = (answers[answer] ?? 0) + 1)
  const calling = Array.from({ length: killing.callers }, async (_, caller) => {
    await call(url, seeded(killing.seed * 1000 + caller), take, note, stop.signal)
  })
  let last: Running
  try {
    for (let kills = 0; kills < killing.kills; kills += 1) {
      await killing.disturb?.(random)
      const running = startServing(killing, port)
      // Some before they listen, some after.
      if (random.real() < 0.85) await running.printed('listening on')
      await sleep(random.below(killing.longestMs))
      const { signal, stderr } = await kill(running)
      if (signal !== 'SIGKILL') throw new Error(`it ended by itself:\n${stderr}`)
    }
    await killing.settle?.()
    last = startServing(killing, port)
    await last.printed('listening on')
    await sleep(1000)
  } finally {
    stop.abort()
  }
  await Promise.all(calling)
  last.child.kill('SIGTERM')
  const { code, stdout, stderr } = await last.ended
  const receipt = JSON.parse(stdout) as ServeReceipt
  return { posted, kills: killing.kills, answers, receipt, code, stderr }
}

export interface Tally {
  readonly acknowledged: number
  readonly missing: number
  readonly doubled: number
  readonly altered: number
  /** Requests that were never acknowledged: of which all is there, nothing, or a part. */
  readonly whole: number
  readonly none: number
  readonly torn: number
}

/** Compares what was acknowledged with every document that the index holds. */
export function tally(posted: readonly Posted[], stored: Iterable<string>): Tally {
  const times = new Map<number, number>()
  let altered = 0
  for (const text of stored) {
    const { n } = JSON.parse(text) as { n: number }
    if (text !== documentOf(n)) altered += 1
    times.set(n, (times.get(n) ?? 0) + 1)
  }
  const doubled = [...times.values()].filter(count => count > 1).length
  let [acknowledged, missing, whole, none, torn] = [0, 0, 0, 0, 0]
  for (const { from, to, isAcknowledged } of posted) {
    let found = 0
    for (let n = from; n < to; n += 1) if (times.has(n)) found += 1
    if (isAcknowledged) {
      acknowledged += to - from
      missing += to - from - found
    } else if (found === to - from) whole += 1
    else if (found === 0) none += 1
    else torn += 1
  }
  return { acknowledged, missing, doubled, altered, whole, none, torn }
}

function startServing({ env, index, folder }: Killing, port: number): Running {
  const address = ['--listen', `127.0.0.1:${port}`, '--index', index, '--state-dir', join(folder, 'state')]
  const rest = [
    '--preflight-connections',
    '1',
    '--batch-ms',
    '100',
    '--spool-limit',
    '200mb',
    '--accept-anyway',
    // The last process loads all that waits, however slow the machine is.
    '--grace',
    '1h',
    '--json',
  ]
  return startSluice(['serve', ...address, ...rest], { cwd: folder, env: { ...env, SLUICE_SERVE_TOKEN: token } })
}

/** Posts until it is stopped. Half of the requests have a key, and are repeated until they are acknowledged. */
async function call(
  url: string,
  random: Seeded,
  take: (count: number) => Posted,
  note: (answer: number | string) => void,
  stop: AbortSignal,
): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  while (!stop.aborted) {
    const one = take(1 + random.below(40))
    const isKeyed = random.real() < 0.5
    const { body, headers } = bodyOf(one, random, isKeyed)
    for (;;) {
      const answer = await send(url, body, headers, agent)
      note(answer)
      one.isAcknowledged = answer === 202 || answer === 200
      if (one.isAcknowledged) break
      // A caller that waits for a process to come back; it was certainly refused if no process listened.
      await sleep(20 + random.below(50))
      if (!isKeyed) break
    }
  }
  agent.destroy()
}

function bodyOf({ from, to }: Posted, random: Seeded, isKeyed: boolean) {
  const documents = Array.from({ length: to - from }, (_, at) => documentOf(from + at))
  const isArray = random.real() < 0.3
  const text = isArray ? `[${documents.join(',\n')}]` : documents.map(document => `${document}\n`).join('')
  const isGzip = random.real() < 0.3
  return {
    body: isGzip ? gzipSync(text) : Buffer.from(text),
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': isArray ? 'application/json' : 'application/x-ndjson',
      ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
      ...(isKeyed ? { 'idempotency-key': `request-${from}` } : {}),
    },
  }
}

/** The status; or the error's code, where there is no whole answer. */
async function send(
  url: string,
  body: Buffer,
  headers: Record<string, string>,
  agent: Agent,
): Promise<number | string> {
  return await new Promise(resolve => {
    const request = httpRequest(
      url,
      { method: 'POST', agent, headers: { ...headers, 'content-length': body.length } },
      response => {
        response.resume()
        response.once('end', () => resolve(response.statusCode ?? 0))
        response.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
      },
    )
    request.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
    request.end(body)
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function sleep(ms: number): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, ms))
}
