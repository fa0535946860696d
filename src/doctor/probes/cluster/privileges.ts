import type { Route } from '../../../proxy/route.js'
import { callCluster } from '../../call-cluster.js'
import type { Context } from '../../context.js'
import type { IdentitySeen, IndexFacts } from '../../facts.js'
import { lookAtIndex } from './index-access.js'
import type { Probe } from '../../probe.js'
import { clusterProblem } from '../../way-so-far.js'

/** Finds out who the credentials belong to, and what they may do with the index. */
export const privileges: Probe = {
  name: 'credentials and privileges',
  leaveOut: ({ way }, facts) => (way.credentials === undefined ? 'no credentials are set' : clusterProblem(facts)),
  look: async context => {
    await using route = context.openRoute()
    const identity = await seeIdentity(context, route)
    const { index } = context.options
    const seen =
      identity.failure === undefined && index !== undefined ? await lookAtIndex(context, route, index) : undefined
    const told = [tellIdentity(identity), seen === undefined ? undefined : tellIndex(seen)]
    return {
      detail: [
        ...told.filter(text => text !== undefined),
        ...(index === undefined ? ['no index is named (--index)'] : []),
      ].join(', '),
      failed:
        [identity.failure, seen?.failure].some(Boolean) ||
        (seen?.missing ?? []).length + (seen?.blocks ?? []).length > 0,
      facts: { identity, index: seen },
    }
  },
}

async function seeIdentity(context: Context, route: Route): Promise<IdentitySeen> {
  const answer = await callCluster(context, route, { path: '/_security/_authenticate' })
  if ('failure' in answer) return answer
  if (answer.status === 401 && answer.refusal !== undefined) return { failure: answer.refusal }
  const { username, authentication_type: kind } = answer.json
  return {
    ...(typeof username === 'string' ? { username } : {}),
    ...(typeof kind === 'string' ? { kind } : {}),
  }
}

function tellIdentity({ username, kind, failure }: IdentitySeen): string {
  if (failure !== undefined) return failure.message
  if (username === undefined) return 'the cluster does not show the user'
  return kind === 'api_key' ? `an API key of ${username}` : username
}

function tellIndex({ index, exists, missing, blocks, failure }: IndexFacts): string {
  if (failure !== undefined) return failure.message
  const there = exists === undefined ? '' : exists ? ', which exists' : ', which does not exist yet'
  const lacks =
    missing === undefined
      ? 'unknown privileges on'
      : missing.length > 0
        ? `lack ${missing.join(', ')} on`
        : 'may load into'
  return [`${lacks} ${index}${there}`, ...(blocks === undefined ? [] : [`blocked by ${blocks.join(', ')}`])].join(', ')
}
