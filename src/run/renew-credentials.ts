import { checkFreshCredentials } from '../options/check-ingest-options.js'
import type { Cluster } from '../cluster/open-cluster.js'
import { isSluiceError } from '../failure/sluice-error.js'
import { credentialsOf, type ResolvedTarget } from '../connect/open-target.js'
import type { RetrySection } from '../options/load.js'
import { parseProxyUrl } from '../proxy/proxy-url.js'

/**
 * Asks the caller for credentials, and gives them to the cluster and the way there. What is missing stays as it was. Resolves to
 * why there are none, if that is so: a file may be missing for the moment in which it is replaced.
 */
export async function renewCredentials(
  { refreshCredentials, freshProxyOrigin }: Pick<RetrySection, 'refreshCredentials' | 'freshProxyOrigin'>,
  way: Pick<ResolvedTarget, 'proxy' | 'credentials'>,
  cluster: Pick<Cluster, 'renew'>,
): Promise<string | undefined> {
  if (refreshCredentials === undefined) return undefined
  try {
    const fresh = await refreshCredentials()
    checkFreshCredentials(fresh)
    const { apiKey, password, username = usernameOf(way.credentials) } = fresh
    const proxy = fresh.proxy === undefined ? undefined : parseProxyUrl(String(fresh.proxy), freshProxyOrigin)
    const isSame = proxy?.display === way.proxy?.display
    cluster.renew({
      ...(apiKey === undefined && password === undefined
        ? {}
        : { credentials: credentialsOf({ apiKey, username, password }) }),
      ...(isSame ? { proxy } : {}),
    })
    const isOther = proxy !== undefined && way.proxy !== undefined && !isSame
    return isOther ? 'only the credentials of a proxy may change during a run, not its address' : undefined
  } catch (error) {
    // What another's function throws may hold the secret itself.
    return `no new credentials: ${isSluiceError(error) ? error.message : 'refreshCredentials failed'}`
  }
}

function usernameOf(credentials: ResolvedTarget['credentials']): string | undefined {
  return credentials !== undefined && 'username' in credentials ? credentials.username : undefined
}
