import type { Context } from '../context.js'
import type { PastSeen } from '../facts.js'
import type { Probe } from '../probe.js'
import { knock } from './instance-door.js'

/**
 * The login page without the proxy and without credentials. A refusal is how it should be, and also what a program meets whose token
 * call goes past the proxy while its other requests go through it.
 */
export const instancePast: Probe = {
  name: 'instance without the proxy',
  leaveOut: ({ instance, options }, { instanceAwake }) => {
    if (instance?.way.proxy === undefined) return 'no proxy is set'
    if (instanceAwake?.failure !== undefined) return 'the instance cannot be asked'
    return options.directCheck === false ? '--no-direct-check was said' : undefined
  },
  look: async context => {
    const { past, detail } = await ask(context)
    return { detail, facts: { instancePast: past } }
  },
}

async function ask(context: Context): Promise<{ past: PastSeen; detail: string }> {
  const { instance } = context
  if (instance === undefined) throw new Error('went past the proxy to no instance')
  await using line = instance.openLine('none')
  const { verdict, status = 0, failure } = await knock(context, line)
  if (failure !== undefined) {
    const isUnjudged = failure.code === 'SERVICENOW_CERT_INVALID'
    return isUnjudged
      ? { past: { verdict: 'unknown' }, detail: `not known: ${failure.message}` }
      : { past: { verdict: 'unreachable' }, detail: `not reachable from here: ${failure.message}` }
  }
  if (verdict === 'refused') {
    const detail = `refused, as it should be (status ${status}): a token call past the proxy would be as well`
    return { past: { verdict: 'refused', status }, detail }
  }
  return { past: { verdict: 'open', status }, detail: `answers (status ${status})` }
}
