/** Reading a few rows of a table, on one fresh connection. */
import type { Failure } from '../../../failure/failure.js'
import { type InstanceAnswer, header } from '../../../servicenow/calls/answer.js'
import { errorOf, type Refusal } from '../../../servicenow/calls/judge-refusal.js'
import { judgeTableAnswer } from '../../../servicenow/calls/judge-table-answer.js'
import type { InstanceHttp } from '../../../servicenow/calls/instance-http.js'
import type { Context, InstanceContext } from '../../context.js'
import { askInstance } from '../../open-instance-context.js'
import { ROWS_ASKED } from '../../instance-facts.js'
import type { FreshAnswer } from '../../../proxy/fresh-connections.js'

/** Asks for one row without a count. Only the first request asks for more. */
export function pathOf({ table }: Pick<InstanceContext, 'table'>, isFirst = false): string {
  const limit = isFirst ? `sysparm_limit=${ROWS_ASKED}` : 'sysparm_limit=1&sysparm_no_count=true'
  return `/api/now/table/${table}?${limit}&sysparm_fields=sys_id&sysparm_exclude_reference_link=true`
}

/** One reading. `refused` means the address, if the credentials are right. */
export interface Read extends FreshAnswer {
  readonly status?: number | undefined
  /** The address is accepted, but the table is missing or not for this user. */
  readonly failure?: Failure | undefined
  readonly total?: number | undefined
  readonly shown?: number | undefined
}

export async function askForRow(
  context: Context,
  instance: InstanceContext,
  line: ReturnType<InstanceContext['openLine']>,
  { authorization, isFirst = false }: { readonly authorization: string; readonly isFirst?: boolean },
): Promise<Read> {
  const path = pathOf(instance, isFirst)
  const { answer, broken } = await askInstance(context, line, { path, headers: { authorization } })
  if ('is' in answer) return { verdict: 'failed', broken, failure: answer.failure }
  const { status } = answer
  const verdict = judgeTableAnswer(answer, { method: 'GET', table: instance.table }, line.judging())
  if (verdict.is === 'done') {
    const total = Number(header(answer.headers, 'x-total-count'))
    const { result } = verdict.value
    const counted = Number.isSafeInteger(total) && header(answer.headers, 'x-total-count') !== undefined
    return {
      verdict: 'allowed',
      broken,
      ...(counted ? { total } : {}),
      ...(Array.isArray(result) ? { shown: result.length } : {}),
    }
  }
  const { failure } = verdict
  if (verdict.is === 'unauthenticated' || failure.code === 'SERVICENOW_ADDRESS_REFUSED')
    return { verdict: 'refused', broken, status, failure }
  // The application says so, and counts requests of a user whom it knows.
  const isLetIn = status === 429 || errorOf(answer) !== undefined
  return { verdict: isLetIn ? 'allowed' : 'failed', broken, status, failure }
}

/** Returns undefined if the instance knows the user. Otherwise returns why not. */
export function isKnown(
  answer: InstanceAnswer | Refusal,
  { table }: Pick<InstanceContext, 'table'>,
  judging: ReturnType<InstanceHttp['judging']>,
): Failure | undefined {
  if ('is' in answer) return answer.failure
  const verdict = judgeTableAnswer(answer, { method: 'GET', table }, judging)
  if (verdict.is === 'done' || answer.status === 429) return undefined
  const isSaid = errorOf(answer) !== undefined && verdict.is !== 'unauthenticated'
  return isSaid ? undefined : verdict.failure
}
