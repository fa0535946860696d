/**
 * Reads policies and deployments from answers of the administration API. Rejects wrong shapes: an unreadable list
 * must not look like an empty one, which means that the deployment is open.
 */
import type { AdminAnswer } from './admin-answer.js'
import type { Policy, Rule } from './policy.js'
import { isObject } from '../text/parse-json.js'

export interface Deployment {
  readonly id: string
  readonly name: string
  /** In the spelling of policies. Absent if the answer names none. */
  readonly region?: string
}

type Json = Readonly<Record<string, unknown>>

export function readPolicies(answer: AdminAnswer): Policy[] {
  const { rulesets } = answer.json
  if (!Array.isArray(rulesets)) throw answer.unreadable('the answer has no list of policies')
  return rulesets.map(one => policyOf(one, answer))
}

export function readPolicy(answer: AdminAnswer): Policy {
  return policyOf(answer.json, answer)
}

/** Ids of policies. */
export function readIds(answer: AdminAnswer): string[] {
  const { rulesets } = answer.json
  if (!Array.isArray(rulesets)) throw answer.unreadable('the answer has no list of policies')
  return rulesets.map((one: unknown) => {
    const id = isObject(one) ? one['id'] : one
    if (typeof id !== 'string' || id === '') throw answer.unreadable('the answer lists a policy without an id')
    return id
  })
}

export function readNewId(answer: AdminAnswer): string {
  const { id } = answer.json
  if (typeof id !== 'string' || id === '') throw answer.unreadable('the answer has no id of the new policy')
  return id
}

export function readDeployment(answer: AdminAnswer): Deployment {
  const { id, name, resources } = answer.json
  if (typeof id !== 'string') throw answer.unreadable('the answer is not a deployment')
  const clusters = isObject(resources) ? resources['elasticsearch'] : undefined
  const cluster: unknown = Array.isArray(clusters) ? clusters[0] : undefined
  const region = isObject(cluster) ? cluster['region'] : undefined
  return { id, name: typeof name === 'string' ? name : id, ...(typeof region === 'string' ? { region } : {}) }
}

function policyOf(json: unknown, answer: AdminAnswer): Policy {
  const { id, name, region, type, description, include_by_default: isDefault, rules } = isObject(json) ? json : {}
  if (typeof id !== 'string' || typeof type !== 'string' || !Array.isArray(rules)) {
    throw answer.unreadable('the answer has no policy with id, type and rules')
  }
  return {
    id,
    name: typeof name === 'string' ? name : id,
    region: typeof region === 'string' ? region : '',
    type,
    includeByDefault: isDefault === true,
    rules: rules.filter(isObject).map(ruleOf),
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
  }
}

function ruleOf({ id, source, description, azure_endpoint_guid: guid, azure_endpoint_name: name }: Json): Rule {
  const endpoint = [source, guid, name].find(one => typeof one === 'string' && one !== '')
  return {
    ...(typeof id === 'string' ? { id } : {}),
    source: typeof endpoint === 'string' ? endpoint : '',
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
  }
}
