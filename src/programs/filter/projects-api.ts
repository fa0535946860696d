/** The administration of serverless projects: each project lists its policies, and a change replaces the whole list. */
import type { AdminCalls, SendToAdmin } from './admin-calls.js'
import type { Policy, Rule } from './policy.js'
import { readIds, readNewId, readPolicies, readPolicy, readProject } from './read-policy.js'

export type ProjectType = 'elasticsearch' | 'observability' | 'security'

export function projectsApi(send: SendToAdmin, type: ProjectType): AdminCalls {
  const projects = `/serverless/projects/${type}`
  const at = (project: string) => `${projects}/${encodeURIComponent(project)}`
  const get = async (path: string) => await send({ method: 'GET', path })
  const policy = async (id: string) => readPolicy(await get(`${filters}/${encodeURIComponent(id)}`))
  const policies = async () => readPolicies(await get(filters), 'items')
  const idsOf = async (project: string) => {
    const answer = await get(at(project))
    if (answer.json['traffic_filters'] !== undefined) return readIds(answer, 'traffic_filters')
    // A missing list must not look like an empty one: a change that replaces it would detach what it holds.
    const holders = (await policies()).map(async ({ id }) => {
      const listed = await get(`${projects}?traffic_filter=${encodeURIComponent(id)}`)
      return readIds(listed, 'items').includes(project) ? [id] : []
    })
    return (await Promise.all(holders)).flat()
  }
  // Reads the list again just before the change, so that it keeps policies that others attached meanwhile.
  const change = async (project: string, id: string, isAttached: boolean) => {
    const before = await idsOf(project)
    if (before.includes(id) === isAttached) return false
    const after = isAttached ? [...before, id] : before.filter(one => one !== id)
    await send({ method: 'PATCH', path: at(project), body: { traffic_filters: after.map(one => ({ id: one })) } })
    return true
  }
  return {
    noun: 'project',
    deployment: async id => readProject(await get(at(id))),
    policies,
    policy,
    attachedTo: async project => await Promise.all((await idsOf(project)).map(policy)),
    create: async ({ region, ...created }) => {
      const body = { region, type: 'ip', ...changeable(created) }
      return readNewId(await send({ method: 'POST', path: filters, body }))
    },
    // Type and region cannot change.
    replace: async changed => {
      await send({ method: 'PATCH', path: `${filters}/${encodeURIComponent(changed.id)}`, body: changeable(changed) })
    },
    attach: async (id, project) => await change(project, id, true),
    detach: async (id, project) => await change(project, id, false),
  }
}

const filters = '/serverless/traffic-filters'

function changeable({
  name,
  includeByDefault,
  description = '',
  rules,
}: Pick<Policy, 'name' | 'includeByDefault' | 'description' | 'rules'>): object {
  return { name, include_by_default: includeByDefault, description, rules: rules.map(withoutId) }
}

function withoutId({ id: _, ...rule }: Rule): object {
  return rule
}
