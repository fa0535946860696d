/** Inputs on real servers: files behind nginx, and objects in versitygw, into a real cluster. */
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { createHash, createHmac } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ingest, type IngestOptions, isSluiceError, type Receipt } from '../../src/index.js'
import { ingestRanges } from '../../src/ingest-ranges.js'
import { cutInto, failed, foundInputs } from '../support/load/ranges.js'
import { newIndex, loadThrough } from '../contracts/options.js'
import type { World } from '../contracts/world.js'
import type { Gateway } from './servers/gateway.js'
import { newOwner, type Owner } from './servers/owner.js'
import { findParts } from './servers/parts.js'
import type { S3Server } from './servers/s3.js'
import { startSources } from './servers/sources.js'

const parts = findParts()
const isMissing = parts.versitygw === undefined && !process.env.CI

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)
const lines = (from: number, to: number) =>
  numbers(from, to)
    .map(n => `{"n":${n},"big":9007199254740993}\n`)
    .join('')
/** So long that it comes in several parts. */
const long = (from: number, to: number) =>
  numbers(from, to)
    .map(n => `{"n":${n},"fill":"${'x'.repeat(50_000)}"}\n`)
    .join('')

export function describeSources(world: () => World): void {
  describe.skipIf(isMissing)('inputs on servers', () => {
    let owner: Owner
    let server: S3Server
    let nginx: Gateway
    let ca: string
    let s3: S3Client
    let index: string

    beforeAll(async () => {
      owner = await newOwner()
      const sources = await startSources(parts, owner, files => [
        `location /old/ { return 302 /files/; }`,
        `location /slow/ { alias ${files}/; limit_rate 1m; }`,
        `location /weak/ { alias ${files}/; gzip on; gzip_types *; gzip_min_length 1; etag off; max_ranges 0; }`,
      ])
      ;({ nginx, s3: server } = sources)
      ca = await readFile(sources.caFile, 'utf8')
      for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value)
      s3 = new S3Client({ region: 'us-east-1', forcePathStyle: true })
      await s3.send(new CreateBucketCommand({ Bucket: 'logs' }))
    })
    afterAll(async () => {
      vi.unstubAllEnvs()
      await owner[Symbol.asyncDispose]()
    })
    beforeEach(() => {
      index = newIndex('sources')
    })

    const put = async (Key: string, Body: string | Uint8Array) =>
      await s3.send(new PutObjectCommand({ Bucket: 'logs', Key, Body }))
    const write = async (name: string, text: string | Uint8Array) =>
      await writeFile(join(owner.folder, 'files', name), text)
    const load = async (source: IngestOptions['source'], more: Partial<IngestOptions> = {}): Promise<Receipt> =>
      await ingest({
        ...loadThrough(world(), world().proxy.http),
        preflightConnections: 1,
        source,
        index,
        stateDir: join(owner.folder, 'state'),
        // A fault of the test itself need not be retried for long.
        maxElapsedMs: 30_000,
        ...more,
        remote: { ca, ...more.remote },
      })
    const refused = async (loading: Promise<unknown>) => {
      const error: unknown = await loading.catch((thrown: unknown) => thrown)
      if (!isSluiceError(error)) throw error
      expect(error.message).not.toContain(server.env['AWS_SECRET_ACCESS_KEY'])
      return `${error.code} ${error.message}`
    }
    const stored = async (name = index) => {
      const all = await world().documents(name)
      return createHash('sha256').update(all.toSorted().join('\n')).digest('hex')
    }

    test('hold the same documents as a file, byte for byte', async () => {
      const text = lines(0, 5000)
      await write('a.ndjson', text)
      await write('a.ndjson.gz', gzipSync(text))
      await put('same/a.ndjson', text)
      await put('same/b.ndjson.gz', gzipSync(text))
      const web = `https://127.0.0.1:${nginx.port}`
      const hashes = new Set<string>()
      for (const source of [
        join(owner.folder, 'files', 'a.ndjson'),
        `${web}/files/a.ndjson`,
        `${web}/files/a.ndjson.gz`,
        's3://logs/same/a.ndjson',
        's3://logs/same/*.gz',
        presigned(server, 'logs/same/a.ndjson', 3600),
      ]) {
        index = newIndex('sources')
        expect(await load(source)).toMatchObject({ status: 'finished', created: 5000 })
        hashes.add(await stored())
      }
      expect(hashes.size).toBe(1)
    })

    test('are known by their ETags, and appended lines are loaded alone', async () => {
      const url = `https://127.0.0.1:${nginx.port}/files/known.ndjson`
      await write('known.ndjson', lines(0, 100))
      await put('known.ndjson', lines(100, 200))
      const both = [url, 's3://logs/known.ndjson']
      expect(await load(both)).toMatchObject({ created: 200 })
      expect(await load(both)).toMatchObject({ read: 0, inputs: [{ alreadyLoaded: true }, { alreadyLoaded: true }] })
      await write('known.ndjson', lines(0, 110))
      await put('known.ndjson', lines(100, 210))
      expect(await load(both)).toMatchObject({ created: 20, inputs: [{ resumedAt: 101 }, { resumedAt: 101 }] })
    })

    test.each(['s3', 'https'])(
      'continue where the load was stopped, and stop if they were replaced (%s)',
      async kind => {
        const source = kind === 's3' ? 's3://logs/long.ndjson' : `https://127.0.0.1:${nginx.port}/slow/long.ndjson`
        const set = async (text: string) =>
          kind === 's3' ? await put('long.ndjson', text) : await write('long.ndjson', text)
        const stopped = async () => {
          const controller = new AbortController()
          const onEvent: IngestOptions['onEvent'] = event => {
            if (event.type === 'progress' && event.counts.created >= 20) controller.abort()
          }
          return await refused(load(source, { signal: controller.signal, onEvent, batchDocs: 10, concurrency: 1 }))
        }
        await set(long(0, 300))
        expect(await stopped()).toContain('RUN_INTERRUPTED')
        await set(long(500, 800))
        expect(await refused(load(source))).toContain('INPUT_CHANGED')
        await set(long(0, 300))
        expect(await load(source)).toMatchObject({ status: 'finished', created: 300 })
        expect(await world().count(index)).toBe(300)
      },
    )

    test('are loaded in ranges, each line once, until they are replaced', async () => {
      const text = long(0, 300)
      await write('cut.ndjson', text)
      await put('cut.ndjson', text)
      for (const source of ['s3://logs/cut.nd*', `https://127.0.0.1:${nginx.port}/files/cut.ndjson`]) {
        index = newIndex('sources')
        const options = { ...loadThrough(world(), world().proxy.http), preflightConnections: 1, index, remote: { ca } }
        const [input] = await foundInputs({ ...options, source })
        if (input?.canBeCut !== true) throw new Error('not an input that can be cut')
        const ranges = cutInto(input, 5_000_001)
        const first = await ingestRanges(options, { run: 'job', ranges: ranges.slice(1), isFirstDelivery: true })
        const others = cutInto(input, 7_000_000)
        expect(await ingestRanges(options, { run: 'job', ranges: others })).toMatchObject({
          created: 300 - first.created,
          duplicate: first.created,
        })
        expect(await world().count(index)).toBe(300)
        // Of the same length.
        await write('cut.ndjson', text.replaceAll('x', 'y'))
        await put('cut.ndjson', text.replaceAll('x', 'y'))
        const { code, receipt } = await failed(ingestRanges(options, { run: 'job', ranges: others }))
        expect([code, receipt.read]).toEqual(['INPUT_REPLACED', 0])
        expect(receipt.inputs.map(({ failure }) => failure?.code)).toEqual(others.map(() => 'INPUT_REPLACED'))
        await write('cut.ndjson', text)
      }
    })

    test('are listed in the order of their numbers, a thousand keys at a time', async () => {
      const keys = numbers(0, 1100).map(n => `many/part-${n}.ndjson`)
      for (let at = 0; at < keys.length; at += 50)
        await Promise.all(keys.slice(at, at + 50).map(async (key, n) => await put(key, lines(at + n, at + n + 1))))
      // All keys are listed, and every tenth is loaded.
      const receipt = await load('s3://logs/many/part-*0.ndjson')
      const tenths = keys.filter(key => key.endsWith('0.ndjson'))
      expect(receipt).toMatchObject({ status: 'finished', created: 110 })
      expect(receipt.inputs.map(({ name }) => name)).toEqual(tenths.map(key => `s3://logs/${key}`))
    })

    test('come directly, and through the proxy if the user says so', async () => {
      await write('way.ndjson', lines(0, 1))
      const url = `https://127.0.0.1:${nginx.port}/files/way.ndjson`
      const from = async () =>
        new Set((await readFile(join(owner.folder, 'arrivals'), 'utf8')).match(/^\S+(?=.*way\.ndjson)/gm))
      await load(url)
      await expect.poll(from).toEqual(new Set(['127.0.0.1']))
      await load(url, { again: true, remote: { throughProxy: true } })
      await expect.poll(from).toHaveProperty('size', 2)
      const [, address = ''] = await from()
      expect(world().staticIps).toContain(address)
      await put('way.ndjson', lines(0, 1))
      expect(await load('s3://logs/way.ndjson', { remote: { throughProxy: true } })).toMatchObject({ created: 1 })
    })

    test('are read from their start if a server has neither ETags nor ranges', async () => {
      await write('weak.ndjson', lines(0, 100))
      const url = `https://127.0.0.1:${nginx.port}/weak/weak.ndjson`
      expect(await load(url)).toMatchObject({ created: 100 })
      expect(await load(url)).toMatchObject({ read: 0, inputs: [{ alreadyLoaded: true }] })
    })

    test('that a server refuses have a named cause', async () => {
      const url = `https://127.0.0.1:${nginx.port}`
      await put('mine.ndjson', lines(0, 1))
      expect(await refused(load(`${url}/files/none.ndjson`))).toBe(
        `INPUT_NOT_FOUND no such input: ${url}/files/none.ndjson`,
      )
      expect(await refused(load(`${url}/files/`))).toMatch(/^SOURCE_REFUSED .*status 403/)
      expect(await refused(load(`${url}/files/a.ndjson`, { remote: { ca: undefined } }))).toMatch(
        /^SOURCE_CERT_INVALID/,
      )
      expect(await refused(load('s3://logs/none.ndjson'))).toMatch(/^INPUT_NOT_FOUND/)
      expect(await refused(load('s3://nobody/*.ndjson'))).toMatch(/^INPUT_NOT_FOUND/)
      expect(await refused(load(presigned(server, 'logs/mine.ndjson', -60)))).toMatch(/^SOURCE_REFUSED .*status 403/)
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wrong')
      expect(await refused(load('s3://logs/mine.ndjson'))).toMatch(
        /^SOURCE_REFUSED .*status 403, SignatureDoesNotMatch/,
      )
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined)
      expect(await refused(load('s3://logs/mine.ndjson'))).toMatch(/^SOURCE_REFUSED .*no AWS credentials/)
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', server.env['AWS_SECRET_ACCESS_KEY'] ?? '')
    })
  })
}

