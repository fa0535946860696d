import { errors } from '@elastic/elasticsearch'
import { describe, expect, test } from 'vitest'
import type { ClusterAnswer, RouteFacts } from '../../../../src/route/cluster/answers.js'
import { failure } from '../../../../src/base/failure/failure.js'
import { RouteError } from '../../../../src/route/proxy/route-error.js'
import { backoffMs, retryAfterMs } from '../../../../src/base/time/retry.js'
import { type Judging, judgeAnswer, judgeError } from '../../../../src/route/sender/judge-answer.js'
import type { JudgedBody, Verdict } from '../../../../src/route/sender/send.js'

const cluster = 'https://cluster.example:9243'
const tunnel: RouteFacts = { form: 'tunnel', proxy: 'http://proxy.example:9293', target: new URL(cluster) }
const forward: RouteFacts = { ...tunnel, form: 'forward', target: new URL('http://cluster.example:9200') }

const one: JudgedBody = {
  items: 1,
  index: 'logs',
  operation: 'create',
  ownIds: true,
  safeToResend: true,
  resent: false,
  doubtful: false,
  onConflict: 'reject',
}

function answer(statusCode: number, body: unknown = '', headers: ClusterAnswer['headers'] = {}): ClusterAnswer {
  return { statusCode, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }
}

function refusal(status: number, type: string, reason: string, more: object = {}): ClusterAnswer {
  return answer(status, { error: { root_cause: [{ type, reason }], type, reason, ...more }, status })
}

function judge(
  given: ClusterAnswer,
  { body = {}, ...more }: { body?: Partial<JudgedBody>; route?: RouteFacts; now?: number } = {},
) {
  const judging: Judging = { cluster, route: tunnel, now: 0, ...more, body: { ...one, ...body } }
  const verdict = judgeAnswer(given, judging)
  if (!('settled' in verdict)) return verdict
  return { ...verdict, settled: { ...verdict.settled, refused: [...verdict.settled.refused] } }
}

/** What a verdict comes to: what is done, why, and whether the documents may be stored. */
function short(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'notSent':
      return 'not sent'
    case 'there':
      return `there ${verdict.left.join()}`
    case 'done':
      return 'done'
    case 'retryItems':
      return `retry ${verdict.items.join()} ${verdict.failure.code} ${verdict.delivery}`
    case 'split':
      return `split ${verdict.refusal.type} ${verdict.delivery}${verdict.alike === undefined ? '' : ` or ${verdict.alike.code}`}`
    case 'wait':
      return [
        'wait',
        verdict.failure.code,
        verdict.delivery,
        ...(verdict.tries === undefined ? [] : [verdict.tries]),
      ].join(' ')
    case 'stop':
      return `stop ${verdict.failure.code} ${verdict.delivery}`
  }
}

const tooMany =
  'index [logs] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];'
const html = (status: number, text: string) =>
  answer(status, `<html><head><title>${text}</title></head></html>`, { 'content-type': 'text/html', server: 'nginx' })
const edge = (status: number, message: string) =>
  answer(status, { ok: false, message }, { 'x-cloud-request-id': 'AbCdEfGhIjKlMnOpQrStUv' })

