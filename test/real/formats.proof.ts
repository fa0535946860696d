/** One corpus in every format and compression, from a file, stdin, a web server and S3, becomes the same documents. */
import { CreateBucketCommand, DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Receipt } from '../../src/index.js'
import type { RealWorld } from '../contracts/real-world.js'
import { binary } from '../support/command/sluice.js'
import { DOCUMENTS, type Form, forms, lineOf } from './formats-corpus.js'
import { describeOnRealServers } from './on-real-servers.js'
import { ask } from './raw-client.js'
import { environmentOf } from './real-load.js'
import { newOwner, type Owner } from './servers/owner.js'
import { findParts } from './servers/parts.js'
import { type SourceServers, startSources } from './servers/sources.js'

const PAGE = 10_000
/** The proof compares documents and searches no field, so fields need no index. */
const MAPPING = JSON.stringify({ mappings: { dynamic: false, properties: { n: { type: 'long' } } } })

describeOnRealServers({ major: 9, heap: '2g' }, world => {
  let owner: Owner
  let servers: SourceServers
  let s3: S3Client
  const expected = { flat: '', deep: '' }
  beforeAll(async () => {
    for (const shape of ['flat', 'deep'] as const) {
      const hash = createHash('sha256')
      for (let n = 0; n < DOCUMENTS; n += 1) hash.update(`${lineOf[shape](n)}\n`)
      expected[shape] = hash.digest('hex')
    }
    owner = await newOwner()
    servers = await startSources(findParts(), owner)
    const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = servers.s3.env
    const credentials = { accessKeyId, secretAccessKey }
    s3 = new S3Client({ region: 'us-east-1', forcePathStyle: true, endpoint: servers.s3.url, credentials })
    await s3.send(new CreateBucketCommand({ Bucket: 'forms' }))
  })
  afterAll(async () => await owner[Symbol.asyncDispose]())

  test.each(forms)(`$name: ${DOCUMENTS} documents, every value as it stood`, async form => {
    const { name, shape } = form
    const file = join(servers.folder, name)
    const bytes = Buffer.from(form.write() as string)
    writeFileSync(file, bytes)
    await s3.send(new PutObjectCommand({ Bucket: 'forms', Key: name, Body: bytes }))
    const ways: Readonly<Record<string, string>> = {
      file,
      ...(form.isNoStream ? {} : { stdin: '-' }),
      https: `https://127.0.0.1:${servers.nginx.port}/files/${name}`,
      s3: `s3://forms/${name}`,
    }
    for (const [way, source] of Object.entries(ways)) {
      const index = `formats-${way}-${name.replaceAll(/[^a-z0-9]/g, '-')}`
      await load(source, file, index, form)
      expect(await hashOf(world(), index, lineOf[shape](0)), `${name} from ${way}`).toBe(expected[shape])
      await request(world(), index, '', 'DELETE')
    }
    rmSync(file)
    await s3.send(new DeleteObjectCommand({ Bucket: 'forms', Key: name }))
    console.log(`${name}: ${Object.keys(ways).join(', ')}: SHA-256 of all _source ${expected[shape]}`)
  })

  test(`what elasticdump itself writes: ${DOCUMENTS} documents, every value as elasticdump wrote it`, async () => {
    const { folder } = owner
    const [first, dump] = [join(servers.folder, 'first.ndjson'), join(servers.folder, 'dump.ndjson')]
    writeFileSync(first, Array.from({ length: DOCUMENTS }, (_, n) => `${lineOf.deep(n)}\n`).join(''))
    await load(first, first, 'dumped', { name: 'first', flags: [] })
    await request(world(), 'dumped', '_refresh', 'POST')
    const { cluster } = world()
    const { host } = new URL(cluster.httpUrl)
    await world().register('everyone')
    const input = `http://${cluster.username}:${encodeURIComponent(cluster.password)}@${host}/dumped`
    const words = [
      `--input=${input}`,
      `--output=${dump}`,
      '--type=data',
      '--limit=5000',
      '--support-big-int',
      '--quiet',
    ]
    execFileSync(process.execPath, [elasticdump(), ...words], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
    await world().register('both')
    await load(dump, dump, 'restored', { name: 'dump', flags: [] })
    const sources = readFileSync(dump, 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => line.slice(line.indexOf('"_source":') + '"_source":'.length, -1))
      .toSorted((one, other) => numberIn(one) - numberIn(other))
    const hash = createHash('sha256')
    for (const source of sources) hash.update(`${source}\n`)
    expect(await hashOf(world(), 'restored', sources[0] ?? '')).toBe(hash.digest('hex'))
    const kept = sources.filter((source, n) => source === lineOf.deep(n)).length
    console.log(`elasticdump wrote ${kept} of ${sources.length} documents as they stood, such as ${sources[0]}`)
  })

  /** `file` is what stdin holds. */
  async function load(source: string, file: string, index: string, { name, flags }: Pick<Form, 'name' | 'flags'>) {
    await request(world(), index, '', 'PUT', MAPPING)
    const state = join(owner.folder, 'state')
    const command = ['ingest', source, '--index', index, '--json', '--quiet', '--state-dir', state, ...flags]
    const child = spawn(process.execPath, [binary, ...command, '--source-ca', servers.caFile], {
      cwd: owner.folder,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, SLUICE_PREFLIGHT_CONNECTIONS: '1', ...environmentOf(world()), ...servers.s3.env },
    })
    if (source === '-') createReadStream(file).pipe(child.stdin)
    else child.stdin.end()
    let out = ''
    child.stdout.on('data', (text: Buffer) => (out += text.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    expect(code, `${name}: ${out}`).toBe(0)
    const receipt = JSON.parse(out) as Receipt
    expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS, created: DOCUMENTS, rejected: 0 })
  }
})

const numberIn = (source: string) => Number(/"n":(\d+)/.exec(source)?.[1])

/** The SHA-256 of all `_source` in the order of `n`, as the cluster has them. They are not parsed, and no filter_path makes the
 * cluster write them anew: both change numbers. */
async function hashOf(world: RealWorld, index: string, firstLine: string): Promise<string> {
  await request(world, index, '_refresh', 'POST')
  const hash = createHash('sha256')
  for (let from = 0; from < DOCUMENTS; from += PAGE) {
    const body = JSON.stringify({ size: PAGE, sort: ['n'], ...(from > 0 && { search_after: [from - 1] }) })
    const text = await request(world, index, '_search', 'POST', body)
    for (const [at, hit] of text.split(',"_source":').slice(1).entries()) {
      const source = hit.slice(0, hit.lastIndexOf(',"sort":['))
      if (from === 0 && at === 0) expect(source).toBe(firstLine)
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

/** Returns the program of elasticdump, among the peers of the benchmark. Installs these if they are missing. */
function elasticdump(): string {
  const bench = fileURLToPath(new URL('../../bench/', import.meta.url))
  const program = join(bench, 'node_modules', 'elasticdump', 'bin', 'elasticdump')
  if (!existsSync(program)) execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: bench })
  return program
}
