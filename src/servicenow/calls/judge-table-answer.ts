/** Judges answers of the Table API. Pure. */
import { type Failure, failure } from '../../failure/failure.js'
import { isSluiceError } from '../../failure/sluice-error.js'
import { type InstanceAnswer, header } from './answer.js'
import type { TableAnswer, TableRequest } from '../instance.js'
import { isObject, parseJson } from '../../text/parse-json.js'
import {
  describeAnswer,
  errorOf,
  isJson,
  judgeRefusal,
  type InstanceJudging,
  notAnInstance,
  type Refusal,
  type InstanceVerdict,
} from './judge-refusal.js'

/** Whether the instance gave up on a page: it may manage one with fewer rows. */
export function isTruncated(error: unknown): boolean {
  return isSluiceError(error) && error.code === 'SERVICENOW_PAGE_TRUNCATED'
}

export function judgeTableAnswer(
  answer: InstanceAnswer,
  request: TableRequest,
  judging: InstanceJudging,
): InstanceVerdict<TableAnswer> {
  const refused = judgeRefusal(answer, judging)
  if (refused !== undefined) return refused
  const { status } = answer
  if (status === 202) return judgeQueued(judging)
  if (status < 300) return judgeSuccess(answer, request, judging)
  return judgeError(answer, request, judging)
}

/** The queue of requests that share a session is full: this one was not taken. */
function judgeQueued({ instance }: InstanceJudging): Refusal {
  const named = failure('SERVICENOW_UNREACHABLE', { instance, observed: 'status 202, its queue is full', status: 202 })
  return { is: 'later', failure: named, undone: false }
}

function judgeSuccess(
  answer: InstanceAnswer,
  request: TableRequest,
  judging: InstanceJudging,
): InstanceVerdict<TableAnswer> {
  const { status, headers, text } = answer
  if (status === 204) return { is: 'done', value: { status, headers, result: undefined } }
  if (answer.isTooLong) return { is: 'stop', failure: truncated(request, judging, 'its answer is too long') }
  if (!isJson(answer)) return { is: 'stop', failure: notAnInstance(answer, judging) }
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
    const said = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"[^{}]*\}\s*,\s*"status"\s*:\s*"failure"\s*\}\s*$/.exec(text)?.[1]
    if (said !== undefined) return said
    return /^\s*\{\s*"(result|error)"/.test(text) ? 'its answer is not valid JSON' : undefined
  }
  if (!isObject(value)) return undefined
  if (isObject(value['error']) || value['status'] === 'failure') {
    return errorOf({ text })?.reason ?? 'its answer has status "failure"'
  }
  const { result } = value
  const isBroken = Array.isArray(result) ? !result.every(isObject) : 'result' in value && !isObject(result)
  return isBroken ? 'its list of rows contains other values' : undefined
}

/** Only rows can be fewer: what changes a record has failed, or has not, and nobody knows. */
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
    const reason = quote(said?.reason ?? describeAnswer(answer, judging))
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

/** Method and record, as messages name a request. */
function nameOf({ method, table, sysId }: Pick<TableRequest, 'method' | 'table' | 'sysId'>): string {
  return `${method} ${table}${sysId === undefined ? '' : `/${sysId}`}`
}
