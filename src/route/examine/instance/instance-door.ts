import { errorOf, type InstanceAnswer, judgeRefusal, notAnInstance } from '../../servicenow/calls/judge-refusal.js'
import { checkedInstance, type Context, type Probe } from '../context.js'
import type { Facts, VerdictsSeen } from '../facts.js'
import type { DoctorLine } from '../instance-context.js'
import { instanceProblem } from '../obstacles.js'
import { percent } from '../../../base/text/shown.js'
import { askInWaves, countVerdicts, type FreshAnswer } from '../../proxy/fresh-connections.js'

/**
 * Requests the login page on fresh connections without credentials. Everyone who may connect may see it, so a refusal
 * is about the address: by IP Address Access Control (403) or adaptive authentication (401, 403). Policies of single
 * APIs apply later.
 */
export const instanceDoor: Probe = {
  name: 'addresses at the instance',
  leaveOut: (_, facts) => instanceProblem(facts),
  look: async context => {
    const seen = await seeDoor(context)
    return { detail: tell(seen), failed: seen.refused > 0 || seen.failure !== undefined, facts: { instanceDoor: seen } }
  },
}

type Judged = FreshAnswer & Pick<VerdictsSeen, 'status' | 'failure'>

async function seeDoor(context: Context): Promise<VerdictsSeen> {
  const instance = checkedInstance(context)
  await using line = instance.openLine()
  const judged = await askInWaves<Judged>({
    most: instance.connections,
    ask: async () => await knock(line),
    isSettled: answers => answers.some(({ verdict }) => verdict === 'failed'),
  })
  const status = judged.find(({ verdict }) => verdict === 'refused')?.status
  const failure = judged.find(one => one.failure !== undefined)?.failure
  return { ...countVerdicts(judged, instance.way.proxy), status, failure }
}

/** Every answer but a refusal lets the caller in: the page, a redirect to another login, or a missing page. */
export async function knock(line: DoctorLine): Promise<Judged> {
  // Only its headers: the page may be large, and every byte through the proxy is metered.
  const { answer, broken } = await line.ask('/login.do', {}, 'HEAD')
  if ('is' in answer) return { verdict: 'failed', broken, failure: answer.failure }
  const { status } = answer
  if (status === 401 || status === 403) return { verdict: 'refused', broken, status }
  if (status < 500) return { verdict: 'allowed', broken, status }
  const failure = judgeRefusal(answer, line.judging())?.failure
  return failure === undefined ? { verdict: 'allowed', broken, status } : { verdict: 'failed', broken, failure }
}

function tell({ probes, allowed, refused, status, missChance, failure }: VerdictsSeen): string {
  if (failure !== undefined) return failure.message
  if (refused === 0) {
    const chance = missChance === 0 ? '' : `. Chance that one address is still blocked: ${percent(missChance)}`
    return `${allowed} of ${probes} connections accepted${chance}`
  }
  return `${refused} of ${probes} connections refused (status ${status ?? 0})`
}

/**
 * Sends one request to the Table API without credentials. A working instance asks for them. A hibernating one shows a
 * page, and another server something else.
 */
export const instanceAwake: Probe = {
  name: 'instance awake',
  leaveOut: (_, facts) => instanceProblem(facts),
  look: async context => {
    const instance = checkedInstance(context)
    await using line = instance.openLine()
    const { answer } = await line.ask(`/api/now/table/${instance.table}?sysparm_limit=1`)
    const seen = 'is' in answer ? { failure: answer.failure } : judge(answer, instance.table, line)
    const { status, failure } = seen
    const detail = failure?.message ?? tellAwake(status)
    return { detail, failed: failure !== undefined, facts: { instanceAwake: seen } }
  },
}

function judge(answer: InstanceAnswer, table: string, line: DoctorLine): NonNullable<Facts['instanceAwake']> {
  const { status } = answer
  // Others say 401 as well, in words of their own.
  if (status === 401 && errorOf(answer) === undefined) return { status, failure: notAnInstance(answer, line.judging()) }
  const verdict = line.judge(answer, { method: 'GET', table })
  if (verdict.is === 'done' || verdict.is === 'unauthenticated') return { status }
  // A refused address has its own step. A rate limit, or a missing table, is an instance's answer.
  const isElsewhere =
    status === 429 || verdict.failure.code === 'SERVICENOW_ADDRESS_REFUSED' || errorOf(answer) !== undefined
  return isElsewhere ? { status } : { status, failure: verdict.failure }
}

function tellAwake(status = 0): string {
  if (status === 401) return 'it answers, and needs credentials (status 401)'
  return status === 403 ? 'it refuses to answer (status 403)' : `it answers (status ${status})`
}
