import { describe, expect, test } from 'vitest'
import { type ClusterAnswer, type RouteFacts, nameRefusal, whoAnswered } from '../../../../src/route/cluster/answers.js'
import { canHideSource, readClusterInfo } from '../../../../src/route/cluster/preflight.js'

const cluster = 'https://cluster.example'
const tunnel: RouteFacts = { form: 'tunnel', proxy: 'http://proxy.example:9293', target: new URL(cluster) }
const forward: RouteFacts = { ...tunnel, form: 'forward', target: new URL('http://cluster.example') }

type Headers = ClusterAnswer['headers']

function answer(statusCode: number, body: unknown = '', headers: Headers = {}): ClusterAnswer {
  return { statusCode, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }
}

const html = (text: string) => `<html><head><title>${text}</title></head><body><h1>${text}</h1></body></html>`
const product = { 'x-elastic-product': 'Elasticsearch' }
const greeting = (number: string) => ({ version: { number }, tagline: 'You Know, for Search' })
const security = (status: number, reason: string) => ({
  error: { root_cause: [{ type: 'security_exception', reason }], type: 'security_exception', reason },
  status,
})

/** Who answered, and what it is called. */
const table: readonly [string, ClusterAnswer, string, string, RouteFacts?][] = [
  ['the filter’s short answer', answer(403, { ok: false, message: 'Forbidden' }), 'filter', 'EGRESS_NOT_ALLOWED'],
  [
    'the filter’s long answer',
    answer(403, { ok: false, message: 'Forbidden due to traffic filtering. Please see the documentation.' }),
    'filter',
    'EGRESS_NOT_ALLOWED',
  ],
  ['the filter’s words as text', answer(403, 'Forbidden due to traffic filtering'), 'filter', 'EGRESS_NOT_ALLOWED'],
  ['the filter’s words in a page', answer(403, html('Traffic Filtering')), 'filter', 'EGRESS_NOT_ALLOWED'],
  ['the filter’s words in JSON', answer(403, { error: 'denied by traffic filter' }), 'filter', 'EGRESS_NOT_ALLOWED'],
  [
    'the filter behind another header',
    answer(403, { ok: false, message: 'Forbidden' }, product),
    'filter',
    'EGRESS_NOT_ALLOWED',
  ],
  ['an unknown host', answer(404, { ok: false, message: 'Unknown resource.' }), 'edge', 'CLUSTER_UNKNOWN_HOST'],
  [
    'a stopped deployment',
    answer(503, '{"ok":false,"message":"is currently unavailable."}\n'),
    'edge',
    'CLUSTER_UNAVAILABLE',
  ],
  ['the edge’s limit', answer(429, { ok: false, message: 'Slow down.' }), 'edge', 'CLUSTER_OVERLOADED'],
  ['the edge, with any other status', answer(400, { ok: false, message: 'Bad.' }), 'edge', 'GATEWAY_REFUSED'],
  ['credentials', answer(401, security(401, 'unable to authenticate')), 'elasticsearch', 'CLUSTER_AUTH_REJECTED'],
  ['a privilege', answer(403, security(403, 'action is unauthorized')), 'elasticsearch', 'CLUSTER_PRIVILEGE_MISSING'],
  [
    'a refusal that speaks of traffic filtering',
    answer(403, security(403, 'role [traffic filtering] is unauthorized')),
    'elasticsearch',
    'CLUSTER_PRIVILEGE_MISSING',
  ],
  [
    'a block',
    answer(403, { error: { type: 'cluster_block_exception', reason: 'FORBIDDEN/8' }, status: 403 }),
    'elasticsearch',
    'INDEX_BLOCKED',
  ],
  [
    'a full disk',
    answer(429, { error: { type: 'cluster_block_exception', reason: 'TOO_MANY_REQUESTS/12' }, status: 429 }),
    'elasticsearch',
    'INDEX_BLOCKED',
  ],
  [
    'a cluster that starts',
    answer(503, { error: { type: 'cluster_block_exception', reason: 'state not recovered' }, status: 503 }),
    'elasticsearch',
    'CLUSTER_UNAVAILABLE',
  ],
  [
    'a full queue',
    answer(429, { error: { type: 'es_rejected_execution_exception' }, status: 429 }),
    'elasticsearch',
    'CLUSTER_OVERLOADED',
  ],
  [
    'a wrong method',
    answer(405, { error: 'Incorrect HTTP method', status: 405 }, product),
    'elasticsearch',
    'REQUEST_REFUSED',
  ],
  ['an empty 413', answer(413), 'elasticsearch', 'REQUEST_REFUSED'],
  [
    'a 200 of the product',
    answer(200, { tagline: 'You Know, for Search' }, product),
    'elasticsearch',
    'REQUEST_REFUSED',
  ],
  [
    'a framework’s error',
    answer(404, { status: 404, error: 'Not Found', path: '/_bulk' }),
    'unknown',
    'GATEWAY_REFUSED',
  ],
  ['Kibana', answer(404, { statusCode: 404, error: 'Not Found', message: 'Not Found' }), 'unknown', 'GATEWAY_REFUSED'],
  [
    'a service platform',
    answer(401, { error: { message: 'x', detail: null }, status: 'failure' }),
    'unknown',
    'CLUSTER_AUTH_REJECTED',
  ],
  [
    'an API of another kind',
    answer(403, { error: { code: 403, message: 'x' }, status: 403 }),
    'unknown',
    'GATEWAY_REFUSED',
  ],
  ['ok:false beside an error', answer(400, { ok: false, message: 'x', error: 'y' }), 'unknown', 'GATEWAY_REFUSED'],
  ['nginx’s 403', answer(403, html('403 Forbidden'), { server: 'nginx' }), 'unknown', 'GATEWAY_REFUSED'],
  ['nginx’s 413', answer(413, html('413 Request Entity Too Large'), { server: 'nginx' }), 'unknown', 'GATEWAY_REFUSED'],
  ['a gateway’s 502', answer(502, html('502 Bad Gateway')), 'unknown', 'CLUSTER_UNAVAILABLE'],
  ['a gateway’s 429', answer(429, html('429 Too Many Requests')), 'unknown', 'GATEWAY_LIMITED'],
  ['a redirect', answer(302, '', { location: 'https://login.example' }), 'unknown', 'GATEWAY_REFUSED'],
  ['a sign-in page', answer(200, html('Sign in')), 'unknown', 'CLUSTER_NOT_ELASTICSEARCH'],
  [
    'a fork',
    answer(200, { version: { number: '2.11.0', distribution: 'opensearch' } }),
    'unknown',
    'CLUSTER_NOT_ELASTICSEARCH',
  ],
  [
    'Kibana’s redirect',
    answer(302, '', { 'kbn-name': 'k', location: '/login' }),
    'unknown',
    'CLUSTER_NOT_ELASTICSEARCH',
  ],
  ['Kibana’s 401', answer(401, '{}', { 'kbn-name': 'k' }), 'unknown', 'CLUSTER_NOT_ELASTICSEARCH'],
  [
    'a fork that wants a login',
    answer(401, 'Unauthorized', { 'www-authenticate': 'Basic realm="OpenSearch Security"' }),
    'unknown',
    'CLUSTER_NOT_ELASTICSEARCH',
  ],
  ['Elasticsearch 7.10', answer(200, greeting('7.10.2')), 'unknown', 'CLUSTER_VERSION_UNSUPPORTED'],
  ['Elasticsearch 9 without its header', answer(200, greeting('9.1.0')), 'unknown', 'CLUSTER_NOT_ELASTICSEARCH'],
  [
    'a TLS port of nginx',
    answer(400, html('400 The plain HTTP request was sent to HTTPS port')),
    'unknown',
    'CLUSTER_TLS_MISMATCH',
  ],
  [
    'a TLS port of Go',
    answer(400, 'Client sent an HTTP request to an HTTPS server.'),
    'unknown',
    'CLUSTER_TLS_MISMATCH',
  ],
  [
    'a gateway that wants a certificate',
    answer(400, html('400 No required SSL certificate was sent')),
    'unknown',
    'CLUSTER_CLIENT_CERT',
  ],
  ['a guest network', answer(511, html('Log in')), 'unknown', 'GATEWAY_REFUSED'],
  [
    'a licence that ended',
    answer(403, security(403, 'current license is non-compliant for [security]')),
    'elasticsearch',
    'CLUSTER_LICENSE_ENDED',
  ],
  [
    'an index that is called license',
    answer(403, security(403, 'action is unauthorized on indices [license]')),
    'elasticsearch',
    'CLUSTER_PRIVILEGE_MISSING',
  ],
  ['JSON that is broken', answer(500, '{"error":{"type":"x"'), 'unknown', 'CLUSTER_UNAVAILABLE'],
  ['JSON that is no object', answer(403, '[{"ok":false}]'), 'unknown', 'GATEWAY_REFUSED'],
  ['nothing at all', answer(403), 'unknown', 'GATEWAY_REFUSED'],
  ['Squid’s credentials', answer(407, html('x'), { server: 'squid/5.7' }), 'proxy', 'PROXY_AUTH_REJECTED', forward],
  [
    'Squid’s policy',
    answer(403, html('x'), { 'x-squid-error': 'ERR_ACCESS_DENIED 0' }),
    'proxy',
    'PROXY_DENIED_TARGET',
    forward,
  ],
  [
    'Squid without target',
    answer(503, '', { 'x-squid-error': 'ERR_CONNECT_FAIL 111' }),
    'proxy',
    'PROXY_TARGET_UNREACHABLE',
    forward,
  ],
  [
    'a proxy that says so',
    answer(502, '', { 'proxy-status': 'p; error=connection_refused' }),
    'proxy',
    'PROXY_TARGET_UNREACHABLE',
    forward,
  ],
  ['tinyproxy’s credentials', answer(401, '', { server: 'tinyproxy/1.11.1' }), 'proxy', 'PROXY_AUTH_REJECTED', forward],
  [
    'the filter, relayed by Squid',
    answer(403, { ok: false, message: 'Forbidden' }, { via: '1.1 p (squid/5.7)', 'x-cache': 'MISS' }),
    'filter',
    'EGRESS_NOT_ALLOWED',
    forward,
  ],
  ['a 407 from inside a tunnel', answer(407, '', { server: 'squid' }), 'unknown', 'GATEWAY_REFUSED'],
]

