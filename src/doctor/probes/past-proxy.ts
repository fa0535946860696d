import { whoAnswered } from '../../cluster/who-answered.js'
import type { Context } from '../context.js'
import type { PastSeen } from '../facts.js'
import type { Probe } from '../probe.js'

/**
 * GET / without the proxy and without credentials. A filter that is in force refuses it; success and 401 both say that none stops
 * this machine. Where it is left out, the latency past the proxy is not measured either.
 */
export const pastProxy: Probe = {
  name: 'cluster without the proxy',
  leaveOut: ({ way, options }, { hosts }) => {
    if (way.proxy === undefined) return 'no proxy is set'
    if (hosts?.clusterIsProxy === true) return 'the cluster URL is no cluster'
    return options.directCheck === false ? '--no-direct-check was said' : undefined
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
    'code' in answer && (answer.code === 'CLUSTER_CERT_INVALID' || context.options.target.cert !== undefined)
  if (isUnjudged) return { past: { verdict: 'unknown' }, detail: `not known: ${answer.message}` }
  if ('code' in answer)
    return { past: { verdict: 'unreachable' }, detail: `not reachable from here: ${answer.message}` }
  const { by } = whoAnswered(answer, route)
  const { statusCode: status } = answer
  if (by === 'elasticsearch') return { past: { verdict: 'open', status }, detail: `answers (status ${status})` }
  if (by === 'filter' || status === 403)
    return { past: { verdict: 'refused', status }, detail: `refused, as it should be (status ${status})` }
  return { past: { verdict: 'unknown', status }, detail: `not known: something else answers (status ${status})` }
}
