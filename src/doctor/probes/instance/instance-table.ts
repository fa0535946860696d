import type { Failure } from '../../../failure/failure.js'
import { isSluiceError } from '../../../failure/sluice-error.js'
import type { Context, DoctorLine, InstanceContext } from '../../context.js'
import type { LoginSeen, TableSeen } from '../../instance-facts.js'
import type { Probe } from '../../probe.js'
import { type Read, askForRow } from './read-table.js'
import { instanceProblem } from '../../way-so-far.js'
import { askInWaves, countVerdicts } from '../../../proxy/fresh-connections.js'

/**
 * A table, read on fresh connections with credentials that were taken: so a refusal is about the address, or about a policy of the API,
 * and the share that is refused is that of one of two addresses.
 */
export const instanceTable: Probe = {
  name: 'table of the instance',
  leaveOut: (_, facts) =>
    instanceProblem(facts) ?? (facts.instanceLogin?.isTaken === true ? undefined : 'nobody is logged in'),
  look: async (context, { instanceLogin }) => {
    const { instance } = context
    if (instance === undefined) throw new Error('read a table of no instance')
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
