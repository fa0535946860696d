import type { Failure } from '../../../base/failure/failure.js'
import { checkedInstance, type Probe } from '../context.js'
import { type LoginSeen, ROWS_ASKED, type TableSeen } from '../facts.js'
import type { DoctorLine, InstanceContext } from '../instance-context.js'
import { orFailure } from '../means.js'
import { instanceProblem } from '../obstacles.js'
import { askInWaves, countVerdicts, type FreshAnswer } from '../../proxy/fresh-connections.js'
import { errorOf, header, type InstanceAnswer, type Refusal } from '../../servicenow/calls/judge-refusal.js'

/**
 * Reads a table on fresh connections with credentials that were taken. So a refusal is about the address, or about a
 * policy of the API.
 */
export const instanceTable: Probe = {
  name: 'table of the instance',
  leaveOut: (_, facts) =>
    instanceProblem(facts) ?? (facts.instanceLogin?.isTaken === true ? undefined : 'nobody is logged in'),
  look: async (context, { instanceLogin }) => {
    const instance = checkedInstance(context)
    await using line = instance.openLine()
    const first = await readFirst(instance, line)
    if ('login' in first) {
      const { failure } = first.login
      return { detail: failure?.message ?? '', failed: true, facts: { instanceLogin: first.login } }
    }
    const seen = await seeTable(instance, line, first)
    // A token works and Basic authentication does not, so the address is not the cause.
    const isBasic = instanceLogin?.otherwise === 'token' && seen.refused === 0
    const isFailed = seen.refused > 0 || (seen.failure !== undefined && !isOthers(seen.failure, instance))
    return { detail: tell(seen, instance), failed: isFailed && !isBasic, facts: { instanceTable: seen } }
  },
}

/** Asks for another token if the kept one was revoked. */
async function readFirst(instance: InstanceContext, line: DoctorLine): Promise<Read | { readonly login: LoginSeen }> {
  const { proved, session } = instance
  const authorization = proved.authorization ?? ''
  const first = await askForRow(instance, line, authorization, true)
  if (first.verdict !== 'refused' || first.status !== 401 || instance.tokenCalls() > 0) return first
  if (instance.way.access.grant === 'basic') return first
  const another = await orFailure(session.another(authorization))
  if ('failure' in another) return { login: { isTaken: false, tried: ['the token call'], failure: another.failure } }
  if (another.given === undefined) return first
  proved.authorization = another.given
  return await askForRow(instance, line, another.given, true)
}

async function seeTable(instance: InstanceContext, line: DoctorLine, first: Read): Promise<TableSeen> {
  const authorization = instance.proved.authorization ?? ''
  const read = await askInWaves<Read>({
    most: instance.connections,
    first: [first],
    ask: async () => await askForRow(instance, line, authorization),
    // All connections get the same answer, except for the address. Each request counts towards a limit of the instance.
    isSettled: answers => answers.some(one => one.failure !== undefined && one.verdict !== 'refused'),
  })
  const { total, shown } = read.find(one => one.total !== undefined) ?? {}
  return {
    table: instance.table,
    ...countVerdicts(read, instance.way.proxy),
    status: read.find(({ verdict }) => verdict === 'refused')?.status,
    failure: read.find(one => one.verdict !== 'refused' && one.failure !== undefined)?.failure,
    total,
    shown,
  }
}

/** The user may lack access to a table that the options do not name. */
function isOthers({ code }: Failure, { isTableNamed }: InstanceContext): boolean {
  return code === 'SERVICENOW_ACCESS_DENIED' && !isTableNamed
}

function tell({ table, probes, refused, status, failure, total, shown }: TableSeen, instance: InstanceContext): string {
  if (refused > 0) return `${refused} of ${probes} connections refused (status ${status ?? 0})`
  if (failure !== undefined && isOthers(failure, instance))
    return `this user cannot read ${table}. Name a table that this user can read, as in servicenow:${table}`
  if (failure !== undefined) return failure.message
  if (total === undefined) return `Sluice read ${table}`
  return shown === 0 && total > 0
    ? `${table}: ${total} rows, but this user sees none of the first`
    : `${table}: ${total} rows`
}

/** Asks for one row without a count. Only the first request asks for more. */
export function pathOf(table: string, isFirst = false): string {
  const limit = isFirst ? `sysparm_limit=${ROWS_ASKED}` : 'sysparm_limit=1&sysparm_no_count=true'
  return `/api/now/table/${table}?${limit}&sysparm_fields=sys_id&sysparm_exclude_reference_link=true`
}

/** One reading. `refused` means the address, if the credentials are right. */
interface Read extends FreshAnswer {
  readonly status?: number | undefined
  /** The address is accepted, but the table is missing or not for this user. */
  readonly failure?: Failure | undefined
  readonly total?: number | undefined
  readonly shown?: number | undefined
}

export async function askForRow(
  { table }: InstanceContext,
  line: DoctorLine,
  authorization: string,
  isFirst = false,
): Promise<Read> {
  const { answer, broken } = await line.ask(pathOf(table, isFirst), { authorization })
  if ('is' in answer) return { verdict: 'failed', broken, failure: answer.failure }
  const { status } = answer
  const verdict = line.judge(answer, { method: 'GET', table })
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

/** Returns why the instance does not know the user. Returns undefined if it does. */
export function whyUnknown(answer: InstanceAnswer | Refusal, table: string, line: DoctorLine): Failure | undefined {
  if ('is' in answer) return answer.failure
  const verdict = line.judge(answer, { method: 'GET', table })
  if (verdict.is === 'done' || answer.status === 429) return undefined
  const isSaid = errorOf(answer) !== undefined && verdict.is !== 'unauthenticated'
  return isSaid ? undefined : verdict.failure
}
