import type { Probe } from '../context.js'
import { misplacedIn } from '../../../base/secrets.js'
import { addressOf } from '../../../base/addresses.js'
import type { HostsSeen } from '../facts.js'
import { compareRegions, insideOf, isProxyHost, proxyRegionsOf, readClusterHost } from '../regions.js'

/** Options that decide the path. `sluice config` shows all. */
const ofTheWay = ['url', 'cloudId', 'apiKey', 'apiKeyFile', 'username', 'proxy', 'proxyFile', 'httpsProxy', 'staticIps', 'ipCheckUrl', 'index', 'servicenowUrl', 'servicenowGrant'] // prettier-ignore

export const optionsGiven: Probe = {
  name: 'options',
  isPure: true,
  look: ({ options: { settings = [], connecting }, plaintext, way }) => {
    const { staticIps, proxy } = connecting
    const told = settings.filter(({ name, from }) => ofTheWay.includes(name) && from !== 'default')
    const from = told.map(({ name, from: origin }) => `${name} from ${origin}`)
    return {
      detail:
        plaintext?.message ?? ([...from, ...way.notes].join(', ') || 'no option comes from a file or the environment'),
      failed: plaintext !== undefined,
      facts: {
        settings: settings.length === 0 ? undefined : settings,
        staticIps,
        unused: way.unused,
        notes: way.notes.length === 0 ? undefined : way.notes,
        plaintext,
        isDirect: proxy.direct ? true : undefined,
        misplaced: misplacedIn(way.credentials ?? {}),
      },
    }
  },
}

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
      regions,
      inside: proxy === undefined ? undefined : insideOf(host, proxy.host),
      clusterIsProxy: isProxyHost(host) || (isProxyPort && host.toLowerCase() === proxy?.host),
    }
    return { detail: tell(hosts), failed: hosts.clusterIsProxy, facts: { hosts } }
  },
}

function tell({ proxyRegions, region, provider, isPrivate, inside, clusterIsProxy }: HostsSeen): string {
  const known = [
    ...(clusterIsProxy ? ["the cluster URL has a proxy's host"] : []),
    ...(proxyRegions.length === 0 ? [] : [`the proxy is in ${proxyRegions.join(' or ')}`]),
    ...(region === undefined ? [] : [`the cluster is in ${region} (${provider})`]),
    ...(isPrivate ? ['the cluster has a private-link name'] : []),
    ...(inside === undefined ? [] : [`the cluster has ${inside}`]),
  ]
  return known.length === 0 ? 'the names show no region' : known.join(', ')
}