describe('the server that answered', () => {
  for (const [what, given, by, code, route = tunnel] of table) {
    test(`${what}: ${by}, ${code}`, () => {
      const answered = whoAnswered(given, route)
      expect([answered.by, nameRefusal(given, answered, cluster).code]).toEqual([by, code])
    })
  }

  test('is described with what helps to find it, on one short line', () => {
    const headers = { server: 'nginx', 'content-type': 'text/html', via: ['1.1 a', '1.1 b'], location: '/x' }
    const { observed } = whoAnswered(answer(403, `<p>No\r\n\u0007 entry</p>${'x'.repeat(500)}`, headers), tunnel) as {
      observed: string
    }
    expect(observed).toMatch(
      /^status 403, server: nginx, content-type: text\/html, location: \/x, via: 1\.1 a, body: No entry x+…$/,
    )
    expect(observed.length).toBeLessThan(320)
  })

  test('is told of pages that were made to be slow to read', () => {
    // With a search that starts over at every bracket this would take minutes.
    for (let page = 0; page < 100; page += 1) {
      expect(whoAnswered(answer(403, '<'.repeat(65_000)), tunnel).by).toBe('unknown')
      expect(whoAnswered(answer(403, { error: '<'.repeat(65_000) }, product), tunnel).by).toBe('elasticsearch')
    }
  })

  test('a 200 is the cluster’s by its product header alone, however large it is', () => {
    for (const body of [{ tagline: 'You Know, for Search' }, 'x'.repeat(70_000)]) {
      expect(whoAnswered(answer(200, body, product), tunnel)).toEqual({ by: 'elasticsearch' })
      expect(whoAnswered(answer(200, body), tunnel).by).toBe('unknown')
    }
  })

  test('carries the support key of the edge and the detail of the cluster, but no part of a key', () => {
    const filtered = answer(403, { ok: false, message: 'Forbidden' }, { 'x-cloud-request-id': ['AbC'] })
    expect(nameRefusal(filtered, whoAnswered(filtered, tunnel), cluster).evidence).toMatchObject({ requestId: 'AbC' })
    const body = security(401, 'unable to authenticate')
    const detail = 'API key: unable to find apikey with id foo'
    const refused = answer(401, { ...body, error: { ...body.error, additional_unsuccessful_credentials: detail } })
    expect(nameRefusal(refused, whoAnswered(refused, tunnel), cluster).message).toBe(
      `${cluster} refused the credentials (401): unable to authenticate (API key: unable to find apikey with this id)`,
    )
  })
})

