/** What a load takes of memory: however long its input, and whatever the cluster does not answer. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Receipt } from '../../../src/index.js'
import { binary } from '../../support/command/sluice.js'

const GIGABYTES = Number(process.env.GIGABYTES ?? 10)
const SILENT_SECONDS = Number(process.env.SILENT_SECONDS ?? 60)
/** Between the second gigabyte and the last: in the first one the number of requests at once is still being found. */
const SPREAD_BYTES = 15e6

const document = `${JSON.stringify({ level: 'info', service: 'checkout', message: 'x'.repeat(800) })}\n`
const chunk = Buffer.from(document.repeat(Math.ceil((1 << 20) / document.length)))
const documentsInChunk = chunk.length / document.length

/** Answers bulk requests and keeps nothing; while it is silent, requests wait for their answers. */
class NullCluster {
  #answers: Promise<void> = Promise.resolve()
  #speak: () => void = () => undefined
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response))
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  silence(): void {
    this.#answers = new Promise(resolve => (this.#speak = resolve))
  }

  speak(): void {
    this.#speak()
  }

  close(): void {
    this.#speak()
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let lines = 0
    for await (const bytes of request as AsyncIterable<Buffer>) {
      for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1
    }
    const isBulk = request.url?.includes('_bulk') === true
    if (isBulk) await this.#answers
    const items = Array.from({ length: lines / 2 }, () => '{"create":{"status":201}}').join()
    response
      .writeHead(200, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
      .end(isBulk ? `{"errors":false,"items":[${items}]}` : '{"cluster_name":"null","version":{"number":"9.4.3"}}')
  }
}

let cluster: NullCluster
let url: string
beforeEach(async () => {
  cluster = new NullCluster()
  url = await cluster.start()
})
afterEach(() => cluster.close())

interface Load {
  /** Bytes that went into the pipe so far. */
  written(): number
  /** Resident memory now, in bytes. */
  resident(): number
  readonly ended: Promise<{ code: number | null; receipt: Receipt }>
}

function load(bytes: number): Load {
  const args = [binary, 'ingest', '-', '--index', 'memory', '--url', url, '--quiet', '--json']
  const child = spawn(process.execPath, args, {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let written = 0
  let out = ''
  child.stdout.on('data', (text: Buffer) => (out += text.toString()))
  const feed = async () => {
    while (written < bytes) {
      if (!child.stdin.write(chunk)) await once(child.stdin, 'drain')
      written += chunk.length
    }
    child.stdin.end()
  }
  const fed = feed()
  return {
    written: () => written,
    resident: () => residentBytes(child.pid),
    ended: (async () => {
      const [code] = (await once(child, 'close')) as [number | null]
      await fed
      return { code, receipt: JSON.parse(out) as Receipt }
    })(),
  }
}

/** Throws once the process is gone. */
function residentBytes(pid: number | undefined): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (kilobytes === undefined) throw new Error('the process has ended')
  return Number(kilobytes) * 1024
}

const shortly = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

test(`${GIGABYTES} GB through stdin take as much memory as the second one`, async () => {
  const running = load(GIGABYTES * 1e9)
  const life = { isOver: false }
  void running.ended.finally(() => (life.isOver = true))
  const peaks = new Map<number, number>()
  while (!life.isOver) {
    const gigabyte = Math.floor(running.written() / 1e9)
    try {
      peaks.set(gigabyte, Math.max(peaks.get(gigabyte) ?? 0, running.resident()))
    } catch {
      break
    }
    await shortly(20)
  }
  const { code, receipt } = await running.ended
  for (const [gigabyte, bytes] of peaks) console.log(`GB ${gigabyte + 1}: at most ${megabytes(bytes)} resident`)
  expect(code).toBe(0)
  const chunks = Math.ceil((GIGABYTES * 1e9) / chunk.length)
  expect(receipt).toMatchObject({ read: chunks * documentsInChunk, created: chunks * documentsInChunk })
  const [, second = 0, ...later] = peaks.values()
  expect(Math.max(...later) - second).toBeLessThan(SPREAD_BYTES)
})

test(`a cluster that stops answering for ${SILENT_SECONDS} s does not make it grow`, async () => {
  const running = load(2e9)
  while (running.written() < 1e9) await shortly(10)
  cluster.silence()
  await shortly(3000)
  const [writtenAtFirst, residentAtFirst] = [running.written(), running.resident()]
  let peak = 0
  for (const until = Date.now() + SILENT_SECONDS * 1000; Date.now() < until; await shortly(200)) {
    peak = Math.max(peak, running.resident())
  }
  console.log(`silent: ${megabytes(residentAtFirst)} at first, at most ${megabytes(peak)}`)
  expect(running.written()).toBe(writtenAtFirst)
  expect(peak - residentAtFirst).toBeLessThan(SPREAD_BYTES)
  cluster.speak()
  const { code, receipt } = await running.ended
  expect(code).toBe(0)
  expect(receipt.created).toBe(receipt.read)
})
