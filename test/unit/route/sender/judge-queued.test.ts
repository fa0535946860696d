import { expect, test } from 'vitest'
import type { ClusterAnswer, RouteFacts } from '../../../../src/route/cluster/answers.js'
import { judgeQueued } from '../../../../src/route/sender/judge-queued.js'
import type { JudgedBody, Verdict } from '../../../../src/route/sender/send.js'

const cluster = 'https://main.ingest.us-east-1.aws.elastic.example/_es'
const route: RouteFacts = { form: 'tunnel', proxy: 'http://proxy.example:9293', target: new URL(cluster) }

const body: JudgedBody = {
  items: 2,
  index: 'logs',
  operation: 'create',
  ownIds: false,
  safeToResend: false,
  resent: false,
  doubtful: false,
  onConflict: 'reject',
}

function judge(statusCode: number, text: unknown, headers: ClusterAnswer['headers'] = {}): Verdict {
  const answer = { statusCode, headers, body: Buffer.from(typeof text === 'string' ? text : JSON.stringify(text)) }
  return judgeQueued(answer, { body, cluster, route, now: 0 })
}

const item = (status: number, more: object = {}) => ({ create: { status, ...more } })
const product = { 'x-elastic-product': 'Elasticsearch' }

test.each([
  ['with the header of the product', 200, { errors: false, items: [item(201), item(201)] }, product],
  ['without it', 200, { errors: false, items: [item(201), item(201)] }, {}],
  ['with all fields', 200, { items: [item(201, { _index: 'logs', _id: 'a', result: 'created' }), item(201)] }, {}],
  ['as a 201', 201, { errors: false, items: [item(201), item(201)] }, {}],
  ['as a 202, and items as well', 202, { errors: false, items: [item(201), item(200)] }, {}],
])('items that are queued are accepted, and none of them is created: %s', (_, status, text, headers) => {
  expect(judge(status, text, headers)).toMatchObject({
    kind: 'done',
    settled: { accepted: 2, created: 0, updated: 0, duplicate: 0, unknown: 0, refused: [] },
  })
})

test.each<[string, number, unknown, string]>([
  ['a success that names no item', 200, {}, 'wait CLUSTER_UNAVAILABLE possible'],
  ['a success that is cut off', 200, '{"errors":false,"items":[{"cre', 'wait CLUSTER_UNAVAILABLE possible'],
  ['a queue that is full', 429, { message: 'request exceeded available capacity' }, 'wait CLUSTER_OVERLOADED none'],
  ['a batch that could not be queued', 503, { message: 'unavailable' }, 'wait CLUSTER_UNAVAILABLE none'],
  ['an error inside', 500, { message: 'internal' }, 'wait CLUSTER_UNAVAILABLE possible'],
  ['a gateway that lost the answer', 502, '<html>', 'wait CLUSTER_UNAVAILABLE possible'],
  ['a gateway that did not wait', 504, '', 'wait CLUSTER_UNAVAILABLE possible'],
  ['a body that it does not like', 400, { message: 'unsupported action' }, 'split none REQUEST_REFUSED'],
  ['a key without the privilege', 403, { code: 7, message: 'PermissionDenied' }, 'stop CLUSTER_PRIVILEGE_MISSING none'],
  ['a filter that guards it all the same', 403, { ok: false, message: 'Forbidden' }, 'stop EGRESS_NOT_ALLOWED none'],
  ['a key that it does not know', 401, { message: 'Unauthenticated' }, 'stop CLUSTER_AUTH_REJECTED none'],
  ['a batch that is too large', 413, '', 'split none'],
])('%s is judged so that nothing is sent twice by mistake', (_, status, text, expected) => {
  const verdict = judge(status, text)
  const words = [
    verdict.kind,
    'failure' in verdict ? verdict.failure.code : '',
    'delivery' in verdict ? verdict.delivery : '',
    verdict.kind === 'split' ? (verdict.alike?.code ?? '') : '',
  ]
  expect(words.filter(word => word !== '').join(' ')).toBe(expected)
})

test('it waits as long as the endpoint asks for', () => {
  expect(judge(503, '', { 'retry-after': '7' })).toMatchObject({ retryAfterMs: 7000 })
})
