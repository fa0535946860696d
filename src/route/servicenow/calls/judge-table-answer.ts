/** Judges answers of the Table API. Pure. */
import { type Failure, failure } from '../../../base/failure/failure.js'
import {
  describeInstanceAnswer,
  errorIn,
  errorOf,
  header,
  type InstanceAnswer,
  type InstanceJudging,
  type InstanceVerdict,
  isJsonAnswer,
  judgeRefusal,
  notAnInstance,
  type Refusal,
} from './judge-refusal.js'
import type { TableAnswer, TableRequest } from '../instance.js'
import { isObject, parseJson } from '../../../base/json/parse-json.js'

export function judgeTableAnswer(
  answer: InstanceAnswer,
  request: TableRequest,
  judging: InstanceJudging,
): InstanceVerdict<TableAnswer> {
  const refused = judgeRefusal(answer, judging)
  if (refused !== undefined) return refused
  const { status } = answer
  if (status === 202) {
    const observed = 'status 202, its queue is full'
    const named = failure('SERVICENOW_UNREACHABLE', { instance: judging.instance, observed, status })
    return { is: 'later', failure: named, undone: false }
  }
  if (status < 300) return judgeSuccess(answer, request, judging)
  return judgeError(answer, request, judging)
}

function judgeSuccess(
  answer: InstanceAnswer,
  request: TableRequest,
  judging: InstanceJudging,
): InstanceVerdict<TableAnswer> {
  const { status, headers, text } = answer
  if (status === 204) return { is: 'done', value: { status, headers, result: undefined } }
  if (answer.isTooLong) return { is: 'stop', failure: truncated(request, judging, 'its answer is too long') }
  if (!isJsonAnswer(answer)) return { is: 'stop', failure: notAnInstance(answer, judging) }
  const value = parseJson(text)
  const problem = problemInside(value, text)
  if (problem !== undefined) return { is: 'stop', failure: truncated(request, judging, problem) }
  if (!isObject(value) || !('result' in value)) return { is: 'stop', failure: notAnInstance(answer, judging) }
  return { is: 'done', value: { status, headers, result: value['result'] } }
}

/**
 * Returns why a 200 is not whole. A row may have a field `status` with the value `failure`, so JSON is judged by its
 * envelope. Only text that is not JSON is searched.
 */
function problemInside(value: unknown, text: string): string | undefined {
  if (value === undefined) {
    const said = FAILED_END.exec(text.slice(-ENVELOPE))?.[1]
    if (said !== undefined) return said
    return /^\s*\{\s*"(result|error)"/.test(text.slice(0, ENVELOPE)) ? 'its answer is not valid JSON' : undefined
  }
  if (!isObject(value)) return undefined
  if (isObject(value['error']) || value['status'] === 'failure') {
    return errorIn(value)?.reason ?? 'its answer has status "failure"'
  }
  const { result } = value
  const isBroken = Array.isArray(result) ? !result.every(isObject) : 'result' in value && !isObject(result)
  return isBroken ? 'its list of rows contains values that are not rows' : undefined
}

/** Characters at either end of an answer that may be the application's envelope. */
const ENVELOPE = 8 * 1024
const FAILED_END = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"[^{}]*\}\s*,\s*"status"\s*:\s*"failure"\s*\}\s*$/

/** Makes the failure of an answer that was cut off. Only a GET can be repeated with fewer rows. The outcome of another request is unknown. */
function truncated(request: TableRequest, { instance, quote }: InstanceJudging, problem: string): Failure {
  const { method, table, query } = request
  const reason = quote(problem)
  if (method !== 'GET') {
    return failure('SERVICENOW_REQUEST_REFUSED', { instance, request: nameOf(request), status: 200, reason })
  }
  const rows = Number(query?.['sysparm_limit'] ?? 1)
  return failure('SERVICENOW_PAGE_TRUNCATED', { instance, rows, table, reason })
}

function judgeError(answer: InstanceAnswer, request: TableRequest, judging: InstanceJudging): Refusal {
  const { status, headers } = answer
  const { instance, quote } = judging
  const said = errorOf(answer)
  if (status === 401) {
    const reason = quote(said?.reason ?? describeInstanceAnswer(answer, judging))
    const asksForCredentials = header(headers, 'www-authenticate') !== undefined
    const named = failure('SERVICENOW_AUTH_REJECTED', { instance, reason, asksForCredentials })
    return { is: 'unauthenticated', failure: named }
  }
  if (said === undefined) return { is: 'stop', failure: notAnInstance(answer, judging) }
  const evidence = { instance, request: nameOf(request), status, reason: quote(said.reason) }
  if (status === 400 && /^invalid table\b/i.test(said.message)) {
    return { is: 'stop', failure: failure('SERVICENOW_TABLE_UNKNOWN', { instance, table: request.table }) }
  }
  if (status === 403 && /\bauthentication polic/i.test(said.reason)) {
    const observed = `status 403, "${evidence.reason}"`
    return { is: 'stop', failure: failure('SERVICENOW_ADDRESS_REFUSED', { instance, observed, status }) }
  }
  return {
    is: 'stop',
    failure: failure(status === 403 ? 'SERVICENOW_ACCESS_DENIED' : 'SERVICENOW_REQUEST_REFUSED', evidence),
  }
}

function nameOf({ method, table, sysId }: TableRequest): string {
  return `${method} ${table}${sysId === undefined ? '' : `/${sysId}`}`
}
