import type { ConnectOptions, ProxyOptions } from '../options/ingest-options.js'
import { isUrl } from '../options/option-checks.js'
import { type ChosenProxy, chooseProxy } from '../proxy/choose-proxy.js'

/** The proxy that leads to a URL, if one does. Throws SluiceError: PROXY_URL_INVALID, PROXY_NOT_USED, CLUSTER_URL_IS_PROXY. */
export function proxyTo(url: URL, given: ConnectOptions['proxy']): ChosenProxy {
  const proxy = proxyOptions(given)
  return chooseProxy({
    target: url,
    ...(proxy.url === undefined ? {} : { proxy: { value: String(proxy.url), origin: proxy.origin ?? 'proxy' } }),
    ...(proxy.environmentProxy === undefined
      ? {}
      : { environmentProxy: { value: proxy.environmentProxy, origin: proxy.environmentOrigin ?? 'HTTPS_PROXY' } }),
    ...(proxy.noProxy === undefined ? {} : { noProxy: proxy.noProxy }),
    direct: proxy.direct ?? false,
    requireProxy: proxy.requireProxy ?? false,
  })
}

/** A string and a URL are the proxy's own. */
export function proxyOptions(proxy: ConnectOptions['proxy']): ProxyOptions {
  return typeof proxy === 'string' || isUrl(proxy) ? { url: proxy } : (proxy ?? {})
}
