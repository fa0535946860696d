import { errorOf, type InstanceJudging, judgeRefusal, notAnInstance } from '../../../servicenow/calls/judge-refusal.js'
import { checkedInstance, type Context, type DoctorLine, type InstanceContext, type Probe } from '../../context.js'
import { askInstance } from '../../ask.js'
import type { AwakeSeen } from '../../instance-facts.js'
import type { VerdictsSeen } from '../../way-facts.js'
import { percent } from '../../report.js'
import { instanceProblem } from '../../facts.js'
import { askInWaves, countVerdicts, type FreshAnswer } from '../../../proxy/fresh-connections.js'
import type { InstanceAnswer } from '../../../servicenow/calls/answer.js'
import { judgeTableAnswer } from '../../../servicenow/calls/judge-table-answer.js'

/** Only its headers: it may be large, and every byte through the proxy is metered. */
const loginPage = { method: 'HEAD', path: '/login.do' } as const

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
    ask: async () => await knock(context, line),
    isSettled: answers => answers.some(({ verdict }) => verdict === 'failed'),
  })
  const status = judged.find(({ verdict }) => verdict === 'refused')?.status
  const failure = judged.find(one => one.failure !== undefined)?.failure
  return { ...countVerdicts(judged, instance.way.proxy), status, failure }
}

/** Every answer but a refusal lets the caller in: the page, a redirect to another login, or a missing page. */
export async function knock(context: Context, line: DoctorLine): Promise<Judged> {
  const { answer, broken } = await askInstance(context, line, loginPage)
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
    const { answer } = await askInstance(context, line, { path: `/api/now/table/${instance.table}?sysparm_limit=1` })
    const seen = 'is' in answer ? { failure: answer.failure } : judge(answer, instance, line.judging())
    const { status, failure } = seen
    return {
      detail: failure?.message ?? tellAwake(status),
      failed: failure !== undefined,
      facts: { instanceAwake: seen },
    }
  },
}

function judge(answer: InstanceAnswer, { table }: InstanceContext, judging: InstanceJudging): AwakeSeen {
  const { status } = answer
  // Others say 401 as well, in words of their own.
  if (status === 401 && errorOf(answer) === undefined) return { status, failure: notAnInstance(answer, judging) }
  const verdict = judgeTableAnswer(answer, { method: 'GET', table }, judging)
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
