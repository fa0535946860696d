import { createHash } from 'node:crypto'
import { checkServiceNowOptions } from '../../options/check-options.js'
import { isLoopback } from '../cluster/credentials.js'
import { instanceSection } from '../../options/read-options.js'
import { fail, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { Clock } from '../../base/flow.js'
import type { ConnectOptions, ServiceNowConnection } from '../../options/connect-options.js'
import type { ProxySection } from '../../options/load.js'
import { proxyTo, unusedProxy } from './proxy-to.js'
import { isWebAddress } from '../../base/addresses.js'
import type { ChosenProxy } from '../proxy/choose-proxy.js'
import { type Access, chooseAccess, type OauthAccess } from '../servicenow/choose-access.js'
import { type InstanceSettings, type OpenInstance, openInstance } from '../servicenow/open-instance.js'
import type { TokenStore } from '../servicenow/login/session.js'
import { systemClock } from '../../base/time/clock.js'
import { tokensInFile } from './token-file.js'

export type { OpenInstance }

export { grantOf } from '../servicenow/choose-access.js'

export interface InstanceOptions extends Omit<ServiceNowConnection, 'signal'> {
  /** Default: the machine's. */
  readonly clock?: Clock | undefined
  /** The two addresses of the proxy, if they are known. */
  readonly staticIps?: ConnectOptions['staticIps']
  /** Receives every secret, in each form that a server might repeat, also later tokens. */
  readonly onSecret?: ((secret: string) => void) | undefined
}

/**
 * Opens the instance, but connects only with the first call. `probe` is its preflight. Throws SluiceError: OPTION_INVALID,
 * PLAINTEXT_CREDENTIALS, PROXY_URL_INVALID, PROXY_NOT_USED.
 */
export async function openServiceNow(options: InstanceOptions): Promise<OpenInstance> {
  return await Promise.resolve(openInstance(instanceSettings(options)))
}

/** Throws as `openServiceNow` does. */
export function instanceSettings(options: InstanceOptions): InstanceSettings {
  const { clock = systemClock, onWarning = () => {} } = options
  checkServiceNowOptions(options.servicenow)
  const { servicenow, proxy, concurrency, timeoutMs, connectTimeoutMs, maxElapsedMs } = instanceSection(options)
  const { tokenFile } = servicenow
  const url = instanceUrl(servicenow.url)
  const access = chooseAccess(servicenow)
  const chosen = wayTo(url, proxy)
  refusePlaintext(url, chosen)
  return {
    url,
    access,
    connections: concurrency,
    timeoutMs,
    connectTimeoutMs,
    unused: unusedProxy(chosen, proxy, options.staticIps),
    maxElapsedMs,
    clock,
    tokens:
      tokenFile === undefined || access.grant === 'basic' || access.grant === 'api_key'
        ? undefined
        : { store: storeIn(tokenFile, url, access, clock, onWarning), place: tokenFile },
    proxy: chosen.proxy,
    proxyTls: { ca: proxy.ca },
    tls: { ca: servicenow.ca },
    onSecret: options.onSecret,
  }
}

function storeIn(
  path: string,
  url: URL,
  access: OauthAccess,
  clock: Clock,
  onWarning: (message: string) => void,
): TokenStore {
  const { id: client } = access.client
  const owner = { instance: url.origin, client, user: userOf(access), grant: access.grant }
  return tokensInFile({ path, owner, clock, onWarning })
}

/** Names the owner of the tokens, if known. Another refresh token may belong to another user. */
function userOf(access: Access): string {
  if (access.grant === 'password') return access.username
  return access.grant === 'refresh_token'
    ? createHash('sha256').update(access.refreshToken).digest('hex').slice(0, 16)
    : ''
}

/** Throws SluiceError OPTION_INVALID. Does not show the URL, which may contain credentials. */
function instanceUrl(given: string | URL): URL {
  const text = String(given).trim()
  if (!isWebAddress(text)) throw invalid('is not an http:// or https:// URL')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw invalid('contains credentials. Set the user name and password as options')
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw invalid('has a path. Write only scheme and host, as in https://my-instance.example')
  return url
}

function wayTo(url: URL, proxy: ProxySection): ChosenProxy {
  try {
    return proxyTo(url, proxy)
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'CLUSTER_URL_IS_PROXY') throw error
    throw invalid("is the proxy's address. Set it to that of the instance")
  }
}

/** Refuses credentials that every machine on the route, the proxy included, could read. */
function refusePlaintext(url: URL, { proxy }: ChosenProxy): void {
  const local = isLoopback(url.hostname) && (proxy === undefined || isLoopback(proxy.host))
  if (url.protocol === 'http:' && !local) throw fail('PLAINTEXT_CREDENTIALS', { url: url.origin })
}

function invalid(problem: string): SluiceError {
  return fail('OPTION_INVALID', { option: 'servicenow.url', problem })
}
