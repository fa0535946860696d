/** The administration of hosted deployments: policies are rulesets, and each knows its deployments. */
import type { AdminCalls, SendToAdmin } from './admin-calls.js'
import type { Policy } from './policy.js'
import { readDeployment, readIds, readNewId, readPolicies, readPolicy } from './read-policy.js'

export function deploymentsApi(send: SendToAdmin): AdminCalls {
  const get = async (path: string) => await send({ method: 'GET', path })
  const policy = async (id: string) => readPolicy(await get(`${rulesets}/${encodeURIComponent(id)}`))
  return {
    noun: 'deployment',
    deployment: async id => readDeployment(await get(`/deployments/${encodeURIComponent(id)}`)),
    policies: async () => readPolicies(await get(rulesets), 'rulesets'),
    policy,
    attachedTo: async deployment => {
      const path = `/deployments/traffic-filter/associations/deployment/${encodeURIComponent(deployment)}/rulesets`
      return await Promise.all(readIds(await get(path), 'rulesets').map(policy))
    },
    create: async created =>
      readNewId(await send({ method: 'POST', path: rulesets, body: bodyOf({ ...created, type: 'ip' }) })),
    replace: async changed => {
      await send({ method: 'PUT', path: `${rulesets}/${encodeURIComponent(changed.id)}`, body: bodyOf(changed) })
    },
    attach: async (id, deployment) => {
      const path = `${rulesets}/${encodeURIComponent(id)}/associations`
      return (await send({ method: 'POST', path, body: { entity_type: 'deployment', id: deployment } })).status === 201
    },
    detach: async (id, deployment) => {
      const path = `${rulesets}/${encodeURIComponent(id)}/associations/deployment/${encodeURIComponent(deployment)}`
      return (await send({ method: 'DELETE', path, expects: [404] })).status !== 404
    },
  }
}

const rulesets = '/deployments/traffic-filter/rulesets'

function bodyOf({ name, region, type, includeByDefault, description = '', rules }: Omit<Policy, 'id'>): object {
  return { name, region, type, include_by_default: includeByDefault, description, rules }
}
