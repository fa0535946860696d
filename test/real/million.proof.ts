import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Receipt } from '../../src/index.js'
import { built } from '../support/build.js'
import type { RealWorld } from '../contracts/real-world.js'
import { describeOnRealServers } from './on-real-servers.js'
import { environmentOf } from './real-load.js'

const DOCUMENTS = Number(process.env.DOCUMENTS ?? 1_000_000)

let folder: string
let file: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-million-'))
  file = join(folder, 'logs.ndjson')
  await writeLogs(file, DOCUMENTS)
  console.log(`${DOCUMENTS.toLocaleString('en')} documents, ${(statSync(file).size / 1e6).toFixed(1)} MB`)
})
afterAll(() => rmSync(folder, { recursive: true }))

for (const major of [9, 8] as const) {
  describeOnRealServers({ major, heap: '2g' }, world => {
    test(`${DOCUMENTS.toLocaleString('en')} documents through Squid over TLS, with gzip: the index equals the input`, async () => {
      const { receipt, peakBytes, command } = await load(world(), file)
      console.log(
        `${command}\n${JSON.stringify(receipt, undefined, 1)}\npeak memory ${(peakBytes / 1e6).toFixed(1)} MB`,
      )
      expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS, created: DOCUMENTS })
      expect(receipt.compression?.used ?? 'gzip').toBe('gzip')
      expect(await world().count('million')).toBe(DOCUMENTS)
      expect(await sumOfIndex(world(), 'million')).toBe(await sumOfFile(file))
      const strangers = (await world().connections()).filter(({ from }) => !world().staticIps.includes(from))
      expect(strangers).toEqual([])
    })
  })
}

/** Adds up checksums of texts: in any order, equal texts have equal sums. */
class Sum {
  #sum = 0n

  add(text: string): void {
    this.#sum += createHash('md5').update(text).digest().readBigUInt64LE()
  }

  get text(): string {
    return this.#sum.toString(16)
  }
}

async function sumOfFile(path: string): Promise<string> {
  const sum = new Sum()
  for await (const line of createInterface({ input: createReadStream(path) })) sum.add(line)
  return sum.text
}

/** Reads all documents as they are stored, page by page. */
async function sumOfIndex(world: RealWorld, index: string): Promise<string> {
  const sum = new Sum()
  const pageOf = async (path: string, body: object) => JSON.parse((await world.ask('POST', path, body)).text) as Page
  let { _scroll_id: id, hits } = await pageOf(`/${index}/_search?scroll=1m`, { size: 10_000 })
  while (hits.hits.length > 0) {
    for (const { _source } of hits.hits) sum.add(JSON.stringify(_source))
    ;({ _scroll_id: id, hits } = await pageOf('/_search/scroll', { scroll: '1m', scroll_id: id }))
  }
  return sum.text
}

interface Page {
  readonly _scroll_id: string
  readonly hits: { readonly hits: readonly { readonly _source: object }[] }
}

async function load(
  world: RealWorld,
  input: string,
): Promise<{ receipt: Receipt; peakBytes: number; command: string }> {
  const args = ['ingest', input, '--index', 'million', '--compress', 'gzip', '--json']
  const child = spawn(process.execPath, [join(built, 'bin', 'sluice.js'), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, IP_CHECK_URL: world.ipCheckUrl, ...environmentOf(world) },
  })
  let peakBytes = 0
  const watch = setInterval(() => (peakBytes = Math.max(peakBytes, highWater(child.pid))), 50)
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  clearInterval(watch)
  expect(code).toBe(0)
  return { receipt: JSON.parse(out) as Receipt, peakBytes, command: `sluice ${args.join(' ')}` }
}

/** Peak resident memory of a process, as the kernel keeps it; 0 when it is gone. */
function highWater(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

async function writeLogs(path: string, documents: number): Promise<void> {
  const out = createWriteStream(path)
  const levels = ['debug', 'info', 'info', 'info', 'warn', 'error']
  let text = ''
  for (let n = 1; n <= documents; n += 1) {
    const document = {
      '@timestamp': new Date(1_760_000_000_000 + n * 37).toISOString(),
      level: levels[n % 6],
      service: `checkout-${n % 17}`,
      trace: (n * 2_654_435_761).toString(16).padStart(16, '0'),
      message: `GET /orders/${n % 9973} answered ${n % 23 === 0 ? 503 : 200} in ${n % 811} ms`,
      bytes: (n * 7919) % 100_000,
    }
    text += `${JSON.stringify(document)}\n`
    if (text.length < 1 << 20) continue
    if (!out.write(text)) await once(out, 'drain')
    text = ''
  }
  out.end(text)
  await once(out, 'close')
}
