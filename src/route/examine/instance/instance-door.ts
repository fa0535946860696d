import { errorOf, type InstanceAnswer, judgeRefusal, notAnInstance } from '../../servicenow/calls/judge-refusal.js'
import { checkedInstance, type Context, type Probe } from '../context.js'
import type { Facts, VerdictsSeen } from '../facts.js'
import type { DoctorLine } from '../instance-context.js'
import { instanceProblem } from '../obstacles.js'
import { percent } from '../../../base/text/shown.js'
import { countVerdicts, type FreshAnswer } from '../../proxy/fresh-connections.js'
import { askForMix } from '../../cluster/ask-connections.js'
import { ended } from '../../cluster/preflight.js'
import { failure } from '../../../base/failure/failure.js'

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

/** Counts connections that fail before the instance, as a preflight does. A refused address is an answer. */
async function seeDoor({ clock, signal, limitMs, instance: given }: Context): Promise<VerdictsSeen> {
  const instance = checkedInstance({ instance: given })
  const { connections: most, display: cluster, greet } = instance
  const proxy = instance.way.proxy?.display
  await using line = instance.openSingles()
  const ask = async (): Promise<Judged & ReturnType<typeof ended>> => {
    const judged = await knock(line)
    return { ...judged, ...(judged.failure === undefined ? { end: 'accepted' } : ended(judged.failure)) }
  }
  const asking = { most, isWhole: true, ask, greet, longestWaitMs: limitMs, clock, signal } as const
  const { ends, named } = await askForMix(asking, { cluster, proxy })
  const { failure: stop, warning } = named
  const isDropped = stop?.code === 'EGRESS_PARTLY_ALLOWED'
  const counts = { instance: cluster, allowed: ends.filter(({ end }) => end === 'accepted').length, asked: ends.length }
  return {
    ...countVerdicts(ends, proxy),
    broken: ends.filter(({ verdict }) => verdict === 'failed').length,
    status: ends.find(({ verdict }) => verdict === 'refused')?.status,
    failure: isDropped ? failure('SERVICENOW_PARTLY_ALLOWED', { ...counts, how: 'silently dropped' }) : stop,
    warning,
  }
}

/** Every answer but a refusal lets the caller in: the page, a redirect to another login, or a missing page. */
export async function knock(line: DoctorLine): Promise<Judged> {
  // Only its headers: the page may be large, and every byte through the proxy is metered.
  const { answer, broken } = await line.ask('/login.do', {}, 'HEAD')
  if ('is' in answer) return { verdict: 'failed', broken, failure: answer.failure }
  const { status } = answer
  if (status === 401 || status === 403) return { verdict: 'refused', broken, status }
  if (status < 500) return { verdict: 'allowed', broken, status }
  const refused = judgeRefusal(answer, line.judging())?.failure
  return refused === undefined
    ? { verdict: 'allowed', broken, status }
    : { verdict: 'failed', broken, failure: refused }
}

function tell({ probes, allowed, refused, status, missChance, failure: failed }: VerdictsSeen): string {
  if (failed !== undefined) return failed.message
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
    const { status, failure: failed } = seen
    const detail = failed?.message ?? tellAwake(status)
    return { detail, failed: failed !== undefined, facts: { instanceAwake: seen } }
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
