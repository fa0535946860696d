// @module-tag long
/** No regular expression runs over a long answer: some take the square of its length. */
import { afterEach, expect, test, vi } from 'vitest'
import { quote } from '../../../../src/base/failure/failure.js'
import { judgeTableAnswer } from '../../../../src/route/servicenow/calls/judge-table-answer.js'
import { judgeTokenAnswer } from '../../../../src/route/servicenow/login/token-call.js'

const LONGEST = 64 << 10
afterEach(() => vi.restoreAllMocks())

/** Returns the regular expressions that meanwhile ran over more. */
function overLong(act: () => void): string[] {
  const runs = vi.spyOn(RegExp.prototype, 'exec')
  act()
  const seen = runs.mock.calls.flatMap(([text], at) => (text.length > LONGEST ? [String(runs.mock.contexts[at])] : []))
  runs.mockRestore()
  return seen
}

const repeated = (text: string) => text.repeat(Math.ceil((2 * LONGEST) / text.length))
const texts = [
  repeated(' '),
  repeated('<'),
  repeated('"message":"'),
  repeated('{"message":"","status":"failure"}'),
  `{"error":{"message":"${repeated('a')}","detail":"${repeated('b')}"},"status":"failure"}`,
  `{"error":"${repeated('a')}","error_description":"${repeated('b')}"}`,
  `{"result":[${repeated('{},')}`,
  `{"access_token":"${repeated('t')}"}`,
]

const statuses = [200, 401, 202, 302, 400, 403, 404, 429, 500]
const check = (status: number) => {
  const judging = {
    instance: 'https://sn.example',
    now: 0,
    quote: (text: string, length?: number) => quote(text, length),
  }
  for (const text of texts) {
    for (const type of ['application/json', 'text/html', undefined]) {
      const answer = {
        status,
        headers: { 'content-type': type, location: 'https://x.example/' },
        text,
        isTooLong: false,
      }
      const seen = overLong(() => {
        judgeTableAnswer(answer, { method: 'GET', table: 'incident' }, judging)
        judgeTokenAnswer(answer, 'password', judging)
      })
      expect({ text: text.slice(0, 40), seen }).toEqual({ text: text.slice(0, 40), seen: [] })
    }
  }
}
test.each(statuses)('an answer with status %i', check)
