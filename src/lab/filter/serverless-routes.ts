import { type AdminAsked, type AdminReply, type Json, newPolicy, ok, policyJson } from './admin-json.js'
import { labRegion, type Policies, PolicyError } from './policies.js'

const filters = '/serverless/traffic-filters'
const projects = '/serverless/projects'

/**
 * Plays the administration API for serverless projects. The lab's cluster is a deployment and a project of the same id: both see the
 * same policies.
 */
export const serverlessRoutes: Readonly<Record<string, (asked: AdminAsked) => AdminReply>> = {
  [`GET ${filters}`]: ({ policies, query }) => {
    const region = query.get('region')
    const listed = policies.list().filter(policy => region === null || policy.region === region)
    return ok({ items: listed.map(policy => policyJson(policy, query)) })
  },
  [`POST ${filters}`]: ({ policies, body, query }) => {
    const created = policies.create(newPolicy({ type: 'ip', include_by_default: false, ...body }))
    return { status: 201, value: policyJson(created, query) }
  },
  [`GET ${filters}/*`]: ({ policies, query, parameters: [id = ''] }) => ok(policyJson(policies.read(id), query)),
  [`PATCH ${filters}/*`]: ({ policies, body, query, parameters: [id = ''] }) => {
    if ('type' in body || 'region' in body) throw new PolicyError('invalid', 'type and region cannot be changed')
    const before = policyJson(policies.read(id), query)
    return ok(policyJson(policies.replace(id, newPolicy({ ...before, ...body })), query))
  },
  [`DELETE ${filters}/*`]: ({ policies, parameters: [id = ''] }) => {
    const [project] = policies.read(id).deployments
    if (project !== undefined) {
      throw new PolicyError('invalid', `traffic filter is associated with ${project}, remove the association first`)
    }
    policies.delete(id)
    return ok({})
  },
  [`GET ${projects}/elasticsearch`]: ({ policies, query }) => {
    const filter = query.get('traffic_filter')
    return ok({ items: filter === null ? [] : policies.read(filter).deployments.map(id => ({ id })) })
  },
  [`GET ${projects}/elasticsearch/*`]: ({ policies, parameters: [id = ''] }) => ok(projectJson(policies, id)),
  // The list replaces the one before as a whole.
  [`PATCH ${projects}/elasticsearch/*`]: ({ policies, body, parameters: [id = ''] }) => {
    const before = attachedTo(policies, id)
    const { traffic_filters: list } = body
    if (!Array.isArray(list)) return ok(projectJson(policies, id))
    const after = list.map(one => String((one as Json)['id']))
    for (const one of after) policies.read(one)
    for (const one of after) policies.attach(one, id)
    for (const one of before) if (!after.includes(one)) policies.detach(one, id)
    return ok(projectJson(policies, id))
  },
}

function attachedTo(policies: Policies, id: string): readonly string[] {
  const attached = policies.attachedTo(id)
  if (attached === undefined) throw new PolicyError('not-found', `no such project: ${id}`)
  return attached
}

function projectJson(policies: Policies, id: string): Json {
  const attached = attachedTo(policies, id)
  return {
    id,
    name: id,
    type: 'elasticsearch',
    region_id: labRegion,
    traffic_filters: attached.map(one => ({ id: one })),
  }
}
