import type { Failure } from '../../../failure/failure.js'
import { isSluiceError } from '../../../failure/sluice-error.js'
import { checkedInstance, type Context, type DoctorLine, type InstanceContext, type Probe } from '../../context.js'
import { type LoginSeen, ROWS_ASKED, type TableSeen } from '../../instance-facts.js'
import { instanceProblem } from '../../facts.js'
import { askInWaves, countVerdicts, type FreshAnswer } from '../../../proxy/fresh-connections.js'
import { header, type InstanceAnswer } from '../../../servicenow/calls/answer.js'
import { errorOf, type InstanceJudging, type Refusal } from '../../../servicenow/calls/judge-refusal.js'
import { judgeTableAnswer } from '../../../servicenow/calls/judge-table-answer.js'
import { askInstance } from '../../ask.js'

/**
 * A table, read on fresh connections with credentials that were taken: so a refusal is about the address, or about a policy of the API,
 * and the share that is refused is that of one of two addresses.
 */
export const instanceTable: Probe = {
  name: 'table of the instance',
  leaveOut: (_, facts) =>
    instanceProblem(facts) ?? (facts.instanceLogin?.isTaken === true ? undefined : 'nobody is logged in'),
  look: async (context, { instanceLogin }) => {
    const instance = checkedInstance(context)
    await using line = instance.openLine()
    const first = await readFirst(context, instance, line)
    if ('login' in first) {
      const { failure } = first.login
      return { detail: failure?.message ?? '', failed: true, facts: { instanceLogin: first.login } }
    }
    const seen = await seeTable(context, instance, line, first)
    // A token works and Basic authentication does not, so the address is not the cause.
    const isBasic = instanceLogin?.otherwise === 'token' && seen.refused === 0
    const isFailed = seen.refused > 0 || (seen.failure !== undefined && !isOthers(seen.failure, instance))
    return { detail: tell(seen, instance), failed: isFailed && !isBasic, facts: { instanceTable: seen } }
  },
}

/** A token that was kept may have been revoked since: then another one is asked for. */
async function readFirst(
  context: Context,
  instance: InstanceContext,
  line: DoctorLine,
): Promise<Read | { readonly login: LoginSeen }> {
  const { proved, session } = instance
  const authorization = proved.authorization ?? ''
  const first = await askForRow(context, instance, line, { authorization, isFirst: true })
  if (first.verdict !== 'refused' || first.status !== 401 || instance.tokenCalls() > 0) return first
  if (instance.way.access.grant === 'basic') return first
  try {
    const another = await session.another(authorization)
    if (another === undefined) return first
    proved.authorization = another
  } catch (error) {
    if (!isSluiceError(error) || error.code === 'RUN_INTERRUPTED') throw error
    return { login: { isTaken: false, tried: ['the token call'], failure: error.failure } }
  }
  return await askForRow(context, instance, line, { authorization: proved.authorization, isFirst: true })
}

async function seeTable(
  context: Context,
  instance: InstanceContext,
  line: DoctorLine,
  first: Read,
): Promise<TableSeen> {
  const authorization = instance.proved.authorization ?? ''
  const read = await askInWaves<Read>({
    most: instance.connections,
    first: [first],
    ask: async () => await askForRow(context, instance, line, { authorization }),
    // All connections get the same answer, except for the address. Each request counts towards a limit of the instance.
    isSettled: answers => answers.some(one => one.failure !== undefined && one.verdict !== 'refused'),
  })
  const status = read.find(({ verdict }) => verdict === 'refused')?.status
  const failure = read.find(one => one.verdict !== 'refused' && one.failure !== undefined)?.failure
  const { total, shown } = read.find(one => one.total !== undefined) ?? {}
  return {
    table: instance.table,
    ...countVerdicts(read, instance.way.proxy),
    status,
    failure,
    total,
    shown,
  }
}

/** The user may lack access to a table that nobody named. */
function isOthers({ code }: Failure, { isTableNamed }: InstanceContext): boolean {
  return code === 'SERVICENOW_ACCESS_DENIED' && !isTableNamed
}

function tell({ table, probes, refused, status, failure, total, shown }: TableSeen, instance: InstanceContext): string {
  if (refused > 0) return `${refused} of ${probes} connections refused (status ${status ?? 0})`
  if (failure !== undefined && isOthers(failure, instance))
    return `this user may not read ${table}. Name a table that it may read, as in servicenow:${table}`
  if (failure !== undefined) return failure.message
  if (total === undefined) return `Sluice read ${table}`
  return shown === 0 && total > 0
    ? `${table}: ${total} rows, this user sees none of the first`
    : `${table}: ${total} rows`
}

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
  line: DoctorLine,
  { authorization, isFirst = false }: { readonly authorization: string; readonly isFirst?: boolean },
): Promise<Read> {
  const path = pathOf(instance, isFirst)
  const { answer, broken } = await askInstance(context, line, { path, headers: { authorization } })
  if ('is' in answer) return { verdict: 'failed', broken, failure: answer.failure }
  const { status } = answer
  const verdict = judgeTableAnswer(answer, { method: 'GET', table: instance.table }, line.judging())
  if (verdict.is === 'done') {
    const total = Number(header(answer.headers, 'x-total-count') ?? NaN)
    const { result } = verdict.value
    return {
      verdict: 'allowed',
      broken,
      total: Number.isSafeInteger(total) ? total : undefined,
      shown: Array.isArray(result) ? result.length : undefined,
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
  judging: InstanceJudging,
): Failure | undefined {
  if ('is' in answer) return answer.failure
  const verdict = judgeTableAnswer(answer, { method: 'GET', table }, judging)
  if (verdict.is === 'done' || answer.status === 429) return undefined
  const isSaid = errorOf(answer) !== undefined && verdict.is !== 'unauthenticated'
  return isSaid ? undefined : verdict.failure
}
