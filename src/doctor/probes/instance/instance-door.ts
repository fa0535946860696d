import { judgeRefusal } from '../../../servicenow/calls/judge-refusal.js'
import type { Context, DoctorLine } from '../../context.js'
import { askInstance } from '../../open-instance-context.js'
import type { DoorSeen } from '../../instance-facts.js'
import { percent } from '../../report.js'
import type { Probe } from '../../probe.js'
import { instanceProblem } from '../../way-so-far.js'
import { type FreshAnswer, askInWaves, countVerdicts } from '../../../proxy/fresh-connections.js'

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

type Judged = FreshAnswer & Pick<DoorSeen, 'status' | 'failure'>

async function seeDoor(context: Context): Promise<DoorSeen> {
  const { instance } = context
  if (instance === undefined) throw new Error('knocked at no instance')
  await using line = instance.openLine()
  const judged = await askInWaves<Judged>({
    most: instance.connections,
    ask: async () => await knock(context, line),
    isSettled: answers => answers.some(({ verdict }) => verdict === 'failed'),
  })
  const status = judged.find(({ verdict }) => verdict === 'refused')?.status
  const failure = judged.find(one => one.failure !== undefined)?.failure
  return {
    ...countVerdicts(judged, instance.way.proxy),
    status,
    failure,
  }
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

function tell({ probes, allowed, refused, status, missChance, failure }: DoorSeen): string {
  if (failure !== undefined) return failure.message
  if (refused === 0) {
    const chance = missChance === 0 ? '' : `. Chance that one address is still blocked: ${percent(missChance)}`
    return `${allowed} of ${probes} connections accepted${chance}`
  }
  return `${refused} of ${probes} connections refused (status ${status ?? 0})`
}
