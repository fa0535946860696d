import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { whoAnswered } from '../../../../src/route/cluster/answers.js'
import { isManaged, judgeManagedRoot, problemOfManagedUrl } from '../../../../src/route/cluster/managed-endpoint.js'
import type { Route } from '../../../../src/route/proxy/route.js'

/** Answers every request with this status. */
function routeTo(status: number) {
  const asked: string[] = []
  const once: Route['once'] = async ({ path }) => {
    asked.push(path)
    return { statusCode: status, headers: {}, body: Readable.from([Buffer.from('{}')]) } as never
  }
  return { route: { once, target: new URL('https://gateway.example') } as Route, asked }
}

async function see(url: string, status: number) {
  const { route, asked } = routeTo(status)
  return { is: await isManaged(route, { url: new URL(url), headers: {}, timeoutMs: 1000 }), asked }
}

describe('the endpoint is recognised', () => {
  test.each([
    'https://logs-1a2b3c.ingest.us-east-1.aws.elastic.cloud/_es',
    'https://logs.ingest.us-east-1.aws.elastic.cloud:443/_es/',
    'https://logs.ingest.eu-west-1.aws.found.io/_es',
  ])('by its name, and asks nothing: %s', async url => {
    expect(await see(url, 200)).toEqual({ is: true, asked: [] })
  })

  test('by its path, and because it does not serve what every cluster answers', async () => {
    const asked = ['/_es/_security/_authenticate']
    expect(await see('https://gateway.example/_es', 404)).toEqual({ is: true, asked })
    for (const status of [200, 400, 401, 403, 405, 503])
      expect(await see('https://gateway.example/_es', status)).toEqual({ is: false, asked })
    expect(await see('https://gateway.example/logs/_es/', 404)).toMatchObject({ is: true })
  })

  test('nowhere else', async () => {
    for (const url of [
      'https://logs.es.us-east-1.aws.found.io',
      'https://cluster.example/es',
      'https://x.example/_esx',
    ])
      expect(await see(url, 404)).toEqual({ is: false, asked: [] })
  })
})

test('the host of managed inputs without the path is told from a cluster, with the URL to write', () => {
  const problem = problemOfManagedUrl(new URL('https://logs.ingest.us-east-1.aws.elastic.cloud'))
  expect(problem).toContain('write https://logs.ingest.us-east-1.aws.elastic.cloud/_es')
  expect(problemOfManagedUrl(new URL('https://logs.ingest.us-east-1.aws.elastic.cloud/_es'))).toBeUndefined()
  expect(problemOfManagedUrl(new URL('https://logs.es.us-east-1.aws.elastic.cloud'))).toBeUndefined()
  expect(problemOfManagedUrl(new URL('https://data.ingest.example'))).toBeUndefined()
})

test.each<[number, string, string | undefined]>([
  [200, '{}', undefined],
  [200, '{"version":{"number":"9.0.0"}}', undefined],
  [404, '', undefined],
  [405, '{"message":"no"}', undefined],
  [404, '{"ok":false,"message":"Unknown resource."}', 'CLUSTER_UNKNOWN_HOST'],
  [401, '{"message":"ApiKey prefix not found"}', 'CLUSTER_AUTH_REJECTED'],
  [403, '{"message":"PermissionDenied"}', 'CLUSTER_PRIVILEGE_MISSING'],
  [403, '{"ok":false,"message":"Forbidden"}', 'EGRESS_NOT_ALLOWED'],
  [429, '', 'CLUSTER_OVERLOADED'],
  [503, '', 'CLUSTER_UNAVAILABLE'],
  [302, '', 'GATEWAY_REFUSED'],
])('its root may answer anything that refuses nothing: %i %s', (statusCode, text, code) => {
  const answer = { statusCode, headers: {}, body: Buffer.from(text) }
  const target = new URL('https://logs.ingest.us-east-1.aws.elastic.cloud/_es')
  const answered = whoAnswered(answer, { form: 'tunnel', proxy: undefined, target })
  expect(judgeManagedRoot(answer, answered, 'https://c/_es')?.code).toBe(code)
})