const whole: readonly [string, ClusterAnswer, string, RouteFacts?][] = [
  ['the filter, in short', edge(403, 'Forbidden'), 'stop EGRESS_NOT_ALLOWED none'],
  [
    'the filter, at length',
    edge(403, 'Forbidden due to traffic filtering. Please see…'),
    'stop EGRESS_NOT_ALLOWED none',
  ],
  ['the filter, as plain text', answer(403, 'Forbidden due to Traffic Filtering'), 'stop EGRESS_NOT_ALLOWED none'],
  ['an unknown host', edge(404, 'Unknown resource.'), 'wait CLUSTER_UNKNOWN_HOST none 5'],
  ['an unknown deployment', edge(404, 'Unknown deployment.'), 'wait CLUSTER_UNKNOWN_HOST none 5'],
  [
    'a stopped deployment',
    edge(503, 'The requested resource is currently unavailable.'),
    'wait CLUSTER_UNAVAILABLE none',
  ],
  ['the edge’s time limit', edge(504, 'Timeout.'), 'wait CLUSTER_UNAVAILABLE possible'],
  ['the edge’s own limit', edge(429, 'Too many requests.'), 'wait CLUSTER_OVERLOADED none'],
  ['an odd request to the edge', edge(400, 'Bad request.'), 'wait GATEWAY_REFUSED none 5'],
  [
    'wrong credentials',
    refusal(401, 'security_exception', 'unable to authenticate'),
    'stop CLUSTER_AUTH_REJECTED none',
  ],
  ['a missing privilege', refusal(403, 'security_exception', 'is unauthorized'), 'stop CLUSTER_PRIVILEGE_MISSING none'],
  ['an old block', refusal(403, 'cluster_block_exception', 'blocked by: [FORBIDDEN/12/…];'), 'stop INDEX_BLOCKED none'],
  ['a write block', refusal(403, 'cluster_block_exception', 'blocked by: [FORBIDDEN/8/…];'), 'stop INDEX_BLOCKED none'],
  ['a full disk', refusal(429, 'cluster_block_exception', tooMany), 'wait INDEX_BLOCKED none'],
  [
    'a cluster that starts',
    refusal(503, 'cluster_block_exception', 'blocked by: [SERVICE_UNAVAILABLE/1/state not recovered / initialized];'),
    'wait CLUSTER_UNAVAILABLE none',
  ],
  [
    'a full queue',
    refusal(429, 'es_rejected_execution_exception', 'rejected execution'),
    'wait CLUSTER_OVERLOADED none',
  ],
  [
    'a full heap',
    refusal(429, 'circuit_breaking_exception', '[parent] Data too large', { durability: 'PERMANENT' }),
    'wait CLUSTER_OVERLOADED none',
  ],
  ['a 413 of the cluster', answer(413, '', { connection: 'close' }), 'split request_too_large none'],
  ['a 413 of a gateway', html(413, '413 Request Entity Too Large'), 'split GATEWAY_REFUSED none'],
  [
    'a request as a whole',
    refusal(400, 'illegal_argument_exception', 'Malformed action/metadata line [1]'),
    'split illegal_argument_exception possible or REQUEST_REFUSED',
  ],
  [
    'a fault of the cluster',
    refusal(500, 'null_pointer_exception', 'x'),
    'split null_pointer_exception possible or REQUEST_REFUSED',
  ],
  ['a missing endpoint', refusal(404, 'resource_not_found_exception', 'x'), 'stop REQUEST_REFUSED none'],
  ['a gateway without a cluster', html(502, '502 Bad Gateway'), 'wait CLUSTER_UNAVAILABLE possible'],
  ['a gateway’s 503', html(503, '503 Service Unavailable'), 'wait CLUSTER_UNAVAILABLE possible'],
  ['the cluster’s 503', refusal(503, 'no_master_exception', 'x'), 'wait CLUSTER_UNAVAILABLE none'],
  ['a gateway’s 504', html(504, '504 Gateway Time-out'), 'wait CLUSTER_UNAVAILABLE possible'],
  ['a gateway’s limit', html(429, '429 Too Many Requests'), 'wait GATEWAY_LIMITED none'],
  ['a gateway’s 500', html(500, '500 Internal Server Error'), 'wait CLUSTER_UNAVAILABLE possible'],
  ['a gateway’s 403', html(403, '403 Forbidden'), 'wait GATEWAY_REFUSED none 5'],
  ['a framework’s 404', answer(404, { status: 404, error: 'Not Found', path: '/' }), 'wait GATEWAY_REFUSED none 5'],
  [
    'another product',
    answer(403, { error: { message: 'x', detail: null }, status: 'failure' }),
    'wait GATEWAY_REFUSED none 5',
  ],
  ['a redirect', answer(302, '', { location: 'https://login.example/' }), 'wait CLUSTER_UNAVAILABLE possible'],
  ['a 202 from nobody known', answer(202), 'wait CLUSTER_UNAVAILABLE possible'],
  [
    'a web page',
    answer(200, '<html>Sign in</html>', { 'content-type': 'text/html' }),
    'wait CLUSTER_UNAVAILABLE possible',
  ],
  ['an empty 200', answer(200), 'wait CLUSTER_UNAVAILABLE possible'],
  [
    'an answer of Elasticsearch that breaks off',
    answer(200, '{"errors":false,"items":[{"create":{"sta', { 'x-elastic-product': 'Elasticsearch' }),
    'wait CLUSTER_UNAVAILABLE possible',
  ],
  [
    'an answer of Elasticsearch that breaks off before it begins',
    answer(200, '', { 'x-elastic-product': 'Elasticsearch' }),
    'wait CLUSTER_UNAVAILABLE possible',
  ],
  ['an answer without items', answer(200, {}), 'wait CLUSTER_UNAVAILABLE possible'],
  ['items that are none', answer(200, { items: { 0: 1 } }), 'wait CLUSTER_UNAVAILABLE possible'],
  [
    'an item without a status',
    answer(200, { errors: false, items: [{ create: {} }] }),
    'wait CLUSTER_UNAVAILABLE possible',
  ],
  ['an item that is null', answer(200, { errors: false, items: [null] }), 'wait CLUSTER_UNAVAILABLE possible'],
  [
    'too many items',
    answer(200, { errors: true, items: [{ create: { status: 201 } }, { create: { status: 201 } }] }),
    'wait CLUSTER_UNAVAILABLE possible',
  ],
  [
    'more stored items than documents',
    answer(200, { errors: false, items: [{ create: { status: 201 } }, { create: { status: 201 } }] }),
    'wait CLUSTER_UNAVAILABLE possible',
  ],
  ['the proxy’s 407', answer(407, '', { server: 'squid/5.7' }), 'stop PROXY_AUTH_REJECTED none', forward],
  [
    'the proxy’s policy',
    answer(403, '', { 'x-squid-error': 'ERR_ACCESS_DENIED 0' }),
    'stop PROXY_DENIED_TARGET none',
    forward,
  ],
  [
    'the proxy without a cluster',
    answer(503, '', { 'x-squid-error': 'ERR_CONNECT_FAIL 111' }),
    'wait PROXY_TARGET_UNREACHABLE possible',
    forward,
  ],
  [
    'another proxy without a cluster',
    answer(500, '', { server: 'tinyproxy/1.11.1' }),
    'wait PROXY_TARGET_UNREACHABLE possible',
    forward,
  ],
  ['a cluster’s 407 through a tunnel', answer(407), 'wait GATEWAY_REFUSED none 5'],
]

