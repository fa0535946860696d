/** What the administration API reads and answers. */
import { type NewPolicy, type Policies, type Policy, PolicyError, labRegion } from './policies.js'

export type Json = Record<string, unknown>

export interface AdminAsked {
  readonly policies: Policies
  readonly body: Json
  readonly query: URLSearchParams
  readonly parameters: readonly string[]
}

export interface AdminReply {
  readonly status: number
  readonly value: unknown
  /** Code of a refusal. Also sent in a header. */
  readonly code?: string
}

export function ok(value: unknown): AdminReply {
  return { status: 200, value }
}

export function deploymentJson(policies: Policies, id: string): Json {
  if (policies.attachedTo(id) === undefined) throw new PolicyError('not-found', `no such deployment: ${id}`)
  return { id, name: id, resources: { elasticsearch: [{ ref_id: 'main-elasticsearch', id, region: labRegion }] } }
}

export function policyJson(
  { id, name, rules, descriptions, deployments, ...policy }: Policy,
  query: URLSearchParams,
): Json {
  return {
    id,
    name,
    region: policy.region,
    type: 'ip',
    description: policy.description,
    include_by_default: policy.includeByDefault,
    rules: rules.map((source, at) => ({
      id: `rule-${at + 1}`,
      source,
      ...(descriptions[at] !== '' && { description: descriptions[at] }),
    })),
    ...(query.get('include_associations') === 'true' && {
      associations: deployments.map(deployment => ({ entity_type: 'deployment', id: deployment })),
      total_associations: deployments.length,
    }),
  }
}

export function newPolicy(body: Json): NewPolicy {
  const { rules, include_by_default: includeByDefault, description } = body
  if (text(body, 'type') !== 'ip') throw new PolicyError('invalid', 'the lab has policies of the type ip alone')
  if (typeof includeByDefault !== 'boolean') throw new PolicyError('invalid', 'include_by_default is required')
  if (!Array.isArray(rules)) throw new PolicyError('invalid', 'rules are required')
  return {
    name: text(body, 'name'),
    region: text(body, 'region'),
    includeByDefault,
    rules: rules.map(rule => text(rule as Json, 'source')),
    descriptions: rules.map(rule => {
      const said = (rule as Json)['description']
      return typeof said === 'string' ? said : ''
    }),
    ...(typeof description === 'string' && { description }),
  }
}

export function text(body: Json, name: string): string {
  const value = body[name]
  if (typeof value !== 'string' || value === '') throw new PolicyError('invalid', `${name} is required`)
  return value
}
