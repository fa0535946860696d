import { whoAnswered } from '../../../cluster/answers.js'
import { checkedInstance, type Context, type Probe } from '../../context.js'
import type { PastSeen } from '../../way-facts.js'
import { knock } from '../instance/instance-door.js'

/**
 * Sends GET / without the proxy and without credentials. An active filter refuses it. Success and 401 both show that
 * no filter stops this machine. If this probe is skipped, the latency past the proxy is not measured either.
 */
export const pastProxy: Probe = {
  name: 'cluster without the proxy',
  leaveOut: ({ way, options }, { hosts }) => {
    if (way.proxy === undefined) return 'no proxy is set'
    if (hosts?.clusterIsProxy === true) return 'the cluster URL is that of the proxy'
    return !options.directCheck ? '--no-direct-check is set' : undefined
  },
  look: async context => {
    const { past, detail } = await ask(context)
    return { detail, failed: past.verdict === 'open', facts: { past } }
  },
}

async function ask(context: Context): Promise<{ past: PastSeen; detail: string }> {
  await using route = context.openRoute({ proxy: 'none' })
  const answer = await context.ask(route, { path: `${context.prefix}/` })
  // Certificates come before the filter: whether it would refuse, is not known. This machine's own was not shown.
  const isUnjudged =
    'code' in answer && (answer.code === 'CLUSTER_CERT_INVALID' || context.options.connecting.target.cert !== undefined)
  if (isUnjudged) return { past: { verdict: 'unknown' }, detail: `unknown: ${answer.message}` }
  if ('code' in answer)
    return { past: { verdict: 'unreachable' }, detail: `not reachable from this machine: ${answer.message}` }
  const { by } = whoAnswered(answer, route)
  const { statusCode: status } = answer
  if (by === 'elasticsearch') return { past: { verdict: 'open', status }, detail: `answers (status ${status})` }
  if (by === 'filter' || status === 403)
    return { past: { verdict: 'refused', status }, detail: `refused, as it should be (status ${status})` }
  return { past: { verdict: 'unknown', status }, detail: `unknown: something else answers (status ${status})` }
}

/**
 * The login page without the proxy and without credentials. A refusal is how it should be, and also what a program meets whose token
 * call goes past the proxy while its other requests go through it.
 */
export const instancePast: Probe = {
  name: 'instance without the proxy',
  leaveOut: ({ instance, options }, { instanceAwake }) => {
    if (instance?.way.proxy === undefined) return 'no proxy is set'
    if (instanceAwake?.failure !== undefined) return 'the instance does not answer'
    return !options.directCheck ? '--no-direct-check is set' : undefined
  },
  look: async context => {
    const { past, detail } = await askInstance(context)
    return { detail, facts: { instancePast: past } }
  },
}

async function askInstance(context: Context): Promise<{ past: PastSeen; detail: string }> {
  const instance = checkedInstance(context)
  await using line = instance.openLine('none')
  const { verdict, status = 0, failure } = await knock(context, line)
  if (failure !== undefined) {
    const isUnjudged = failure.code === 'SERVICENOW_CERT_INVALID'
    return isUnjudged
      ? { past: { verdict: 'unknown' }, detail: `unknown: ${failure.message}` }
      : { past: { verdict: 'unreachable' }, detail: `not reachable from this machine: ${failure.message}` }
  }
  if (verdict === 'refused') {
    const detail = `refused, as it should be (status ${status})`
    return { past: { verdict: 'refused', status }, detail }
  }
  return { past: { verdict: 'open', status }, detail: `answers (status ${status})` }
}