describe('a request is judged as a whole when it met', () => {
  for (const [what, given, expected, route] of whole) {
    test(`${what}: ${expected}`, () => {
      expect(short(judge(given, route === undefined ? {} : { route }))).toBe(expected)
    })
  }

  test('a wait takes the time that the server asked for', () => {
    const busy = refusal(429, 'es_rejected_execution_exception', 'x')
    const asked = (value: string) =>
      judge({ ...busy, headers: { 'retry-after': value } }, { now: Date.UTC(2026, 0, 1) })
    expect(asked('7')).toMatchObject({ kind: 'wait', retryAfterMs: 7000 })
    expect(asked('Thu, 01 Jan 2026 00:00:30 GMT')).toMatchObject({ kind: 'wait', retryAfterMs: 30_000 })
    expect(asked('soon')).not.toHaveProperty('retryAfterMs')
    expect(judge(busy)).not.toHaveProperty('retryAfterMs')
  })

  test('evidence names the status, the reason and the support key', () => {
    const filtered = judge(edge(403, 'Forbidden'))
    expect(filtered).toMatchObject({ failure: { evidence: { status: 403, requestId: 'AbCdEfGhIjKlMnOpQrStUv' } } })
    const refused = judge(refusal(400, 'illegal_argument_exception', 'explicit index in bulk is not allowed'))
    expect(refused).toMatchObject({
      refusal: { status: 400, reason: 'explicit index in bulk is not allowed' },
      alike: { message: `${cluster} refused the bulk request with status 400: explicit index in bulk is not allowed` },
    })
  })
})

