import type { ConnectSection, ProxySection } from '../../options/load.js'
import { chooseProxy, type ChosenProxy } from '../proxy/choose-proxy.js'

/**
 * Returns the proxy that leads to a URL, if one does. Apart from `open-target`, because ServiceNow is reached without a client of
 * Elasticsearch. Throws SluiceError: PROXY_URL_INVALID, PROXY_NOT_USED, CLUSTER_URL_IS_PROXY.
 */
export function proxyTo(url: URL, proxy: ProxySection): ChosenProxy {
  const { direct, requireProxy, noProxy, environmentProxy, environmentOrigin } = proxy
  return chooseProxy({
    target: url,
    proxy: proxy.url === undefined ? undefined : { value: proxy.url, origin: proxy.origin },
    environmentProxy:
      environmentProxy === undefined ? undefined : { value: environmentProxy, origin: environmentOrigin },
    noProxy,
    direct,
    requireProxy,
  })
}

/** Returns why no proxy is used although one is meant to be. Static addresses belong to a proxy. */
export function unusedProxy(
  { proxy, unused }: ChosenProxy,
  { direct }: ProxySection,
  staticIps: ConnectSection['staticIps'],
): string | undefined {
  if (proxy !== undefined || direct) return undefined
  const isPair = staticIps !== undefined
  return unused ?? (isPair ? 'STATIC_IPS names two static addresses, but no proxy is set' : undefined)
}
