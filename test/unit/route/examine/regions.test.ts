import { describe, expect, test } from 'vitest'
import {
  compareRegions,
  insideOf,
  isProxyHost,
  proxyRegionsOf,
  proxyServiceRegions,
  readClusterHost,
} from '../../../../src/route/examine/regions.js'

describe('the region in a proxy host', () => {
  test.each(proxyServiceRegions)('%s', region => {
    expect(proxyRegionsOf(`${region}-static-01.proxy.example`)).toEqual([region])
    expect(isProxyHost(`${region}-static-01.proxy.example`)).toBe(true)
  })

  test.each([
    ['us-east-static-01.proxy.example', ['us-east-1', 'us-east-2']],
    ['us-west-static-01.proxy.example', ['us-west-2']],
    ['eu-west-shield-01-a.proxy.example', ['eu-west-1', 'eu-west-2']],
    ['EU-Central-1-static-01.proxy.example', ['eu-central-1']],
    ['eu-north-1-static-01.proxy.example', []],
    ['velodrome.usefixie.example', []],
    ['127.0.0.1', []],
  ])('%s may stand in %j', (host, regions) => {
    expect(proxyRegionsOf(host)).toEqual(regions)
  })
})

describe('the host of a hosted cluster', () => {
  test.each([
    [
      '4fa8821e75634032bed1cf22110e2f97.us-east-1.aws.found.io',
      { region: 'us-east-1', provider: 'aws', isPrivate: false },
    ],
    ['my.es.eu-west-1.aws.elastic.cloud', { region: 'eu-west-1', provider: 'aws', product: 'es', isPrivate: false }],
    [
      'my.kb.eastus2.azure.elastic-cloud.com',
      { region: 'eastus2', provider: 'azure', product: 'kb', isPrivate: false },
    ],
    ['my.us-central1.gcp.cloud.es.io', { region: 'us-central1', provider: 'gcp', isPrivate: false }],
    ['my.vpce.us-east-1.aws.elastic-cloud.com', { region: 'us-east-1', provider: 'aws', isPrivate: true }],
    [
      'my.es.privatelink.eastus2.azure.elastic-cloud.com',
      { region: 'eastus2', provider: 'azure', product: 'es', isPrivate: true },
    ],
    ['my.psc.europe-west3.gcp.cloud.es.io', { region: 'europe-west3', provider: 'gcp', isPrivate: true }],
    [
      'my.es.private.us-east-1.aws.elastic.cloud',
      { region: 'us-east-1', provider: 'aws', product: 'es', isPrivate: true },
    ],
    ['vpce-0123-abc.vpce-svc-9.us-east-1.vpce.amazonaws.example', { isPrivate: true }],
    ['es.private.example.com', { isPrivate: false }],
    ['localhost', { isPrivate: false }],
  ])('%s', (host, seen) => {
    expect(readClusterHost(host)).toEqual(seen)
  })
})

describe('proxy and cluster', () => {
  const compare = (proxy: string, cluster: string) =>
    compareRegions(
      proxyRegionsOf(`${proxy}-static-01.proxy.example`),
      readClusterHost(`my.es.${cluster}.elastic.cloud`),
    )

  test.each([
    ['eu-west-1', 'eu-west-1.aws', 'same'],
    ['us-east', 'us-east-2.aws', 'same'],
    ['us-east', 'us-west-2.aws', 'other'],
    ['eu-west-1', 'eu-central-1.aws', 'other'],
    ['eu-west-1', 'eu-north-1.aws', undefined],
    ['eu-west-1', 'europe-west3.gcp', undefined],
    ['eu-west-1', 'us-central1.gcp', 'elsewhere'],
    ['us-east-1', 'westeurope.azure', 'elsewhere'],
    ['us-east-1', 'eastus2.azure', undefined],
    ['sa-east-1', 'southamerica-east1.gcp', undefined],
    ['sa-east-1', 'brazilsouth.azure', undefined],
    ['ap-south-1', 'japaneast.azure', undefined],
    ['ap-south-1', 'af-south-1.aws', undefined],
    ['mars-north-1', 'eu-west-1.aws', undefined],
  ])('%s and %s: %s', (proxy, cluster, expected) => {
    expect(compare(proxy, cluster)).toBe(expected)
  })
})

test.each([
  ['10.1.2.3', 'proxy.example', 'a private address'],
  ['172.31.0.1', 'proxy.example', 'a private address'],
  ['fd00::1', 'proxy.example', 'a private address'],
  ['localhost', 'proxy.example', 'an address of this machine itself'],
  ['127.0.0.1', '127.0.0.1', undefined],
  ['elasticsearch', 'proxy.example', 'a name of a private network'],
  ['es.svc.cluster.local', 'proxy.example', 'a name of a private network'],
  ['172.32.0.1', 'proxy.example', undefined],
  ['es.example.com', 'proxy.example', undefined],
])('%s through %s is %s', (host, proxy, inside) => {
  expect(insideOf(host, proxy)).toBe(inside)
})
