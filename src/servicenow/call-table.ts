import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'
import type { TableAnswer, TableRequest } from './instance.js'
import { judgeTableAnswer } from './calls/judge-table-answer.js'
import type { InstanceHttp } from './calls/instance-http.js'
import { type Patience, persist } from './calls/persist.js'
import type { Session } from './login/session.js'
import type { InstanceVerdict } from './calls/judge-refusal.js'

/** Makes one call of the Table API. Retries while that may help, and once with another token. Throws SluiceError. */
export async function callTable(
  line: InstanceHttp,
  session: Session,
  request: TableRequest,
  patience: Patience,
): Promise<TableAnswer> {
  const { signal } = request
  const question = questionOf(request)
  const once = async (authorization: string): Promise<InstanceVerdict<TableAnswer>> => {
    const answer = await line.ask({ ...question, headers: { ...question.headers, authorization }, signal })
    return 'is' in answer ? answer : judgeTableAnswer(answer, request, line.judging())
  }
  const attempt = async (): Promise<InstanceVerdict<TableAnswer>> => {
    const value = await session.authorization(signal)
    const verdict = await once(value)
    if (verdict.is !== 'unauthenticated') return verdict
    const another = await session.another(value, signal)
    return another === undefined ? verdict : await once(another)
  }
  const { isRepeatable = request.method === 'GET' } = request
  const verdict = await persist(attempt, patience, { isRepeatable, signal })
  if (verdict.is === 'done') return verdict.value
  throw new SluiceError(verdict.failure)
}

/** Path, headers and body. Names that would lead to another path than the table's are refused: OPTION_INVALID. */
function questionOf({ method, table, sysId, query = {}, body }: TableRequest) {
  if (!/^\w+$/.test(table)) throw invalid('table', 'is not the name of a table: write letters, digits and underscores')
  if (sysId !== undefined && !/^[\w-]+$/.test(sysId))
    throw invalid('sysId', 'is not a sys_id: write 32 hexadecimal characters')
  const isOfOne = method === 'PUT' || method === 'PATCH' || method === 'DELETE'
  if (isOfOne && sysId === undefined) throw invalid('sysId', `is not set, and ${method} needs it`)
  const pairs = Object.entries(query).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  return {
    method,
    path: `/api/now/table/${table}${sysId === undefined ? '' : `/${sysId}`}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
}

function invalid(option: string, problem: string): SluiceError {
  return fail('OPTION_INVALID', { option, problem })
}
