/** One corpus in every format and compression, from a file and from stdin, becomes the same documents. */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Receipt } from '../../src/index.js'
import type { RealWorld } from '../contracts/real-world.js'
import { binary } from '../support/sluice.js'
import { describeOnRealServers } from './on-real-servers.js'
import { ask } from './raw-client.js'
import { environmentOf } from './real-load.js'

const DOCUMENTS = Number(process.env.DOCUMENTS ?? 100_000)
const PAGE = 10_000

let folder: string
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'sluice-formats-'))))
afterAll(() => rmSync(folder, { recursive: true }))

/** A document's fields, as JSON has them. A program that parses them and writes them again changes `big` and `ratio`. */
function fieldsOf(n: number): [name: string, value: string][] {
  const text = `Größe ${n}, "quoted"; tab\there, line\nbreak, \u{1F69A} ${'x'.repeat((n * 37) % 90)}`
  return [
    ['n', String(n)],
    ['big', String(9_007_199_254_740_993n * 100n + BigInt(n))],
    ['ratio', `${n % 100}.${n % 2 === 0 ? '0' : '10'}`],
    ['open', String(n % 3 === 0)],
    ['code', `"00${n % 1000}"`],
    ['text', JSON.stringify(text)],
  ]
}

const numbers = Array.from({ length: DOCUMENTS }, (_, n) => n)
const names = fieldsOf(0).map(([name]) => name)
const lineOf = (n: number) =>
  `{${fieldsOf(n)
    .map(([name, value]) => `"${name}":${value}`)
    .join(',')}}`
const prettyOf = (n: number) =>
  `  {\n${fieldsOf(n)
    .map(([name, value]) => `    "${name}" : ${value}`)
    .join(',\n')}\n  }`
const eachLine = (text: (n: number) => string) => numbers.map(n => `${text(n)}\n`).join('')

