// @module-tag long
/** Objects of a bucket that come again under another name: known by their content, and at the cost of few requests. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { gzipSync } from 'node:zlib'
import { ingest, type Receipt } from '../../../src/index.js'
import { ObjectServer } from '../../support/servers/object-server.js'
import { index, lab, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()
let server: ObjectServer
beforeAll(async () => {
  server = await ObjectServer.start()
})
afterAll(async () => await server[Symbol.asyncDispose]())
afterEach(() => vi.unstubAllEnvs())
beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'someone')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'not a secret')
  vi.stubEnv('AWS_REGION', 'us-east-1')
  vi.stubEnv('AWS_ENDPOINT_URL_S3', server.url(''))
  server.objects.clear()
  server.asked = []
  server.fault = ({ path }, response) => {
    const url = new URL(path, 'http://server')
    if (url.searchParams.get('list-type') !== '2') {
      if (server.objects.has(url.pathname)) return false
      const error = '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>'
      response.writeHead(404, { 'content-type': 'application/xml' }).end(error)
      return true
    }
    response.writeHead(200, { 'content-type': 'application/xml' }).end(listed())
    return true
  }
})

function listed(): string {
  const objects = [...server.objects].map(
    ([path, { bytes, etag = '', modified }]) =>
      `<Contents><Key>${path.replace('/bucket/', '')}</Key><Size>${bytes.length}</Size><ETag>${etag.replaceAll('"', '&quot;')}</ETag><LastModified>${modified?.toISOString()}</LastModified></Contents>`,
  )
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${objects.join('')}</ListBucketResult>`
}

let version = 0
function put(key: string, bytes: string | Uint8Array): void {
  version += 1
  server.put(`bucket/${key}`, bytes, { etag: `"${version}"` })
}

function lines(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, n) => `{"n":${from + n},"fill":"${'x'.repeat(50)}"}\n`).join('')
}

async function load(): Promise<{ receipt: Receipt; notes: string }> {
  const notes: string[] = []
  const onEvent = (event: { type: string; notes?: readonly string[] }) => notes.push(...(event.notes ?? []))
  const receipt = await ingest({ source: 's3://bucket/app.log*', ...smallBatches(), onEvent })
  return { receipt, notes: notes.join('\n') }
}

/** The ranges that were asked for of one object. */
function asked(key: string): readonly (string | undefined)[] {
  const own = server.asked.filter(({ path }) => new URL(path, 'http://server').pathname === `/bucket/${key}`)
  return own.map(({ headers }) => headers.range)
}

test('a rotated and compressed object loads only its new lines, and the new one of its name is loaded', async () => {
  put('app.log', lines(0, 100))
  put('app.log.1', lines(200, 300))
  expect((await load()).receipt).toMatchObject({ created: 200 })
  server.objects.clear()
  put('app.log', lines(400, 450))
  put('app.log.1', lines(0, 120))
  put('app.log.2.gz', gzipSync(lines(200, 300)))
  const { receipt, notes } = await load()
  expect(receipt).toMatchObject({ status: 'finished', created: 70, duplicate: 0 })
  expect(notes).toMatch(/app\.log\.1 was loaded as s3:\/\/bucket\/app\.log by run/)
  expect(notes).toMatch(/app\.log\.2\.gz was loaded as s3:\/\/bucket\/app\.log\.1 by run/)
  server.asked = []
  expect((await load()).receipt).toMatchObject({ created: 0 })
  // Only the list: all of them are as they were.
  expect(server.asked).toHaveLength(1)
  expect(lab.control.ids(index)).toHaveLength(270)
})

test('new objects cost one request each, and one small one more if an object of before is gone', async () => {
  put('app.log.1', lines(0, 100))
  expect((await load()).receipt).toMatchObject({ created: 100 })
  expect(asked('app.log.1')).toHaveLength(1)
  put('app.log.2', lines(100, 200))
  await load()
  expect(asked('app.log.2')).toHaveLength(1)
  server.objects.delete('/bucket/app.log.1')
  put('app.log.3', lines(300, 400))
  await load()
  expect(asked('app.log.3')).toEqual(['bytes=0-255', expect.stringMatching(/^bytes=0-\d{4}/)])
  expect(lab.control.ids(index)).toHaveLength(300)
})