describe('Retry-After', () => {
  test('is seconds or a date, and never in the past', () => {
    const now = Date.UTC(2026, 0, 1)
    const cases: [string | string[] | undefined, number | undefined][] = [
      ['0', 0],
      [' 120 ', 120_000],
      [['3', '9'], 3000],
      ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
      ['Thu, 01 Jan 2026 00:00:20 GMT', 20_000],
      ['', undefined],
      ['whenever', undefined],
      [undefined, undefined],
    ]
    for (const [header, expected] of cases) expect(retryAfterMs({ 'retry-after': header }, now)).toBe(expected)
  })

  test('counts by the clock of the server, however wrong ours is', () => {
    const asked = { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }
    const answered = { ...asked, date: 'Thu, 01 Jan 2026 00:00:00 GMT' }
    for (const now of [Date.UTC(2025, 0, 1), Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)])
      expect(retryAfterMs(answered, now)).toBe(60_000)
    // Without that clock, a wait of a year cannot be told from a wrong clock of ours.
    expect(retryAfterMs(asked, Date.UTC(2025, 0, 1))).toBe(30_000)
    expect(retryAfterMs(asked, Date.UTC(2027, 0, 1))).toBe(0)
  })
})

describe('the wait between two sends', () => {
  test('doubles up to half a minute, is never less than half of that, and never less than the server asked for', () => {
    const longest = [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]
    expect(longest.map((_, at) => backoffMs(at + 1, () => 1))).toEqual(longest)
    expect(longest.map((_, at) => backoffMs(at + 1, () => 0))).toEqual(longest.map(ms => ms / 2))
    expect(backoffMs(1000, () => 1)).toBe(30_000)
    expect(backoffMs(1, () => 0.5, 90_000)).toBe(90_000)
    expect(backoffMs(8, () => 1, 1)).toBe(30_000)
  })
})

type Item = Record<string, { status: number; error?: { type: string; reason: string }; failure_store?: string }>

const stored: Item = { create: { status: 201 } }
const refused = (status: number, type: string, reason = 'reason'): Item => ({
  create: { status, error: { type, reason } },
})
const items = (...all: Item[]) => answer(200, { errors: true, items: all })
const judgeItems = (all: Item[], body: Partial<JudgedBody> = {}) =>
  judge(items(...all), { body: { items: all.length, ...body } })

