import { checkFreshCredentials } from '../options/check-ingest-options.js'
import type { Cluster } from '../cluster/open-cluster.js'
import { isSluiceError } from '../failure/sluice-error.js'
import { credentialsOf, type ResolvedTarget } from '../connect/open-target.js'
import type { RetrySection } from '../options/load.js'
import { parseProxyUrl } from '../proxy/proxy-url.js'

/**
 * Asks the caller for credentials, and gives them to the cluster and to the proxy route. Missing fields stay
 * unchanged. Resolves to the reason if there are no new credentials: a file may be missing while it is replaced.
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
    // An error from the caller's function may contain the secret itself.
    return `no new credentials: ${isSluiceError(error) ? error.message : 'refreshCredentials failed'}`
  }
}

function usernameOf(credentials: ResolvedTarget['credentials']): string | undefined {
  return credentials !== undefined && 'username' in credentials ? credentials.username : undefined
}
