import { addressOf } from '../../proxy/way.js'
import type { HostsSeen } from '../facts.js'
import type { Probe } from '../probe.js'
import { compareRegions, isProxyHost, proxyRegionsOf, readClusterHost } from '../regions.js'

/** What the names of proxy and cluster tell. Nothing is asked. */
export const hostNames: Probe = {
  name: 'hosts and regions',
  isPure: true,
  look: ({ way: { url, proxy } }) => {
    const { host, port } = addressOf(url)
    const cluster = readClusterHost(host)
    const proxyRegions = proxy === undefined ? [] : proxyRegionsOf(proxy.host)
    const regions = compareRegions(proxyRegions, cluster)
    const isProxyPort = port === 9293 || port === 9294 || port === 1080
    const hosts: HostsSeen = {
      ...cluster,
      proxyRegions,
      ...(regions === undefined ? {} : { regions }),
      clusterIsProxy: isProxyHost(host) || (isProxyPort && host.toLowerCase() === proxy?.host),
    }
    return { detail: tell(hosts), failed: hosts.clusterIsProxy, facts: { hosts } }
  },
}

function tell({ proxyRegions, region, provider, isPrivate, clusterIsProxy }: HostsSeen): string {
  const known = [
    ...(clusterIsProxy ? ["the cluster URL has a proxy's host"] : []),
    ...(proxyRegions.length === 0 ? [] : [`the proxy is in ${proxyRegions.join(' or ')}`]),
    ...(region === undefined ? [] : [`the cluster is in ${region} (${provider})`]),
    ...(isPrivate ? ['the cluster has a private-link name'] : []),
  ]
  return known.length === 0 ? 'the names tell no region' : known.join(', ')
}