describe('items', () => {
  const conflict = refused(409, 'version_conflict_engine_exception')

  test('that were all stored are counted without parsing', () => {
    const busy = { type: 'es_rejected_execution_exception', reason: 'r' }
    const all = { errors: false, items: [stored, { index: { status: 200 } }, stored] }
    expect(judge(answer(200, all), { body: { items: 3, operation: 'index', resent: true } })).toEqual({
      kind: 'done',
      settled: { created: 2, updated: 0, duplicate: 1, skipped: 0, unknown: 0, refused: [] },
    })
    // Nobody sent the id before, so a pipeline gave it to several documents, and one of them replaced another.
    for (const items of [all, { ...all, items: [...all.items, { index: { status: 429, error: busy } }] }]) {
      const body = { items: items.items.length, operation: 'index' } as const
      expect(judge(answer(200, items), { body })).toMatchObject({ settled: { created: 2, updated: 1, duplicate: 0 } })
    }
    expect(judge(answer(200, all), { body: { items: 3, operation: 'index', ownIds: false } })).toMatchObject({
      settled: { created: 2, updated: 1, duplicate: 0 },
    })
    // A document that is created answers 201.
    expect(judge(answer(200, all), { body: { items: 3, operation: 'create' } })).toMatchObject({
      settled: { created: 2, updated: 0, duplicate: 0, dropped: 1 },
    })
    const noop = { errors: false, items: [stored, { index: { result: 'noop', status: 200 } }, stored] }
    expect(judge(answer(200, noop), { body: { items: 3, operation: 'index' } })).toMatchObject({
      settled: { created: 2, updated: 0, duplicate: 0, dropped: 1 },
    })
  })

  test('whose id is the user’s and whose earlier send is in doubt are unknown when they are there', () => {
    const theirs = { ownIds: false, resent: true, doubtful: true }
    expect(judgeItems([conflict], theirs)).toMatchObject({ settled: { unknown: 1, refused: [] } })
    expect(judgeItems([conflict], { ...theirs, doubtful: false })).toMatchObject({
      settled: { unknown: 0, refused: [{}] },
    })
    expect(judgeItems([conflict], { ...theirs, onConflict: 'skip' })).toMatchObject({ settled: { skipped: 1 } })
  })

  test('are each counted in one place', () => {
    const verdict = judgeItems(
      [
        stored,
        conflict,
        refused(400, 'document_parsing_exception', "failed to parse field [port] of type [integer]. Preview: 'NONE'"),
        refused(429, 'es_rejected_execution_exception'),
        { index: { status: 200 } },
        refused(503, 'unavailable_shards_exception'),
        refused(404, 'index_not_found_exception'),
        refused(500, 'fail_processor_exception'),
        refused(403, 'security_exception'),
      ],
      { resent: true },
    )
    expect(verdict).toMatchObject({
      kind: 'retryItems',
      items: [3, 5],
      delivery: 'none',
      failure: { code: 'CLUSTER_OVERLOADED' },
      settled: { created: 1, updated: 0, duplicate: 1, dropped: 1, skipped: 0, unknown: 0 },
    })
    const { refused: out } = verdict.kind === 'retryItems' ? verdict.settled : { refused: [] }
    expect(Array.from(out, ({ item, status, type }) => [item, status, type])).toEqual([
      [2, 400, 'document_parsing_exception'],
      [6, 404, 'index_not_found_exception'],
      [7, 500, 'fail_processor_exception'],
      [8, 403, 'security_exception'],
    ])
  })

  test('that exist already are duplicates after a send of our own, else conflicts, or skipped where the user says so', () => {
    const cases: [Partial<JudgedBody>, object][] = [
      [{ resent: true }, { duplicate: 1, skipped: 0, refused: [] }],
      [
        { resent: true, onConflict: 'skip' },
        { duplicate: 1, skipped: 0, refused: [] },
      ],
      [{ resent: false }, { duplicate: 0, refused: [{ item: 0, status: 409 }] }],
      [
        { resent: true, ownIds: false },
        { duplicate: 0, refused: [{ status: 409 }] },
      ],
      [
        { resent: true, ownIds: false, onConflict: 'skip' },
        { skipped: 1, refused: [] },
      ],
      [
        { resent: true, operation: 'index' },
        { duplicate: 0, refused: [{ status: 409 }] },
      ],
    ]
    for (const [body, settled] of cases) expect(judgeItems([conflict], body)).toMatchObject({ kind: 'done', settled })
  })

  test('that ran out of time are sent again where that doubles nothing, else unknown', () => {
    const late = [stored, refused(504, 'timeout_exception')]
    expect(short(judgeItems(late))).toBe('retry 1 CLUSTER_UNAVAILABLE possible')
    expect(short(judgeItems(late, { ownIds: false }))).toBe('retry 1 CLUSTER_UNAVAILABLE possible')
    const lost = judgeItems(late, { ownIds: false, safeToResend: false })
    expect(lost).toMatchObject({ kind: 'done', settled: { created: 1, unknown: 1 } })
  })

  test('that are busy are named by what keeps them', () => {
    expect(short(judgeItems([refused(429, 'cluster_block_exception', tooMany)]))).toBe('retry 0 INDEX_BLOCKED none')
    expect(short(judgeItems([refused(503, 'unavailable_shards_exception')]))).toBe('retry 0 CLUSTER_UNAVAILABLE none')
    expect(short(judgeItems([refused(429, 'circuit_breaking_exception')]))).toBe('retry 0 CLUSTER_OVERLOADED none')
  })

  test('that went to the failure store are rejected, although no error is reported', () => {
    const store: Item = { create: { status: 201, failure_store: 'used' } }
    const others: Item[] = ['not_enabled', 'not_applicable_or_unknown', 'failed'].map(state => ({
      create: { status: 201, failure_store: state },
    }))
    const verdict = judge(answer(200, { errors: false, items: [stored, store, ...others] }), { body: { items: 5 } })
    expect(verdict).toMatchObject({
      kind: 'done',
      settled: { created: 4, refused: [{ item: 1, status: 201, type: 'failure_store' }] },
    })
  })

  const target: readonly [Item, string][] = [
    [refused(403, 'cluster_block_exception', 'blocked by: [FORBIDDEN/8/index write (api)];'), 'INDEX_BLOCKED'],
    [refused(400, 'index_closed_exception', 'closed'), 'INDEX_BLOCKED'],
    [refused(403, 'security_exception', 'unauthorized'), 'CLUSTER_PRIVILEGE_MISSING'],
    [refused(400, 'invalid_index_name_exception', 'must be lowercase'), 'INDEX_NAME_INVALID'],
    [refused(404, 'index_not_found_exception', 'no such index'), 'REQUEST_REFUSED'],
    [refused(400, 'illegal_argument_exception', 'pipeline with id [x] does not exist'), 'REQUEST_REFUSED'],
    [
      refused(
        400,
        'illegal_argument_exception',
        'only write ops with an op_type of create are allowed in data streams',
      ),
      'REQUEST_REFUSED',
    ],
  ]
  for (const [item, code] of target) {
    test(`that are all refused with ${item['create']?.error?.type}, which is about the target, stop the run`, () => {
      expect(short(judgeItems([item, item, item]))).toBe(`stop ${code} none`)
      expect(short(judgeItems([item, stored, item]))).toBe('done')
    })
  }

  test('that are all refused for what they hold do not stop the run', () => {
    const bad = refused(400, 'document_parsing_exception')
    expect(judgeItems([bad, bad])).toMatchObject({ kind: 'done', settled: { refused: [{ item: 0 }, { item: 1 }] } })
    const other = refused(400, 'illegal_argument_exception', 'Limit of total fields [1000] has been exceeded')
    expect(short(judgeItems([other, other]))).toBe('done')
  })
})

