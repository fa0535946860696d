import type { InstanceAnswer } from '../../../servicenow/calls/answer.js'
import { errorOf, notAnInstance } from '../../../servicenow/calls/judge-refusal.js'
import { judgeTableAnswer } from '../../../servicenow/calls/judge-table-answer.js'
import type { InstanceContext } from '../../context.js'
import { askInstance } from '../../open-instance-context.js'
import type { AwakeSeen } from '../../instance-facts.js'
import type { Probe } from '../../probe.js'
import { instanceProblem } from '../../way-so-far.js'

/**
 * Sends one request to the Table API without credentials. A working instance asks for them. A hibernating one shows a
 * page, and another server something else.
 */
export const instanceAwake: Probe = {
  name: 'instance awake',
  leaveOut: (_, facts) => instanceProblem(facts),
  look: async context => {
    const { instance } = context
    if (instance === undefined) throw new Error('looked whether no instance is awake')
    await using line = instance.openLine()
    const { answer } = await askInstance(context, line, { path: `/api/now/table/${instance.table}?sysparm_limit=1` })
    const seen = 'is' in answer ? { failure: answer.failure } : judge(answer, instance, line.judging())
    const { status, failure } = seen
    return {
      detail: failure?.message ?? tell(status),
      failed: failure !== undefined,
      facts: { instanceAwake: seen },
    }
  },
}

function judge(
  answer: InstanceAnswer,
  { table }: InstanceContext,
  judging: Parameters<typeof judgeTableAnswer>[2],
): AwakeSeen {
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

function tell(status = 0): string {
  if (status === 401) return 'it answers, and needs credentials (status 401)'
  return status === 403 ? 'it refuses to answer (status 403)' : `it answers (status ${status})`
}
