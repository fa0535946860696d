/**
 * The part of the hosting service's administration API that concerns IP filters. Reached directly, never through the
 * static-IP proxy: it needs no static address, and the proxy must not see its key.
 */
import { ask } from '../cluster/request.js'
import { isLoopback } from '../cluster/credentials.js'
import { openRoute } from '../proxy/route.js'
import {
  type AdminRequest,
  type Deployment,
  readAdminAnswer,
  readDeployment,
  readIds,
  readNewId,
  readPolicies,
  readPolicy,
} from './read-policy.js'
import type { Policy } from './policy.js'
import { fail } from '../failure/failure.js'

interface AdminOptions {
  /** For example https://api.elastic-cloud.com. Without a path, /api/v1 is added. */
  readonly url: URL
  /** API key of the organisation, as its console shows it. */
  readonly key: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/**
 * Every method throws SluiceError: FILTER_API_KEY_REJECTED, FILTER_API_REFUSED, FILTER_API_UNAVAILABLE. After the
 * last one, and after an abort, a change may still have been carried out.
 */
export interface AdminApi extends AsyncDisposable {
  readonly isLocal: boolean
  deployment(id: string): Promise<Deployment>
  policies(): Promise<readonly Policy[]>
  policy(id: string): Promise<Policy>
  attachedTo(deployment: string): Promise<readonly Policy[]>
  /** Creates an IP filter policy, attached to nothing. Resolves to its id. */
  create(policy: Pick<Policy, 'name' | 'region' | 'rules'>): Promise<string>
  /** Writes the whole policy with its rules. Parts that are left out are deleted. */
  replace(policy: Policy): Promise<void>
  /** False: it was attached before. */
  attach(policy: string, deployment: string): Promise<boolean>
  /** False: it was not attached. */
  detach(policy: string, deployment: string): Promise<boolean>
}

/** @throws SluiceError OPTION_INVALID if the key would cross the network in clear text */
export function openAdminApi({ url, key, timeoutMs, signal }: AdminOptions): AdminApi {
  const isLocal = isLoopback(url.hostname)
  if (url.protocol === 'http:' && !isLocal) {
    const problem = 'would send the key unencrypted to another machine. Write https://'
    throw fail('OPTION_INVALID', { option: '--admin-url', problem })
  }
  const route = openRoute({ target: url, connections: 1 })
  const prefix = url.pathname === '/' ? '/api/v1' : url.pathname.replace(/\/$/, '')
  const send = async (request: AdminRequest) => {
    const answer = await ask(route, {
      method: request.method,
      path: prefix + request.path,
      headers: { authorization: `ApiKey ${key}` },
      body: request.body && JSON.stringify(request.body),
      timeoutMs,
      signal,
    })
    return readAdminAnswer(answer, request, url.origin)
  }
  const get = async (path: string) => await send({ method: 'GET', path })
  const policy = async (id: string) => readPolicy(await get(`${rulesets}/${encodeURIComponent(id)}`))

  return {
    isLocal,
    deployment: async id => readDeployment(await get(`/deployments/${encodeURIComponent(id)}`)),
    policies: async () => readPolicies(await get(rulesets)),
    policy,
    attachedTo: async deployment => {
      const path = `/deployments/traffic-filter/associations/deployment/${encodeURIComponent(deployment)}/rulesets`
      return await Promise.all(readIds(await get(path)).map(policy))
    },
    create: async created => {
      const body = bodyOf({ ...created, type: 'ip', includeByDefault: false })
      return readNewId(await send({ method: 'POST', path: rulesets, body }))
    },
    replace: async changed => {
      await send({ method: 'PUT', path: `${rulesets}/${encodeURIComponent(changed.id)}`, body: bodyOf(changed) })
    },
    attach: async (id, deployment) => {
      const body = { entity_type: 'deployment', id: deployment }
      return (
        (await send({ method: 'POST', path: `${rulesets}/${encodeURIComponent(id)}/associations`, body })).status ===
        201
      )
    },
    detach: async (id, deployment) => {
      const path = `${rulesets}/${encodeURIComponent(id)}/associations/deployment/${encodeURIComponent(deployment)}`
      return (await send({ method: 'DELETE', path, expects: [404] })).status !== 404
    },
    [Symbol.asyncDispose]: async () => await route.destroy(),
  }
}

const rulesets = '/deployments/traffic-filter/rulesets'

function bodyOf({ name, region, type, includeByDefault, description = '', rules }: Omit<Policy, 'id'>): object {
  return { name, region, type, include_by_default: includeByDefault, description, rules }
}