describe('the answer to GET /', () => {
  const root = (number: unknown, more: object = {}) =>
    JSON.stringify({ cluster_name: 'c', cluster_uuid: 'u', version: { number, build_flavor: 'default', ...more } })

  test('is the version of Elasticsearch 8 and 9, and the flavour of serverless', () => {
    expect(readClusterInfo(root('9.4.3'), cluster)).toEqual({ name: 'c', uuid: 'u', version: '9.4.3', flavor: 'stack' })
    expect(readClusterInfo(root('8.19.8'), cluster)).toMatchObject({ version: '8.19.8', flavor: 'stack' })
    expect(readClusterInfo(root('9.5.0-SNAPSHOT'), cluster)).toMatchObject({ version: '9.5.0-SNAPSHOT' })
    const serverless = root('8.11.0', { build_flavor: 'serverless' })
    expect(readClusterInfo(serverless, cluster)).toMatchObject({ version: '8.11.0', flavor: 'serverless' })
    const bare = JSON.stringify({ cluster_name: 7, cluster_uuid: null, version: { number: '9.0.0' } })
    expect(readClusterInfo(bare, cluster)).toEqual({ name: '', version: '9.0.0', flavor: 'stack' })
  })

  test('decides whether reasons can be asked for without the source: of 8.18 and later, and of what is known alone', () => {
    const can = (version: string, flavor: 'stack' | 'serverless' = 'stack') =>
      canHideSource({ name: '', version, flavor })
    expect(['8.18.0', '8.19.8', '9.0.0', '9.4.3', '9.5.0-SNAPSHOT'].map(version => can(version))).not.toContain(false)
    expect(['8.17.9', '8.0.0', '8.9.1', '8', 'nine'].map(version => can(version))).not.toContain(true)
    expect([can('8.11.0', 'serverless'), canHideSource(undefined)]).toEqual([true, false])
  })

  test('refuses every other version by its number', () => {
    for (const number of ['7.17.29', '10.0.0', '6.8.0', '80.1.0', 'nine'])
      expect(readClusterInfo(root(number), cluster)).toMatchObject({
        code: 'CLUSTER_VERSION_UNSUPPORTED',
        evidence: { version: number },
      })
  })

  test('refuses what is not Elasticsearch', () => {
    const others = [
      '',
      'OK',
      'null',
      '[]',
      '"9.0.0"',
      '{}',
      '{"version":null}',
      '{"version":"9.0.0"}',
      root(9),
      root('9.0.0', { distribution: 'opensearch' }),
      root('7.10.2', { distribution: 'opensearch' }),
    ]
    for (const body of others)
      expect(readClusterInfo(body, cluster)).toMatchObject({ code: 'CLUSTER_NOT_ELASTICSEARCH' })
  })
})

