/** A receiver of webhooks behind the lab's inbound entry. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { serve } from '../../../src/index.js'
import { makeCertificates } from '../../../src/lab/certificates.js'
import { ask, readSome } from '../../support/lab/lab-clients.js'
import { codeOf } from '../../support/lab/run-world.js'
import { json, lines, ndjson, options, post, postChunked, start, stored, token } from '../../support/lab/serve-world.js'
import { index, lab, path, shareLab } from '../../support/lab/shared-lab.js'

shareLab()

const answerOf = ({ status, text }: { status: number; text: string }) => ({ status, ...(JSON.parse(text) as object) })

describe('a posted document', () => {
  test('arrives through the proxy, byte for byte, as NDJSON, JSON, and gzip', async () => {
    await using serving = await start()
    lab.control.forgetConnections()
    const exact = '{"id":1234567890123456789,"text":"  ü  ", "b":[1.0, 1e3]}'
    const answers = [
      await post(`${exact}\n\n{"n":2}\r\n{"n":3}`),
      await post('{\n  "n": 4\n}', json),
      await post('[{"n":5},\n {"n":6, "a":"] , {"}]', { ...json, 'content-type': 'application/json; charset=utf-8' }),
      await post(gzipSync(lines(2, 7)), { ...ndjson, 'content-encoding': 'gzip' }),
      await post('{"n":9}', { ...json, 'content-type': 'application/cloudevents+json; charset=utf-8' }),
    ]
    expect(answers.map(answerOf)).toEqual([3, 1, 2, 2, 1].map(accepted => ({ status: 202, accepted })))
    await expect.poll(() => lab.control.count(index)).toBe(9)
    const plain = [2, 3, 5, 7, 8, 9].map(n => `{"n":${n}}`)
    expect(stored()).toEqual([exact, ...plain, '{   "n": 4 }', '{"n":6, "a":"] , {"}'].toSorted())
    expect(await serving.close()).toMatchObject({ status: 'finished', accepted: 9, read: 9, created: 9, rejected: 0 })
    const seen = lab.control.connections()
    expect(seen.filter(({ at }) => at === 'inbound')).toHaveLength(5)
    const atCluster = seen.filter(({ at }) => at === 'cluster').map(({ from }) => from)
    expect(lab.line.staticIps).toEqual(expect.arrayContaining(atCluster))
  })

  test('gets ids from several fields, nested ones too, or from their hash', { tags: 'long' }, async () => {
    const row = (branch: string, n: number) => `{"branch":"${branch}","order":{"no":9007199254740993123},"n":${n}}\n`
    for (const [ids, id] of [
      ['field', 'DE|9007199254740993123'],
      ['hash', createHash('sha256').update('DE|9007199254740993123').digest('hex')],
    ] as const) {
      await using serving = await start({ ids, idField: 'branch,order.no', op: 'index', stateDir: path(ids) })
      expect((await post(row('DE', 1) + row('FR', 1))).status).toBe(202)
      expect((await post(`[${row('DE', 2)},{"branch":"DE"}]`, json)).status).toBe(202)
      expect(await serving.close()).toMatchObject({ created: 2, updated: 1, rejected: 1 })
      expect(String(lab.control.source(index, id))).toBe(row('DE', 2).trimEnd())
    }
    expect(lab.control.count(index)).toBe(4)
  })

  test('without any document is answered, and stores nothing', async () => {
    await using serving = await start()
    for (const [body, headers] of [
      ['', ndjson],
      ['\n \r\n', ndjson],
      [' [ ] ', json],
      ['', json],
    ] as const)
      expect(answerOf(await post(body, headers))).toEqual({ status: 200, accepted: 0 })
    expect((await serving.close()).accepted).toBe(0)
  })

  test('is refused without the token, elsewhere, in another way, or as something else', async () => {
    await using serving = await start({ path: '/events' })
    const url = `${lab.line.inbound.url}/events`
    const asked = async (headers: Record<string, string>, more: { method?: string; url?: string } = {}) =>
      (await ask(more.url ?? url, { method: more.method ?? 'POST', body: '{"n":1}\n', headers })).status
    expect(await asked({ 'content-type': ndjson['content-type'] })).toBe(401)
    expect(await asked({ ...ndjson, authorization: `Bearer ${token}x` })).toBe(401)
    expect(await asked({ ...ndjson, authorization: `Basic ${token}` })).toBe(401)
    expect(await asked(ndjson, { url: lab.line.inbound.url })).toBe(404)
    expect(await asked(ndjson, { method: 'PUT' })).toBe(405)
    expect(await asked({ ...ndjson, 'content-type': 'text/plain' })).toBe(415)
    expect(await asked({ ...ndjson, 'content-type': 'application/json; charset=latin1' })).toBe(415)
    expect(await asked({ ...ndjson, 'content-encoding': 'br' })).toBe(415)
    expect(await asked({ ...ndjson, 'content-encoding': 'gzip' })).toBe(400)
    expect(await asked(ndjson)).toBe(202)
    const { accepted, answers } = await serving.close()
    expect({ accepted, answers }).toEqual({ accepted: 1, answers: { 202: 1, 400: 1, 401: 3, 415: 3 } })
    expect(lab.control.count(index)).toBe(1)
  })

  test('is refused where it is too large, however that comes out', async () => {
    await using serving = await start({ maxBody: 10_000 })
    const big = lines(2000)
    expect((await post(big)).status).toBe(413)
    expect(await postChunked([big.slice(0, 9000), big.slice(9000)])).toBe(413)
    expect((await post(gzipSync(big), { ...ndjson, 'content-encoding': 'gzip' })).status).toBe(413)
    expect(await postChunked([lines(10)])).toBe(202)
    expect(await serving.close()).toMatchObject({ accepted: 10, created: 10 })
  })

  test('is taken as a whole or not at all: the first bad line is named', async () => {
    await using serving = await start()
    const bad = async (body: string | Buffer, headers: Record<string, string> = ndjson) =>
      answerOf(await post(body, headers))
    expect(await bad(`${lines(3)}\n{"n":4\n${lines(2)}`)).toEqual({
      status: 400,
      error: 'line 5 is not valid JSON',
      line: 5,
    })
    expect(await bad('{"n":1}\n[1]\n')).toEqual({ status: 422, error: 'line 2 is not a JSON object', line: 2 })
    expect(await bad(Buffer.from('{"a":"\xff"}\n', 'latin1'))).toMatchObject({
      status: 400,
      error: 'line 1 is not UTF-8',
    })
    expect(await bad('[{"n":1},\n{"n":2},\n7]', json)).toEqual({
      status: 422,
      error: 'document 3 (line 3) is not a JSON object',
      line: 3,
    })
    expect(await bad('[{"n":1},{"n":2}', json)).toMatchObject({ status: 400 })
    expect(await bad('{"n":1} {"n":2}', json)).toMatchObject({ status: 400, line: 1 })
    expect(await serving.close()).toMatchObject({ accepted: 0, read: 0 })
    expect(lab.control.count(index)).toBe(0)
  })

  test('by somebody who goes away in the middle is not stored', async () => {
    await using serving = await start()
    lab.control.plant({ inboundCut: { afterBytes: 5000, times: 1 } })
    expect(await postChunked([lines(2000)])).toMatch(/ECONNRESET|socket hang up|EPIPE/)
    expect((await post(lines(5))).status).toBe(202)
    expect(await serving.close()).toMatchObject({ accepted: 5, created: 5 })
    expect(lab.control.count(index)).toBe(5)
  })

  test('that the index refuses is in the dead letters', async () => {
    await using serving = await start()
    expect((await post('{"n":1}\n')).status).toBe(202)
    await expect.poll(() => lab.control.count(index)).toBe(1)
    expect((await post('{"n":"none"}\n{"n":2}\n')).status).toBe(202)
    const receipt = await serving.close()
    expect(receipt).toMatchObject({ status: 'finished', accepted: 3, created: 2, rejected: 1 })
    expect(receipt.deadLetters).toBe(path('dead.ndjson'))
    const letter = JSON.parse(await readFile(path('dead.ndjson'), 'utf8')) as {
      origin: { document: number }
      index: string
    }
    expect(letter).toMatchObject({ index, origin: { document: 1 } })
  })
})

describe('an idempotency key', () => {
  test('makes a repetition count once, also for the next process', async () => {
    const keyed = { ...ndjson, 'idempotency-key': 'order-1' }
    {
      await using serving = await start()
      const answers = await Promise.all([post(lines(3), keyed), post(lines(3), keyed), post(lines(3), keyed)])
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 202])
      expect((await post(lines(4), keyed)).status).toBe(422)
      expect(await serving.close()).toMatchObject({ accepted: 3, created: 3 })
    }
    await using serving = await start()
    expect(answerOf(await post(lines(3), keyed))).toEqual({ status: 200, accepted: 3, repeated: true })
    expect((await post(lines(3), { ...keyed, 'idempotency-key': 'order-2' })).status).toBe(202)
    expect(await serving.close()).toMatchObject({ accepted: 3, created: 3 })
    expect(lab.control.count(index)).toBe(6)
  })
})

describe('if the cluster refuses', () => {
  test(
    'documents are accepted up to the limit, held back then, and loaded once it is open again',
    { tags: 'long' },
    async () => {
      await using serving = await start({ spoolLimit: 1_000_000 })
      expect((await post(lines(10))).status).toBe(202)
      await expect.poll(() => lab.control.count(index)).toBe(10)
      lab.control.register('none')
      const chunk = `${JSON.stringify({ text: 'x'.repeat(99_000) })}\n`.repeat(3)
      const answers = []
      for (let posts = 0; posts < 5; posts += 1) answers.push(await post(chunk))
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 429, 429])
      expect(Number(answers.at(-1)?.headers['retry-after'])).toBeGreaterThan(0)
      await expect.poll(() => serving.events.filter(({ type }) => type === 'failed').length).toBeGreaterThan(0)
      const health = await ask(`${lab.line.inbound.url}/health`, { headers: ndjson })
      expect(health.status).toBe(200)
      expect(JSON.parse(health.text)).toMatchObject({
        state: 'blocked',
        waiting: { documents: 9 },
        failure: {
          code: 'EGRESS_NOT_ALLOWED',
          fix: expect.arrayContaining([expect.stringMatching(/policy/)]) as unknown,
        },
      })
      // A caller without the token learns only whether documents are accepted.
      expect(JSON.parse((await ask(`${lab.line.inbound.url}/health`)).text)).toEqual({ state: 'blocked' })
      lab.control.register('both')
      await expect.poll(() => serving.status().waiting.bytes).toBe(0)
      expect(lab.control.count(index)).toBe(19)
      expect((await post(chunk)).status).toBe(202)
      expect(await serving.close()).toMatchObject({ status: 'finished', accepted: 22, read: 22, created: 22 })
      expect(serving.events.map(({ type }) => type)).toContain('recovered')
      expect(lab.control.count(index)).toBe(22)
    },
  )

  test('at the start it does not start, unless it is to accept anyway', async () => {
    lab.control.register('none')
    expect(await codeOf(serve(options()))).toMatch(/^EGRESS_NOT_ALLOWED/)
    {
      await using serving = await start({ acceptAnyway: true })
      expect(serving.status()).toMatchObject({ state: 'blocked', failure: { code: 'EGRESS_NOT_ALLOWED' } })
      expect((await post(lines(5))).status).toBe(202)
      expect(await serving.close()).toMatchObject({
        status: 'interrupted',
        failure: { code: 'RUN_INTERRUPTED' },
        accepted: 5,
        read: 0,
        waiting: { documents: 5 },
      })
    }
    lab.control.register('both')
    await using next = await start()
    expect(next.events).toContainEqual({ type: 'found', documents: 5, bytes: lines(5).length, cutBytes: 0 })
    expect(await next.close()).toMatchObject({ status: 'finished', accepted: 0, read: 5, created: 5 })
  })
})

describe('a receiver', () => {
  test('that is closed answers what is under way, and has loaded it when it ends', async () => {
    await using serving = await start({ batchMs: 60_000 })
    expect((await post(lines(7))).status).toBe(202)
    const { port } = new URL(serving.url)
    const slow = connect(Number(port), '127.0.0.1')
    const fields = { ...ndjson, host: 'x', 'content-length': '16', expect: '100-continue' }
    const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    slow.write(`POST / HTTP/1.1\r\n${head.join('')}\r\n{"n":8}\n`)
    expect((await readSome(slow)).toString()).toMatch(/^HTTP\/1.1 100 /)
    const closed = serving.close()
    slow.write('{"n":9}\n')
    const chunks: Buffer[] = []
    for await (const chunk of slow) chunks.push(chunk as Buffer)
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1.1 202 [\s\S]*connection: close/i)
    expect(await closed).toMatchObject({
      status: 'finished',
      accepted: 9,
      created: 9,
      waiting: { documents: 0, bytes: 0 },
    })
    expect(await serving.finished).toBe(await closed)
    const left = await readdir(path('state/serve'))
    expect(await readdir(path(join('state/serve', left[0] ?? '', 'segments')))).toEqual([])
    expect(await readdir(path(join('state/serve', left[0] ?? '', 'state/runs')))).toEqual([])
  })

  test('speaks TLS where it is given a certificate, through an entry that does not end it', async () => {
    const { chain: cert, key, authority: ca } = await makeCertificates()
    await using serving = await start({ tls: { cert, key } })
    expect(serving.url).toMatch(/^https:/)
    const url = lab.line.inbound.url.replace('http:', 'https:')
    expect((await ask(url, { body: lines(2), headers: ndjson, ca })).status).toBe(202)
    await expect(ask(lab.line.inbound.url, { body: lines(2), headers: ndjson })).rejects.toThrow(
      /socket hang up|ECONNRESET/,
    )
    expect(await serving.close()).toMatchObject({ accepted: 2, created: 2 })
    expect(await codeOf(serve(options({ tls: { cert: 'none', key: 'none' } })))).toMatch(/^OPTION_INVALID: tls:/)
  })

  test('that is stopped while it looks for the way has not begun', async () => {
    lab.control.plant({ handshake: { kind: 'silence' } })
    const controller = new AbortController()
    const starting = codeOf(serve(options({ signal: controller.signal })))
    await expect.poll(() => lab.control.struck('handshake')).toBeGreaterThan(0)
    controller.abort('SIGTERM')
    expect(await starting).toMatch(/^RUN_INTERRUPTED: interrupted after 0 documents: SIGTERM/)
    lab.control.heal()
    await using serving = await start()
    expect(serving.status().state).toBe('ok')
  })

  test('does not share its folder', async () => {
    await using serving = await start()
    expect(await codeOf(serve(options()))).toMatch(/^RUN_LOCKED/)
    expect(serving.status().state).toBe('ok')
  })

  test('answers 503 where it cannot write, and goes on once it can', async () => {
    await using serving = await start()
    const [key = ''] = await readdir(path('state/serve'))
    const segments = path(join('state/serve', key, 'segments'))
    await rm(segments, { recursive: true })
    expect((await post(lines(2))).status).toBe(503)
    await mkdir(segments)
    expect((await post(lines(3))).status).toBe(202)
    expect(await serving.close()).toMatchObject({ status: 'finished', accepted: 3, created: 3 })
    expect(existsSync(segments)).toBe(true)
  })
})
