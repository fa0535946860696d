/**
 * The part of the hosting service's administration API that concerns IP filters. Reached directly, never through the
 * static-IP proxy: it needs no static address, and the proxy must not see its key.
 */
import { isLoopback } from '../../base/addresses.js'
import { openAdminWay } from '../../route/examine/try-filter.js'
import type { AdminCalls } from './admin-calls.js'
import { deploymentsApi } from './deployments-api.js'
import { projectsApi, type ProjectType } from './projects-api.js'
import { type AdminRequest, readAdminAnswer } from './read-policy.js'
import { fail } from '../../base/failure/failure.js'

export interface AdminOptions {
  /** For example https://api.elastic-cloud.com. Without a path, /api/v1 is added. */
  readonly url: URL
  /** API key of the organisation, as its console shows it. */
  readonly key: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Set for serverless projects. */
  readonly projectType?: ProjectType | undefined
}

export interface AdminApi extends AdminCalls, AsyncDisposable {
  readonly isLocal: boolean
}

/** @throws SluiceError OPTION_INVALID if the key would cross the network in clear text */
export function openAdminApi({ url, key, timeoutMs, signal, projectType }: AdminOptions): AdminApi {
  const isLocal = isLoopback(url.hostname)
  if (url.protocol === 'http:' && !isLocal) {
    const problem = 'would send the key unencrypted to another machine. Write https://'
    throw fail('OPTION_INVALID', { option: '--admin-url', problem })
  }
  const way = openAdminWay(url)
  const prefix = url.pathname === '/' ? '/api/v1' : url.pathname.replace(/\/$/, '')
  const send = async (request: AdminRequest) => {
    const answer = await way.ask({
      method: request.method,
      path: prefix + request.path,
      headers: { authorization: `ApiKey ${key}` },
      body: request.body && JSON.stringify(request.body),
      timeoutMs,
      signal,
    })
    return readAdminAnswer(answer, request, url.origin)
  }
  return {
    isLocal,
    ...(projectType === undefined ? deploymentsApi(send) : projectsApi(send, projectType)),
    [Symbol.asyncDispose]: async () => await way[Symbol.asyncDispose](),
  }
}