test('a refusal never repeats a user name that the cluster does not know: it may be a password', () => {
  const reason = 'unable to authenticate user [s3cret] for user] for REST request [/]'
  const refused = answer(401, security(401, reason))
  const { message } = nameRefusal(refused, whoAnswered(refused, tunnel), cluster)
  expect(message).toContain('unable to authenticate this user')
  expect(message).not.toContain('s3cret')
})

test('credentials that did not arrive are told from credentials that were not set', () => {
  const refused = answer(401, security(401, 'missing authentication credentials for REST request [/]'))
  const named = (isWithLogin: boolean) => {
    const given = { ...refused, isWithLogin }
    return nameRefusal(given, whoAnswered(given, tunnel), cluster).message
  }
  expect(named(true)).toContain('Sluice sent credentials, but they did not arrive')
  expect(named(false)).not.toContain('did not arrive')
  expect(named(true)).toContain('refused the credentials')
  expect(named(false)).toContain('requires credentials, but none are set')
})

test('Kibana leads to the Elasticsearch beside it, and a place to go to is shown without what may be secret', () => {
  const page = answer(302, '', { 'kbn-name': 'k', location: 'https://u:s3cret@login.example/login?token=s3cret' })
  const { message } = nameRefusal(page, whoAnswered(page, tunnel), 'https://my.kb.eu-west-1.aws.elastic.cloud')
  expect(message).toContain('it is Kibana')
  expect(message).toContain('https://my.es.eu-west-1.aws.elastic.cloud')
  expect(message).toContain('location: https://login.example/login')
  expect(message).not.toContain('s3cret')
})

test.each([
  ['unable to authenticate user [a] for b] for this request', 'unable to authenticate this user for this request'],
  ['failed to authenticate user [a]] b]', 'failed to authenticate this user'],
  ['cannot authenticate user [a', 'cannot authenticate user [a'],
])('a reason is shown without the user that it names: %s', (reason, shown) => {
  const body = Buffer.from(JSON.stringify({ error: { type: 'security_exception', reason }, status: 401 }))
  const route = { target: new URL('https://es.example') } as never
  expect(whoAnswered({ statusCode: 401, headers: {}, body }, route)).toMatchObject({ reason: shown })
})
