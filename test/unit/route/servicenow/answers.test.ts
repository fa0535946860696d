/** What an instance answers, and what it means. Bodies and headers as they are seen, identifiers made up. */
import { describe, expect, test } from 'vitest'
import { type FailureCode, SluiceError } from '../../../../src/base/failure/failure.js'
import type { InstanceAnswer, InstanceJudging } from '../../../../src/route/servicenow/calls/judge-refusal.js'
import type { TableRequest } from '../../../../src/route/servicenow/instance.js'
import { isTruncated } from '../../../../src/features/tables/reading/table-page.js'
import { judgeTableAnswer } from '../../../../src/route/servicenow/calls/judge-table-answer.js'
import { judgeTokenAnswer } from '../../../../src/route/servicenow/login/token-call.js'
import { Secrets } from '../../../../src/route/servicenow/calls/secrets.js'

const json = { 'content-type': 'application/json;charset=UTF-8', server: 'snow_adc' }
const html = { 'content-type': 'text/html', server: 'snow_adc' }
const list: TableRequest = { method: 'GET', table: 'incident', query: { sysparm_limit: '500' } }
const now = Date.parse('2026-11-21T12:00:00Z')
const judging: InstanceJudging = { instance: 'https://instance.example', now, quote: text => new Secrets().quote(text) }

const answers: Readonly<Record<string, InstanceAnswer>> = {
  page: answer(
    200,
    '{"result":[{"number":"INC0000060","sys_id":"89abcdef0123456789abcdef01234567","sys_updated_on":"2016-12-14 02:46:44"}]}',
    {
      ...json,
      'x-is-logged-in': 'true',
      'x-transaction-id': '0123456789ab',
      'x-total-count': '73',
      link: '<https://instance.example/api/now/table/incident?sysparm_limit=1&sysparm_offset=1>;rel="next"',
    },
  ),
  empty: answer(200, '{"result":[]}'),
  invalidTable: answer(
    400,
    '{"error":{"message":"Invalid table sys_nonexistent","detail":"Table sys_nonexistent does not exist"},"status":"failure"}',
  ),
  invalidTableWithoutDetail: answer(
    400,
    '{"error":{"message":"Invalid table sys_nonexistent","detail":null},"status":"failure"}',
  ),
  unauthenticated: answer(
    401,
    '{"error":{"message":"User Not Authenticated","detail":"Required to provide Auth information"},"status":"failure"}',
    { ...json, 'www-authenticate': 'BASIC realm="Service-now"' },
  ),
  acl: answer(403, '{"error":{"message":"Insufficient rights to query records","detail":null},"status":"failure"}'),
  businessRule: answer(
    403,
    `{"error":{"message":"Operation Failed","detail":"Operation against file 'change_request' was aborted by Business Rule 'Change Model: Check State Transition^0123'. Business Rule Stack:Change Model: Check State Transition"},"status":"failure"}`,
  ),
  noRecord: answer(
    404,
    `{"error":{"message":"No Record found","detail":"Record doesn't exist or ACL restricts the record retrieval"},"status":"failure"}`,
  ),
  rateRule: answer(
    429,
    '{"error":{"message":"Rate limit exceeded","detail":"Rate limit of 10 requests per hour for Table API exceeded"},"status":"failure"}',
    {
      ...json,
      'x-ratelimit-limit': '10',
      'x-ratelimit-reset': '1795248000',
      'x-ratelimit-rule': '0123456789abcdef0123456789abcdef',
      'retry-after': '1800',
    },
  ),
  semaphore: answer(429, '', {}),
  cancelledMalformed: answer(
    200,
    '{"result":[{"asset":{"name":"asset-1","sys_id":"0123456789abcdef0123456789abcdef","sys_created_on":"2017-06-29 11:03:27"}}""],"error":{"detail":"Transaction cancelled: maximum execution time exceeded. Check logs for error trace.","message":"Transaction cancelled: maximum execution time exceeded"},"status":"failure"}',
  ),
  cancelledValid: answer(
    200,
    '{"result":[{"sys_id":"a"},""],"error":{"message":"Transaction cancelled: maximum execution time exceeded","detail":"Transaction cancelled: maximum execution time exceeded Check logs for error trace or enable glide.rest.debug property to verify REST request processing"},"status":"failure"}',
  ),
  hibernatingPage: answer(
    200,
    '<html><head><title>Instance Hibernating page</title></head><body><h1>Your instance is hibernating</h1></body></html>',
    html,
  ),
  hibernatingRedirect: answer(302, '', { location: 'https://developer.servicenow.com/dev.do#!/home?wu=true' }),
  sessionQueue: answer(202, '', {}),
  tokenRefused: answer(401, '{"error_description":"access_denied","error":"server_error"}'),
  addressRefused: answer(403, '<html><body><h1>Forbidden</h1></body></html>', html),
  addressRefusedBare: answer(403, '', {}),
  balancer: answer(500, '<html><body>Internal Server Error</body></html>', html),
}

