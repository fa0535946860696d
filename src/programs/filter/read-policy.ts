/**
 * Reads policies and deployments from answers of the administration API. Rejects wrong shapes: an unreadable list
 * must not look like an empty one, which means that the deployment is open.
 */
import type { Policy, Rule } from './policy.js'
import { isObject, type JsonObject, parseObject } from '../../base/json/parse-json.js'
import type { AdminSaid } from '../../route/examine/try-filter.js'
import { type Failure, fail, failure, quote, SluiceError } from '../../base/failure/failure.js'

/** A deployment or a serverless project. */
export interface Deployment {
  readonly id: string
  readonly name: string
  /** In the spelling of policies. Absent if the answer names none. */
  readonly region?: string
}

/** `key`: where the answer has the list. */
export function readPolicies(answer: AdminAnswer, key: string): Policy[] {
  return listIn(answer, key).map(one => readPolicy(answer, one))
}

export function readIds(answer: AdminAnswer, key: string): string[] {
  return listIn(answer, key).map(one => {
    const id = isObject(one) ? one['id'] : one
    if (typeof id !== 'string' || id === '') throw answer.unreadable('the answer lists something without an id')
    return id
  })
}

function listIn({ json, unreadable }: AdminAnswer, key: string): readonly unknown[] {
  const list = json[key]
  if (!Array.isArray(list)) throw unreadable('the answer has no list of policies')
  return list
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

export function readProject(answer: AdminAnswer): Deployment {
  const { id, name, region_id: region } = answer.json
  if (typeof id !== 'string') throw answer.unreadable('the answer is not a project')
  return { id, name: typeof name === 'string' ? name : id, ...(typeof region === 'string' ? { region } : {}) }
}

export function readPolicy(answer: AdminAnswer, json: unknown = answer.json): Policy {
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

function ruleOf({ id, source, description, azure_endpoint_guid: guid, azure_endpoint_name: name }: JsonObject): Rule {
  const endpoint = [source, guid, name].find(one => typeof one === 'string' && one !== '')
  return {
    ...(typeof id === 'string' ? { id } : {}),
    source: typeof endpoint === 'string' ? endpoint : '',
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
  }
}

export interface AdminRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the API's base. */
  readonly path: string
  readonly body?: object
  /** Refusals that are an answer. */
  readonly expects?: readonly number[]
}

export interface AdminAnswer {
  readonly status: number
  readonly json: JsonObject
  /** Makes the error for an answer of the wrong shape. */
  readonly unreadable: (what: string) => SluiceError
}

/**
 * Returns the JSON of an answer that grants the request. `api`: the API's origin.
 * @throws SluiceError FILTER_API_KEY_REJECTED, FILTER_API_REFUSED, FILTER_API_UNAVAILABLE
 */
export function readAdminAnswer(answer: AdminSaid | Failure, request: AdminRequest, api: string): AdminAnswer {
  if ('code' in answer) {
    const observed = answer.evidence['observed'] ?? answer.evidence['problem'] ?? answer.message
    throw fail('FILTER_API_UNAVAILABLE', { api, observed })
  }
  const { statusCode: status } = answer
  const text = answer.body.toString('utf8')
  const json = text.trim() === '' ? {} : parseObject(text)
  const unreadable = (what: string) => new SluiceError(refused(api, request, status, `${what}: ${quote(text)}`))
  if (request.expects?.includes(status) === true) return { status, json: json ?? {}, unreadable }
  if (status < 200 || status >= 300) throw new SluiceError(nameRefusal(api, request, status, reasonOf(json, text)))
  if (json === undefined) throw unreadable('the answer is not a JSON object')
  return { status, json, unreadable }
}

function nameRefusal(api: string, request: AdminRequest, status: number, reason: string): Failure {
  if (status === 401) return failure('FILTER_API_KEY_REJECTED', { api, reason, status })
  if (status === 429 || status >= 500) {
    return failure('FILTER_API_UNAVAILABLE', { api, observed: `status ${status}, ${reason}`, status })
  }
  return refused(api, request, status, reason)
}

function refused(api: string, { method, path }: AdminRequest, status: number, reason: string): Failure {
  return failure('FILTER_API_REFUSED', { api, request: `${method} ${path}`, status, reason })
}

/** Reads `{"errors":[{"code","message"}]}`, or quotes whatever else the answer says. */
function reasonOf(json: JsonObject | undefined, text: string): string {
  const errors: unknown[] = Array.isArray(json?.['errors']) ? json['errors'] : []
  const said = errors
    .filter(isObject)
    .map(({ code, message }) => [code, message].filter(one => typeof one === 'string').join(': '))
  return quote(said.join(', ')) || quote(text) || 'no reason given'
}