/** Signs a URL as the AWS tools do. `seconds`: how long it is valid. */
function presigned({ url, env }: S3Server, path: string, seconds: number): string {
  const at = new Date(Date.now() + Math.min(0, seconds) * 1000 - 1000).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const scope = `${at.slice(0, 8)}/us-east-1/s3/aws4_request`
  const query = new URLSearchParams([
    ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'],
    ['X-Amz-Credential', `${env['AWS_ACCESS_KEY_ID']}/${scope}`],
    ['X-Amz-Date', at],
    ['X-Amz-Expires', String(Math.abs(seconds) - (seconds < 0 ? 30 : 0))],
    ['X-Amz-SignedHeaders', 'host'],
  ])
  const request = ['GET', `/${path}`, String(query), `host:${new URL(url).host}\n`, 'host', 'UNSIGNED-PAYLOAD'].join(
    '\n',
  )
  const text = ['AWS4-HMAC-SHA256', at, scope, createHash('sha256').update(request).digest('hex')].join('\n')
  const hmac = (key: string | Buffer, value: string) => createHmac('sha256', key).update(value).digest()
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${env['AWS_SECRET_ACCESS_KEY']}`)
  query.append('X-Amz-Signature', hmac(key, text).toString('hex'))
  return `${url}/${path}?${String(query)}`
}
