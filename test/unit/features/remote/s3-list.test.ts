import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { findInputs } from '../../../../src/ingest-ranges.js'
import { ObjectServer } from '../../../support/servers/object-server.js'

let server: ObjectServer
beforeAll(async () => {
  server = await ObjectServer.start()
})
afterAll(async () => await server[Symbol.asyncDispose]())
afterEach(() => vi.unstubAllEnvs())

/** More than are known at the same time. */
const PAGES = 5
const EACH = 500

function page(number: number): string {
  const objects = Array.from({ length: EACH }, (_, at) => {
    const key = `logs/${number * EACH + at}.ndjson`
    const about = `<Size>${at}</Size><ETag>&quot;${number}-${at}&quot;</ETag><LastModified>2026-01-01T00:00:00.000Z</LastModified>`
    return `<Contents><Key>${key}</Key>${about}</Contents>`
  })
  const isLast = number === PAGES - 1
  const next = isLast ? '' : `<NextContinuationToken>${number + 1}</NextContinuationToken>`
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${!isLast}</IsTruncated>${next}${objects.join('')}</ListBucketResult>`
}

test('objects of a bucket are found one by one, before the next page is asked for, each with its own size and version', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'someone')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'not a secret')
  vi.stubEnv('AWS_REGION', 'us-east-1')
  vi.stubEnv('AWS_ENDPOINT_URL_S3', server.url(''))
  let asked = 0
  server.fault = ({ path }, response) => {
    asked += 1
    const after = new URL(path, 'http://server').searchParams.get('continuation-token')
    response.writeHead(200, { 'content-type': 'application/xml' }).end(page(Number(after ?? 0)))
    return true
  }
  const target = { url: server.url(''), username: 'a', password: 'b' }
  const options = { target, index: 'logs', source: 's3://bucket/logs/*.ndjson' }
  let found = 0
  const identities = new Set<string>()
  for await (const { name, size, identity, canBeCut } of findInputs(options, 1 << 20)) {
    expect(asked).toBe(Math.floor(found / EACH) + 1)
    expect({ name, size, canBeCut }).toEqual({
      name: `s3://bucket/logs/${found}.ndjson`,
      size: found % EACH,
      canBeCut: false,
    })
    identities.add(identity)
    found += 1
  }
  expect(found).toBe(PAGES * EACH)
  expect(identities.size).toBe(found)
})

test.each([
  ['begins again', (after: string) => page(after === '2' ? 1 : Number(after)), 'lists the same page again and again'],
  [
    'does not say how it continues',
    (after: string) => page(Number(after)).replace(/<NextContinuationToken>.*<\/NextContinuationToken>/, ''),
    'lists only a part, and does not say how to get the rest',
  ],
])('a list that %s is refused', async (_, answer, problem) => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'someone')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'not a secret')
  vi.stubEnv('AWS_REGION', 'us-east-1')
  vi.stubEnv('AWS_ENDPOINT_URL_S3', server.url(''))
  server.fault = ({ path }, response) => {
    const after = new URL(path, 'http://server').searchParams.get('continuation-token') ?? '0'
    response.writeHead(200, { 'content-type': 'application/xml' }).end(answer(after))
    return true
  }
  const target = { url: server.url(''), username: 'a', password: 'b' }
  const all = async () => {
    const options = { target, index: 'logs', source: 's3://bucket/logs/*.ndjson' }
    for await (const found of findInputs(options, 1 << 20)) expect(found.canBeCut).toBe(false)
  }
  await expect(all()).rejects.toMatchObject({
    code: 'INPUT_UNREADABLE',
    message: expect.stringContaining(problem) as string,
  })
})
