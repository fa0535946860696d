// @module-tag long
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { readFile, readdir } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ingest, type IngestEvent, type IngestOptions, type Receipt } from '../../../src/index.js'
import { ObjectServer, serve } from '../../support/servers/object-server.js'
import { codeOf } from '../../support/lab/run-world.js'
import { index, lab, path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()
let server: ObjectServer
beforeAll(async () => {
  server = await ObjectServer.start()
})
afterAll(async () => await server[Symbol.asyncDispose]())
beforeEach(() => {
  server.objects.clear()
  server.asked = []
  server.fault = undefined
  server.hasRanges = true
})

const load = async (source: IngestOptions['source'], more: Partial<IngestOptions> = {}): Promise<Receipt> =>
  await ingest({ source, ...smallBatches(), batchDocs: 1000, ...more })

const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `{"n":${from + n}}\n`).join('')
/** Longer than a part. */
const long = Array.from({ length: 300 }, (_, n) => `{"n":${n},"fill":"${'x'.repeat(20_000)}"}\n`).join('')

const stored = () =>
  lab.control
    .ids(index)
    .map(id => (JSON.parse(String(lab.control.source(index, id))) as { n: number }).n)
    .toSorted((a, b) => a - b)
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

describe('an input on a web server', () => {
  test('is read beside files, directly, and the run says so', async () => {
    server.put('a.ndjson.gz', gzipSync(lines(0, 100)))
    server.put('b.ndjson', lines(100, 120))
    const notes: string[] = []
    const onEvent = (event: IngestEvent) => void (event.type === 'preflight' && notes.push(...event.notes))
    const receipt = await load([server.url('a.ndjson.gz'), server.url('b.ndjson')], { onEvent })
    expect(receipt).toMatchObject({ status: 'finished', created: 120 })
    expect(stored()).toEqual(numbers(120))
    expect(notes).toContain(`reads from ${server.url('').slice(0, -1)} directly, not through the proxy`)
  })

  test('continues at the next byte when connections break, of every part', async () => {
    server.put('a.ndjson', long)
    let broken = 0
    server.fault = ({ headers }, response, object) => {
      if (object === undefined || headers.range === 'bytes=0-255' || broken >= 6) return false
      broken += 1
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
      const [from, to] = [Number(first), Math.min(Number(last) + 1, object.bytes.length)]
      const range = { 'content-range': `bytes ${from}-${to - 1}/${object.bytes.length}`, 'content-length': to - from }
      response.writeHead(206, { etag: '"one"', ...range })
      response.write(object.bytes.subarray(from, from + 100_000), () => response.destroy())
      return true
    }
    server.objects.get('/a.ndjson')!.etag = '"one"'
    expect(await load(server.url('a.ndjson'))).toMatchObject({ status: 'finished', created: 300 })
    expect(stored()).toEqual(numbers(300))
    expect(broken).toBe(6)
  })

  test('is read again from its start if its server knows no ranges, and no byte is read twice', async () => {
    server.put('a.ndjson', long, { etag: '' })
    let broken = 0
    server.fault = (_asked, response, object) => {
      if (object === undefined || broken++ > 3) return false
      response.writeHead(200, { 'content-length': object.bytes.length })
      response.write(object.bytes.subarray(0, broken * 1_000_000), () => response.destroy())
      return true
    }
    expect(await load(server.url('a.ndjson'))).toMatchObject({ status: 'finished', created: 300 })
    expect(stored()).toEqual(numbers(300))
  })

  test('without ranges that is another one after a lost connection never mixes with it', async () => {
    server.put('a.ndjson', long, { etag: '' })
    let asked = 0
    server.fault = (_asked, response, object) => {
      asked += 1
      if (object === undefined || asked !== 2) return false
      response.writeHead(200, { 'content-length': object.bytes.length })
      response.write(object.bytes.subarray(0, 3_000_000), () => response.destroy())
      server.put('a.ndjson', long.replaceAll('x', 'y'), { etag: '' })
      return true
    }
    expect(await codeOf(load(server.url('a.ndjson')))).toMatch(/^INPUT_REPLACED/)
    const fills = lab.control.ids(index).map(id => String(lab.control.source(index, id)))
    expect(fills.filter(text => text.includes('y'))).toEqual([])
  })

  test('that is replaced between two parts stops, also if its server ignores If-Match', async () => {
    server.put('a.ndjson', long)
    server.fault = ({ headers }, response, object) => {
      if (object === undefined) return false
      serve(object, { ...headers, 'if-match': undefined }, response)
      if (headers.range !== 'bytes=0-255') server.put('a.ndjson', long.replaceAll('x', 'y'))
      return true
    }
    expect(await codeOf(load(server.url('a.ndjson')))).toMatch(/^INPUT_REPLACED: .*it has another ETag now/)
  })

  const answers: readonly [what: string, headers: Record<string, string | number>, status: number, code: RegExp][] = [
    ['404', {}, 404, /^INPUT_NOT_FOUND: no such input/],
    ['410', {}, 410, /^INPUT_NOT_FOUND/],
    ['403', {}, 403, /^SOURCE_REFUSED: .*status 403/],
    ['401', {}, 401, /^SOURCE_REFUSED: .*status 401/],
    ['400', {}, 400, /^SOURCE_REFUSED: .*status 400/],
    ['500 for too long', {}, 500, /^SOURCE_UNAVAILABLE: .*status 500/],
    ['429 that asks to wait too long', { 'retry-after': 3600 }, 429, /^SOURCE_UNAVAILABLE: .*status 429/],
    ['a redirect to itself', { location: '/a.ndjson' }, 302, /^SOURCE_REDIRECTED: .*more than 5 redirects/],
    ['a redirect to nowhere', {}, 301, /^SOURCE_REDIRECTED: .*does not say where to/],
    ['a redirect to another scheme', { location: 'file:///etc/passwd' }, 307, /^SOURCE_REDIRECTED: .*leads to file:/],
    ['another range', { 'content-range': 'bytes 5-6/100' }, 206, /^INPUT_UNREADABLE: .*other bytes/],
    ['a range that is none', { 'content-range': 'bytes 0-0' }, 206, /^INPUT_UNREADABLE: .*other bytes/],
    [
      'an encoding that nobody asked for',
      { 'content-encoding': 'br' },
      200,
      /^INPUT_UNREADABLE: .*Content-Encoding br/,
    ],
  ]
  test.each(answers)('whose server answers with %s has a named cause', async (_, headers, status, code) => {
    server.fault = (_asked, response) => {
      response.writeHead(status, headers).end(status === 200 ? 'text' : '')
      return true
    }
    expect(await codeOf(load(server.url('a.ndjson'), { maxElapsedMs: 300 }))).toMatch(code)
  })

  test('whose server says nothing, or stops in the middle, has a named cause', async () => {
    server.put('a.ndjson', lines(0, 100))
    server.fault = () => true
    const limits = { timeoutMs: 3000, maxElapsedMs: 3500 }
    expect(await codeOf(load(server.url('a.ndjson'), limits))).toMatch(/^SOURCE_UNAVAILABLE: .*within 3 s/)
    server.fault = (_asked, response) => response.writeHead(200, { 'content-length': 1000 }).write('{"n":1}\n')
    expect(await codeOf(load(server.url('a.ndjson'), limits))).toMatch(
      /^SOURCE_UNAVAILABLE: .*no more bytes within 3 s/,
    )
    server.fault = (_asked, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('{"n":1}\n', () => response.destroy())
      return true
    }
    expect(await codeOf(load(server.url('a.ndjson'), limits))).toMatch(/^SOURCE_UNAVAILABLE/)
  })

  test('that its server sends in gzip although it is plain, or in gzip as it is stored, is decoded once', async () => {
    server.put('a.ndjson', gzipSync(lines(0, 50)), { headers: { 'content-encoding': 'gzip' } })
    server.put('b.ndjson.gz', gzipSync(lines(50, 100)), { headers: { 'content-encoding': 'gzip' } })
    server.put('c.ndjson.gz', gzipSync(gzipSync(lines(100, 150))), { headers: { 'content-encoding': 'gzip' } })
    const names = ['a.ndjson', 'b.ndjson.gz', 'c.ndjson.gz'].map(name => server.url(name))
    expect(await load(names)).toMatchObject({ status: 'finished', created: 150 })
    expect(stored()).toEqual(numbers(150))
  })

  test('that is empty is loaded, and one that cannot be read does not stop the others', async () => {
    server.put('empty.ndjson', '')
    server.put('a.ndjson', lines(0, 10))
    server.put('b.ndjson', lines(10, 20))
    server.fault = ({ path: asked, headers }, response) => {
      if (asked !== '/a.ndjson' || headers.range === 'bytes=0-255') return false
      return response.writeHead(403).end() !== undefined
    }
    const names = ['empty.ndjson', 'a.ndjson', 'b.ndjson'].map(name => server.url(name))
    expect(await codeOf(load(names))).toMatch(/^SOURCE_REFUSED/)
    expect(stored()).toEqual(numbers(20).slice(10))
  })

  test('follows redirects, and shows a login only to the server of the URL', async () => {
    server.put('a.ndjson', lines(0, 10))
    const seen: (string | undefined)[] = []
    const other = createServer((request, response) => {
      seen.push(request.headers.authorization)
      response.writeHead(302, { location: server.url('a.ndjson') }).end()
    })
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    try {
      const { port } = other.address() as AddressInfo
      await load(`http://user:p%40ss@127.0.0.1:${port}/first`)
      expect(stored()).toEqual(numbers(10))
      expect(new Set(seen)).toEqual(new Set([`Basic ${Buffer.from('user:p@ss').toString('base64')}`]))
      expect(server.asked.filter(({ headers }) => headers.authorization !== undefined)).toEqual([])
    } finally {
      other.closeAllConnections()
      other.close()
    }
  })

  test('leaves no login, token or query in what is said or stored', async () => {
    server.put('a.ndjson', `${lines(0, 5)}no json\n`)
    const said: string[] = []
    const onEvent = (event: IngestEvent) => void said.push(JSON.stringify(event))
    const url = server.url('a.ndjson').replace('//', '//user:SECRET-1@')
    const signed = [`${url}?X-Amz-Signature=SECRET-2`, `${server.url('a.ndjson')}?key=SECRET-3`]
    const receipt = await load(signed, { onEvent, remote: { token: 'SECRET-4' } })
    expect(receipt).toMatchObject({ created: 10, rejected: 2 })
    expect(server.asked.map(({ headers }) => headers.authorization)).toContain('Bearer SECRET-4')
    const files = await readdir(path('state'), { recursive: true, withFileTypes: true })
    for (const file of files.filter(one => one.isFile()))
      said.push(await readFile(`${file.parentPath}/${file.name}`, 'utf8'))
    said.push(JSON.stringify(receipt), await readFile(path('dead.ndjson'), 'utf8'))
    expect(said.join('\n')).toContain('/a.ndjson')
    expect(said.join('\n')).not.toContain('SECRET')
  })

  test('needs a safe route for a login, and one server for a token', async () => {
    expect(await codeOf(load('http://user:pass@files.example/a'))).toMatch(/^PLAINTEXT_CREDENTIALS/)
    const remote = { token: 'secret' }
    expect(await codeOf(load(['https://a.example/a', 'https://b.example/a'], { remote }))).toMatch(
      /^OPTION_INVALID: .*would go to 2 servers/,
    )
    expect(await codeOf(load('https://u:p/w@files.example/a'))).toMatch(/^OPTION_INVALID: .*is not a URL/)
    const direct = { proxy: undefined, remote: { throughProxy: true } }
    expect(await codeOf(load(server.url('a'), direct))).toMatch(/^OPTION_INVALID: .*no proxy is set/)
  })

  test('comes through the proxy, from the static addresses, if the user says so', async () => {
    server.put('a.ndjson', lines(0, 10))
    await load(server.url('a.ndjson'))
    expect(new Set(server.asked.map(({ from }) => from))).toEqual(new Set(['127.0.0.1']))
    server.asked = []
    const receipt = await load(server.url('a.ndjson'), { again: true, remote: { throughProxy: true } })
    expect(receipt).toMatchObject({ created: 10 })
    expect(server.asked.every(({ from }) => lab.line.staticIps.includes(from ?? ''))).toBe(true)
  })
})
