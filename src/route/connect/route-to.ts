/**
 * The way to a URL: the proxy that leads there, and routes to servers that are no target. Apart from `open-target`, because ServiceNow and
 * these servers are reached without a client of Elasticsearch.
 */
import type { ConnectSection, ProxySection } from '../../options/load.js'
import { chooseProxy, type ChosenProxy } from '../proxy/choose-proxy.js'
import { openRoute, type Route } from '../proxy/route.js'
import { RouteError } from '../proxy/route-error.js'

/**
 * Returns the proxy that leads to a URL, if one does. Throws SluiceError: PROXY_URL_INVALID, PROXY_NOT_USED, CLUSTER_URL_IS_PROXY.
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

interface RouteSettings {
  /** Undefined if Sluice connects directly. */
  readonly proxy: ProxySection | undefined
  readonly ca: string | Buffer | undefined
  readonly connections: number
  readonly connectTimeoutMs: number | undefined
}

/** Opens a route to a server that is no target. Returns undefined if it should pass a proxy, and none leads there. */
export function openRouteTo(
  url: URL,
  { proxy: given, ca, connections, connectTimeoutMs }: RouteSettings,
): Route | undefined {
  const proxy = given === undefined ? undefined : proxyTo(url, given).proxy
  if (given !== undefined && proxy === undefined) return undefined
  return openRoute({
    target: url,
    proxy,
    connections,
    connectTimeoutMs,
    targetTls: { ca },
    proxyTls: { ca: given?.ca },
  })
}

/** Returns why a request over a route got no whole answer. Undefined: the error has another cause. */
export function faultIn(error: unknown): RouteError | undefined {
  return error instanceof RouteError ? error : undefined
}