describe('an answer of the Table API', () => {
  test('is done with its rows and headers', () => {
    const verdict = judgeTableAnswer(answers['page']!, list, judging)
    expect(verdict).toMatchObject({ is: 'done', value: { status: 200, headers: { 'x-total-count': '73' } } })
    expect(verdict.is === 'done' && verdict.value.result).toEqual([
      { number: 'INC0000060', sys_id: '89abcdef0123456789abcdef01234567', sys_updated_on: '2016-12-14 02:46:44' },
    ])
    expect(judgeTableAnswer(answers['empty']!, list, judging)).toMatchObject({ is: 'done', value: { result: [] } })
    const gone = judgeTableAnswer(answer(204, '', {}), { method: 'DELETE', table: 'incident', sysId: 'a' }, judging)
    expect(gone).toMatchObject({ is: 'done', value: { status: 204, result: undefined } })
  })

  const refusals: readonly [string, 'later' | 'stop' | 'unauthenticated', FailureCode, string][] = [
    ['invalidTable', 'stop', 'SERVICENOW_TABLE_UNKNOWN', 'no table incident'],
    ['invalidTableWithoutDetail', 'stop', 'SERVICENOW_TABLE_UNKNOWN', 'no table incident'],
    ['unauthenticated', 'unauthenticated', 'SERVICENOW_AUTH_REJECTED', 'User Not Authenticated'],
    ['acl', 'stop', 'SERVICENOW_ACCESS_DENIED', 'Insufficient rights to query records'],
    ['businessRule', 'stop', 'SERVICENOW_ACCESS_DENIED', 'aborted by Business Rule'],
    ['noRecord', 'stop', 'SERVICENOW_REQUEST_REFUSED', 'No Record found'],
    ['rateRule', 'later', 'SERVICENOW_RATE_LIMITED', 'Retry-After 1800 s, its limit is 10'],
    ['semaphore', 'later', 'SERVICENOW_RATE_LIMITED', 'without Retry-After'],
    ['cancelledMalformed', 'stop', 'SERVICENOW_PAGE_TRUNCATED', 'maximum execution time exceeded'],
    ['cancelledValid', 'stop', 'SERVICENOW_PAGE_TRUNCATED', 'maximum execution time exceeded'],
    ['hibernatingPage', 'stop', 'SERVICENOW_HIBERNATING', 'hibernating'],
    ['hibernatingRedirect', 'stop', 'SERVICENOW_HIBERNATING', 'hibernating'],
    ['sessionQueue', 'later', 'SERVICENOW_UNREACHABLE', 'status 202'],
    ['addressRefused', 'stop', 'SERVICENOW_ADDRESS_REFUSED', 'status 403, text/html'],
    ['addressRefusedBare', 'stop', 'SERVICENOW_ADDRESS_REFUSED', 'status 403'],
    ['balancer', 'later', 'SERVICENOW_UNREACHABLE', 'status 500'],
  ]
  test.each(refusals)('%s means %s: %s', (name, is, code, says) => {
    const verdict = judgeTableAnswer(answers[name]!, list, judging)
    expect(verdict).toMatchObject({ is, failure: { code } })
    expect(verdict.is !== 'done' && verdict.failure.message).toContain(says)
  })

  const others: readonly [string, InstanceAnswer, string][] = [
    ['a page of another site', answer(200, '<html>Welcome</html>', html), 'status 200, text/html, "Welcome"'],
    ['JSON of another kind', answer(200, '{"version":{"number":"9.1.0"}}'), 'status 200, application/json'],
    ['a list of another kind', answer(200, '[1]'), 'status 200'],
    ['an error of a gateway', answer(403, '{"ok":false,"message":"Forbidden"}'), 'status 403'],
    ['a path that is not there', answer(404, '<html>Not found</html>', html), 'status 404'],
    [
      'a login page somewhere else',
      answer(302, '', { location: 'https://sso.example/login?token=secret' }),
      'a redirect to https://sso.example',
    ],
  ]
  test.each(others)('is that of no instance: %s', (_, given, says) => {
    const verdict = judgeTableAnswer(given, list, judging)
    expect(verdict).toMatchObject({ is: 'stop', failure: { code: 'SERVICENOW_NOT_AN_INSTANCE' } })
    expect(verdict.is !== 'done' && verdict.failure.message).toContain(says)
    expect(JSON.stringify(verdict)).not.toContain('secret')
  })

  test('is whole although a row speaks of failure', () => {
    const rows = [
      { sys_id: 'a', status: 'failure', error: 'Transaction cancelled' },
      { sys_id: 'b', description: 'it said {"error":{"message":"x"},"status":"failure"}' },
      { sys_id: 'c', description: '}""],"error":{"message":"x"},"status":"failure"}' },
    ]
    const verdict = judgeTableAnswer(answer(200, JSON.stringify({ result: rows })), list, judging)
    expect(verdict).toMatchObject({ is: 'done', value: { result: rows } })
  })

  const truncated: readonly [string, string][] = [
    ['text among the rows', '{"result":[{"sys_id":"a"},""]}'],
    ['an error beside the rows', '{"result":[],"error":{"message":"m","detail":"d"}}'],
    ['a status beside the rows', '{"result":[],"status":"failure"}'],
    ['an error alone', '{"error":{"message":"m","detail":null},"status":"failure"}'],
    ['JSON that ends in the middle', '{"result":[{"sys_id":"a"},{"sys_'],
    ['a record that is text', '{"result":""}'],
  ]
  test.each(truncated)('is not whole: %s', (_, text) => {
    const verdict = judgeTableAnswer(answer(200, text), list, judging)
    const { failure } = verdict as { failure: ConstructorParameters<typeof SluiceError>[0] }
    expect(failure).toMatchObject({ code: 'SERVICENOW_PAGE_TRUNCATED', evidence: { rows: 500, table: 'incident' } })
    expect(isTruncated(new SluiceError(failure))).toBe(true)
  })

  test('of a change is refused, not truncated, when an error stands inside', () => {
    const change: TableRequest = { method: 'PATCH', table: 'incident', sysId: 'a' }
    const verdict = judgeTableAnswer(answers['cancelledValid']!, change, judging)
    expect(verdict).toMatchObject({ is: 'stop', failure: { code: 'SERVICENOW_REQUEST_REFUSED' } })
  })

  test('says how long to wait: Retry-After as seconds or a date, else X-RateLimit-Reset', () => {
    const after = (headers: InstanceAnswer['headers']) => {
      const verdict = judgeTableAnswer(answer(429, '', headers), list, judging)
      return verdict.is === 'later' ? verdict.afterMs : 'no wait'
    }
    expect(after({ 'retry-after': '1800', 'x-ratelimit-reset': '5' })).toBe(1_800_000)
    expect(after({ 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' })).toBe(30_000)
    expect(after({ 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' })).toBe(0)
    expect(after({ 'x-ratelimit-reset': String(now / 1000 + 90) })).toBe(90_000)
    expect(after({ 'x-ratelimit-reset': '90' })).toBe(90_000)
    expect(after({ 'retry-after': 'soon' })).toBeUndefined()
  })
})

describe('an answer of the token endpoint', () => {
  const judge = (given: InstanceAnswer) => judgeTokenAnswer(given, 'password', judging)
  const whole = { scope: 'useraccount', token_type: 'Bearer', expires_in: 1799, refresh_token: 'r', access_token: 'a' }

  test('holds tokens, which are renewed a minute before they end', () => {
    const verdict = judge(answer(200, JSON.stringify(whole)))
    expect(verdict).toEqual({
      is: 'done',
      value: { accessToken: 'a', refreshToken: 'r', renewAt: now + 1_739_000 },
    })
  })

  const lifetimes: readonly [unknown, number | undefined][] = [
    ['1799', 1_739_000],
    [120, 60_000],
    [119, 59_500],
    [5, 2500],
    [undefined, undefined],
    [0, undefined],
    ['soon', undefined],
  ]
  test.each(lifetimes)('with a lifetime of %s is renewed after %s ms', (expires_in, ms) => {
    const verdict = judge(answer(200, JSON.stringify({ ...whole, expires_in })))
    expect(verdict.is === 'done' && verdict.value.renewAt).toBe(ms === undefined ? undefined : now + ms)
  })

  const refused: readonly [string, InstanceAnswer, string][] = [
    ['the one answer for almost every cause', answers['tokenRefused']!, 'access_denied (server_error)'],
    ['an error of OAuth', answer(400, '{"error":"invalid_grant","error_description":"no"}'), 'no (invalid_grant)'],
    ['an error in a 200', answer(200, '{"error":"invalid_client"}'), 'invalid_client'],
    ['401 without a word', answer(401, '', {}), 'status 401'],
    ['a token of another type', answer(200, JSON.stringify({ ...whole, token_type: 'mac' })), 'of the type mac'],
    ['a token that fits in no header', answer(200, JSON.stringify({ ...whole, access_token: 'a\nb' })), 'header'],
    ['the envelope', answers['unauthenticated']!, 'User Not Authenticated'],
  ]
  test.each(refused)('refuses for good: %s', (_, given, says) => {
    const verdict = judge(given)
    expect(verdict).toMatchObject({ is: 'stop', failure: { code: 'SERVICENOW_TOKEN_REFUSED' } })
    expect(verdict.is !== 'done' && verdict.failure.message).toContain(says)
    expect(verdict.is !== 'done' && verdict.failure.message).toContain('password grant')
  })

  test('may be that of the edge, of a busy instance, or of something else', () => {
    const codeOf = (given: InstanceAnswer) => {
      const verdict = judge(given)
      return verdict.is === 'done' ? 'done' : `${verdict.is} ${verdict.failure.code}`
    }
    expect(codeOf(answers['addressRefused']!)).toBe('stop SERVICENOW_ADDRESS_REFUSED')
    expect(codeOf(answers['hibernatingPage']!)).toBe('stop SERVICENOW_HIBERNATING')
    expect(codeOf(answers['rateRule']!)).toBe('later SERVICENOW_RATE_LIMITED')
    expect(codeOf(answers['balancer']!)).toBe('later SERVICENOW_UNREACHABLE')
    expect(codeOf(answers['sessionQueue']!)).toBe('later SERVICENOW_UNREACHABLE')
    expect(codeOf(answer(404, '<html>Not found</html>', html))).toBe('stop SERVICENOW_NOT_AN_INSTANCE')
    expect(codeOf(answer(200, '{"result":[]}'))).toBe('stop SERVICENOW_NOT_AN_INSTANCE')
  })
})

describe('an answer from somebody else', () => {
  test('is shown without the secrets that it repeats, in any form that they are sent in', () => {
    const told: string[] = []
    const secrets = new Secrets(secret => told.push(secret))
    secrets.addAccess({ grant: 'basic', username: 'u', password: 'p&s w=' })
    secrets.add('token-1', undefined, 'ab')
    const said = `p&s w= password=p%26s%20w%3D&x=p%26s+w%3D Basic ${btoa('u:p&s w=')} token-1 ab`
    expect(secrets.quote(said)).toBe('*** password=***&x=*** Basic *** *** ab')
    expect(told).toContain('token-1')
  })

  test('is shown without a token that ends in half a character', () => {
    const secrets = new Secrets()
    secrets.add('token\ud800')
    expect(secrets.quote('token\ud800 token%EF%BF%BD')).toBe('*** ***')
  })
})

function answer(status: number, text: string, headers: InstanceAnswer['headers'] = json): InstanceAnswer {
  return { status, text, headers, isTooLong: false }
}
