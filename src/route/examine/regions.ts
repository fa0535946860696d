/** Reads host names: the region of the proxy, the region of the cluster, and private links. */
import { BlockList, isIP } from 'node:net'
import { isLoopback } from '../../base/addresses.js'

export const proxyServiceRegions = [
  'us-east-1',
  'us-east-2',
  'us-west-2',
  'ca-central-1',
  'eu-west-1',
  'eu-west-2',
  'eu-central-1',
  'ap-northeast-1',
  'ap-southeast-1',
  'ap-southeast-2',
  'ap-south-1',
  'sa-east-1',
] as const

const proxyHost = /^(?<region>[a-z]{2}-[a-z]+(?:-\d)?)-(?:static|shield)-\d{2}(?:-[a-z])?\./i

/** Returns whether a host is named as the proxy service names its own: REGION-static-01.DOMAIN. */
export function isProxyHost(host: string): boolean {
  return proxyHost.test(host)
}

/**
 * Returns the regions that a proxy's host may be in. Some hosts omit the last number (`us-east-static-01`), so there
 * may be two. Empty if the name does not show it.
 */
export function proxyRegionsOf(host: string): readonly string[] {
  const region = proxyHost.exec(host)?.groups?.['region']?.toLowerCase()
  if (region === undefined) return []
  return proxyServiceRegions.filter(one => one === region || one.startsWith(`${region}-`))
}

export interface ClusterHost {
  readonly region?: string | undefined
  readonly provider?: string | undefined
  /** `es`, or what else the host leads to: `kb`, `apm`, `fleet`, `ingest`. */
  readonly product?: string | undefined
  /** Reached over a private link, which no address of a public proxy is let into. */
  readonly isPrivate: boolean
}

const hosted =
  /^[^.]+\.(?:(?<product>es|kb|apm|fleet|ent|ingest)\.)?(?<link>(?:privatelink|private|vpce|psc)\.)?(?<region>[a-z0-9-]+)\.(?<provider>aws|gcp|azure)\.(?:found\.io|cloud\.es\.io|elastic-cloud\.com|elastic\.cloud)$/i

export function readClusterHost(host: string): ClusterHost {
  const { product, link, region, provider } = hosted.exec(host)?.groups ?? {}
  return {
    region: region?.toLowerCase(),
    provider: provider?.toLowerCase(),
    product: product?.toLowerCase(),
    // In other domains, `private` is only a word.
    isPrivate: link !== undefined || /(?:^|\.)(?:privatelink|vpce|vpce-[a-z0-9-]+)\./i.test(host),
  }
}

const privateAddresses = new BlockList()
for (const [net, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const)
  privateAddresses.addSubnet(net, bits)
for (const [net, bits] of [
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  privateAddresses.addSubnet(net, bits, 'ipv6')

/** Says why a host is known only inside a network that this proxy may be outside of. Undefined if it is not. */
export function insideOf(host: string, proxyHost: string): string | undefined {
  const family = isIP(host)
  if (isLoopback(host)) return isLoopback(proxyHost) ? undefined : 'an address of this machine itself'
  if (family !== 0)
    return privateAddresses.check(host, family === 4 ? 'ipv4' : 'ipv6') ? 'a private address' : undefined
  const isPrivate = !host.includes('.') || /\.(local|internal|lan|intranet|corp|home|localdomain)$/i.test(host)
  return isPrivate ? 'a name of a private network' : undefined
}

/**
 * Compares the regions of proxy and cluster: `same`, `other`, `elsewhere` (another part of the world, where names do
 * not show the nearest region), or undefined if unknown.
 */
export function compareRegions(
  proxy: readonly string[],
  { region, provider }: ClusterHost,
): 'same' | 'other' | 'elsewhere' | undefined {
  const [first] = proxy
  if (first === undefined || region === undefined) return undefined
  if (provider === 'aws' && proxyServiceRegions.some(one => one === region)) {
    return proxy.includes(region) ? 'same' : 'other'
  }
  const [here, there] = [partOfTheWorld(first), partOfTheWorld(region)]
  return here === undefined || there === undefined || here === there ? undefined : 'elsewhere'
}

const partsOfTheWorld: readonly (readonly [string, RegExp])[] = [
  // South before north: `southamerica` holds `america`, and azure writes `brazilsouth`.
  ['South America', /^sa-|southamerica|brazil/],
  ['North America', /^(?:us|ca)-|northamerica|(?:east|west|central)us\d?$|canada/],
  ['Europe', /^eu-|europe|uksouth|ukwest|france|germany|norway|sweden|switzerland|italy|spain|poland/],
  ['Asia and the Pacific', /^ap-|asia|australia|japan|korea|india/],
]

function partOfTheWorld(region: string): string | undefined {
  return partsOfTheWorld.find(([, names]) => names.test(region))?.[0]
}