function table(delimiter: string): string {
  const cell = (value: string) => {
    const text = value.startsWith('"') ? (JSON.parse(value) as string) : value
    return /["\n;,\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return `${names.join(delimiter)}\n${eachLine(n =>
    fieldsOf(n)
      .map(([, value]) => cell(value))
      .join(delimiter),
  )}`
}

const ndjson = () => eachLine(lineOf)
const types = ['--types', 'n:long,big:long,ratio:double,open:boolean']
const plain: Record<string, { readonly text: () => string; readonly flags?: readonly string[] }> = {
  'in.ndjson': { text: ndjson },
  'array.json': { text: () => `[${numbers.map(lineOf).join(',')}]` },
  'pretty.json': { text: () => `[\n${numbers.map(prettyOf).join(',\n')}\n]\n` },
  'deep.json': {
    text: () => `{"took":3,"data":{"items":[${numbers.map(lineOf).join(',')}]}}`,
    flags: ['--pick', 'data.items'],
  },
  'comma.csv': { text: () => table(','), flags: ['--format', 'csv', ...types] },
  'excel.csv': { text: () => `\u{FEFF}${table(';')}`, flags: ['--format', 'csv', ...types] },
  'tabs.tsv': { text: () => table('\t'), flags: ['--format', 'tsv', ...types] },
  'bulk.txt': { text: () => eachLine(n => `{"index":{"_id":"${n}"}}\n${lineOf(n)}`), flags: ['--format', 'bulk'] },
  'dump.json': {
    text: () => eachLine(n => `{"_index":"old","_id":"${n}","_score":1,"_source":${lineOf(n)}}`),
    flags: ['--format', 'elasticdump'],
  },
  'answer.json': {
    text: () =>
      `{"took":1,"timed_out":false,"hits":{"total":{"value":${DOCUMENTS},"relation":"eq"},"hits":[${numbers
        .map(n => `{"_index":"old","_id":"${n}","_source":${lineOf(n)}}`)
        .join(',')}]}}`,
    flags: ['--format', 'search'],
  },
}

const packed: Record<string, (bytes: Buffer) => Buffer> = {
  gz: bytes => gzipSync(bytes, { level: 1 }),
  br: bytes => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
  zst: bytes => program('zstd', bytes),
  bz2: bytes => program('bzip2', bytes),
  xz: bytes => program('xz', bytes, '-1'),
}

interface Form {
  readonly name: string
  readonly flags: readonly string[]
  readonly write: () => Buffer | string
}

const forms: Form[] = [
  ...Object.entries(plain).map(([name, { text, flags = [] }]) => ({ name, flags, write: text })),
  ...['in.ndjson', 'pretty.json', 'comma.csv'].flatMap(name =>
    Object.entries(packed).map(([ending, pack]) => ({
      name: `${name}.${ending}`,
      flags: plain[name]?.flags ?? [],
      write: () => pack(Buffer.from(plain[name]?.text() ?? '')),
    })),
  ),
]

describeOnRealServers({ major: 9, heap: '2g' }, world => {
  let expected: string
  beforeAll(() => {
    const hash = createHash('sha256')
    for (const n of numbers) hash.update(`${lineOf(n)}\n`)
    expected = hash.digest('hex')
  })

  for (const { name, flags, write } of forms) {
    test(`${name}: ${DOCUMENTS} documents from a file and from stdin, every value as it stood`, async () => {
      const file = join(folder, name)
      writeFileSync(file, write())
      // The end of a name tells brotli, and stdin has none.
      const ways = name.endsWith('.br') ? ['file'] : ['file', 'stdin']
      for (const way of ways) {
        const index = `formats-${way}-${name.replaceAll(/[^a-z0-9]/g, '-')}`
        const receipt = await load(world(), way === 'file' ? file : undefined, file, ['--index', index, ...flags])
        expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS, created: DOCUMENTS, rejected: 0 })
        expect(await hashOf(world(), index), `${name} from ${way}`).toBe(expected)
        await request(world(), index, '', 'DELETE')
      }
      rmSync(file)
    })
  }
})

async function load(world: RealWorld, source: string | undefined, file: string, flags: readonly string[]) {
  const command = [binary, 'ingest', source ?? '-', '--json', '--quiet', '--state-dir', join(folder, 'state'), ...flags]
  const child = spawn(process.execPath, command, {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, ...environmentOf(world) },
  })
  if (source === undefined) createReadStream(file).pipe(child.stdin)
  else child.stdin.end()
  let out = ''
  child.stdout.on('data', (text: Buffer) => (out += text.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  expect(code, out).toBe(0)
  return JSON.parse(out) as Receipt
}

/** The SHA-256 of all `_source` in the order of `n`, as the cluster has them. Nobody parses them, and no filter_path makes the
 * cluster write them anew: both change numbers. */
async function hashOf(world: RealWorld, index: string): Promise<string> {
  await request(world, index, '_refresh', 'POST')
  const hash = createHash('sha256')
  for (let from = 0; from < DOCUMENTS; from += PAGE) {
    const body = JSON.stringify({ size: PAGE, sort: ['n'], ...(from > 0 && { search_after: [from - 1] }) })
    const text = await request(world, index, '_search', 'POST', body)
    for (const [at, hit] of text.split(',"_source":').slice(1).entries()) {
      const source = hit.slice(0, hit.lastIndexOf(',"sort":['))
      if (at === 0) expect(source).toBe(lineOf(from))
      hash.update(`${source}\n`)
    }
  }
  return hash.digest('hex')
}

async function request(
  { cluster, proxy, proxyCaFile }: RealWorld,
  index: string,
  path: string,
  method: string,
  body?: string,
) {
  const { status, text } = await ask(new URL(`${index}/${path}`, cluster.url).href, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${cluster.username}:${cluster.password}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body }),
    via: proxy.https,
    proxyCaFile,
    caFile: cluster.caFile,
  })
  expect(status, text.slice(0, 300)).toBe(200)
  return text
}

function program(name: string, input: Buffer, ...options: string[]): Buffer {
  return execFileSync(name, ['-c', ...options], { input, maxBuffer: 1 << 30 })
}