describe('a request without an answer', () => {
  const lost = (named: ConstructorParameters<typeof RouteError>[0]['failure'], delivery: 'none' | 'possible') =>
    new RouteError({ code: 'X', phase: 'exchange', delivery, failure: named })
  const unreachable = failure('PROXY_UNREACHABLE', { proxy: 'p', problem: 'refused' })
  const denied = failure('PROXY_AUTH_REJECTED', { proxy: 'p', observed: 'status 407' })
  const broken = failure('CLUSTER_UNAVAILABLE', { cluster, observed: 'reset' })

  test('is waited for where time may heal it, and its delivery is as certain as the way knew', () => {
    expect(short(judgeError(lost(unreachable, 'none'), cluster))).toBe('wait PROXY_UNREACHABLE none')
    expect(short(judgeError(lost(broken, 'possible'), cluster))).toBe('wait CLUSTER_UNAVAILABLE possible')
    expect(short(judgeError(lost(denied, 'none'), cluster))).toBe('stop PROXY_AUTH_REJECTED none')
    const wrapped = new Error('client', { cause: new Error('transport', { cause: lost(broken, 'possible') }) })
    expect(short(judgeError(wrapped, cluster))).toBe('wait CLUSTER_UNAVAILABLE possible')
  })

  test('because its answer is too long to read is sent again only a few times, one more than until it is halved', () => {
    const long = failure('CLUSTER_ANSWER_TOO_LONG', { cluster, observed: 'a body of more than 9 bytes' })
    const verdict = judgeError(lost(long, 'possible'), cluster)
    expect(verdict).toMatchObject({ kind: 'wait', failure: long, delivery: 'possible', tries: 6 })
  })

  test('is waited for if something else answered, and is thrown on if it is unknown', () => {
    const headers = { server: 'nginx', 'content-type': 'text/html' }
    const meta = { statusCode: 200, headers, warnings: null, meta: {} } as unknown as errors.ResponseError['meta']
    const verdict = judgeError(new errors.ProductNotSupportedError('Elasticsearch', meta), cluster)
    expect(short(verdict)).toBe('wait CLUSTER_UNAVAILABLE possible')
    const observed = 'status 200, server: nginx, content-type: text/html, no x-elastic-product header'
    expect(verdict).toMatchObject({ failure: { evidence: { observed } } })
    const bug = new TypeError('undefined is not a function')
    expect(() => judgeError(bug, cluster)).toThrow(bug)
    expect(() => judgeError('text', cluster)).toThrow('text')
  })
})
