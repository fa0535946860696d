import { whoAnswered } from '../../cluster/answers.js'
import { checkedInstance, type Context, type Probe } from '../context.js'
import type { PastSeen } from '../facts.js'
import { knock } from '../instance/instance-door.js'

interface Past {
  readonly past: PastSeen
  readonly detail: string
}

/**
 * Sends GET / without the proxy and without credentials. An active filter refuses it. Success and 401 both show that
 * no filter stops this machine. If this probe is skipped, the latency past the proxy is not measured either.
 */
export const pastProxy: Probe = {
  name: 'cluster without the proxy',
  leaveOut: ({ way, options }, { hosts }) => {
    if (way.proxy === undefined) return 'no proxy is set'
    if (hosts?.clusterIsProxy === true) return 'the cluster URL is the URL of the proxy'
    return !options.directCheck ? '--no-direct-check is set' : undefined
  },
  look: async context => {
    const { past, detail } = await seeCluster(context)
    return { detail, failed: past.verdict === 'open', facts: { past } }
  },
}

async function seeCluster(context: Context): Promise<Past> {
  await using route = context.openRoute({ proxy: 'none' })
  const answer = await context.askOnce(route, { path: `${context.prefix}/` })
  // Servers check certificates before the filter, and this probe does not show this machine's own.
  const isUnjudged =
    'code' in answer && (answer.code === 'CLUSTER_CERT_INVALID' || context.options.connecting.target.cert !== undefined)
  if ('code' in answer) return unanswered(isUnjudged, answer.message)
  const { by } = whoAnswered(answer, route)
  const { statusCode: status } = answer
  if (by === 'elasticsearch') return open(status)
  if (by === 'filter' || status === 403) return refused(status)
  return { past: { verdict: 'unknown', status }, detail: `unknown, because another server answers (status ${status})` }
}

/**
 * Requests the login page without the proxy and without credentials. A refusal is right. It also shows what a program
 * meets if its token call goes past the proxy.
 */
export const instancePast: Probe = {
  name: 'instance without the proxy',
  leaveOut: ({ instance, options }, { instanceAwake }) => {
    if (instance?.way.proxy === undefined) return 'no proxy is set'
    if (instanceAwake?.failure !== undefined) return 'the instance does not answer'
    return !options.directCheck ? '--no-direct-check is set' : undefined
  },
  look: async context => {
    await using line = checkedInstance(context).openLine('none')
    const { verdict, status = 0, failure } = await knock(line)
    const { past, detail } =
      failure !== undefined
        ? unanswered(failure.code === 'SERVICENOW_CERT_INVALID', failure.message)
        : verdict === 'refused'
          ? refused(status)
          : open(status)
    return { detail, facts: { instancePast: past } }
  },
}

const open = (status: number): Past => ({ past: { verdict: 'open', status }, detail: `answers (status ${status})` })

const refused = (status: number): Past => ({
  past: { verdict: 'refused', status },
  detail: `refused, as it should be (status ${status})`,
})

/** `isUnjudged`: the request never reached the filter, so its answer is unknown. */
const unanswered = (isUnjudged: boolean, why: string): Past =>
  isUnjudged
    ? { past: { verdict: 'unknown' }, detail: `unknown: ${why}` }
    : { past: { verdict: 'unreachable' }, detail: `not reachable from this machine: ${why}` }
