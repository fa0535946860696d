import { describe, expect, test } from 'vitest'
import type { CertificateProblem } from '../../../../src/route/examine/certificate.js'
import type { ConnectionSeen, Facts, FilterSeen } from '../../../../src/route/examine/facts.js'
import { findingsOf } from '../../../../src/programs/doctor/findings.js'
import { nextStep, policyNeeded } from '../../../../src/programs/doctor/next-step.js'
import { failure } from '../../../../src/base/failure/failure.js'

const cluster = 'https://my.es.eu-west-1.aws.elastic.cloud'
const proxy = 'http://eu-west-1-static-01.proxy.example:9293'
const open: FilterSeen = { probes: 16, allowed: 16, refused: 0, broken: 0, missChance: 2 ** -16 }
const stands: ConnectionSeen = { layers: [] }
const host = { isPrivate: false, proxyRegions: [], clusterIsProxy: false }

/** Facts of a way that is open, with some that are not. */
function codes(more: Partial<Facts>): string[] {
  return findingsOf({ cluster, proxy, connection: stands, filter: open, ...more }).map(
    ({ severity, code }) => `${severity} ${code}`,
  )
}

test('a way that is open has no finding', () => {
  expect(codes({})).toEqual([])
  expect(
    codes({ past: { verdict: 'refused', status: 403 }, clock: { skewMs: 1_500, comparedWith: 'the cluster' } }),
  ).toEqual([])
})

describe('the first finding is the cause', () => {
  const timeout = failure('PROXY_TIMEOUT', { proxy, limitMs: 4000, after: 'Sluice asked it to connect to the target' })
  const unanswered: ConnectionSeen = { ...stands, failure: timeout, failedIn: 'proxy-handshake' }

  test('of a tunnel that is not answered: the proxy, or the destination where the proxy leads elsewhere', () => {
    expect(codes({ connection: unanswered, filter: undefined })).toEqual(['error PROXY_TIMEOUT'])
    const filter = undefined as never
    const egress = { seen: { '192.0.2.1': 1 }, asked: 3 }
    const port = { spoken: 'http', isPrompt: true } as const
    expect(codes({ connection: unanswered, filter, egress })).toEqual(['error PROXY_TARGET_UNREACHABLE'])
    expect(codes({ connection: unanswered, filter, port })).toEqual(['error PROXY_TARGET_UNREACHABLE'])
    const nowhere = { seen: {}, asked: 3, failure: timeout }
    expect(codes({ connection: unanswered, filter, port, egress: nowhere })).toEqual(['error PROXY_TIMEOUT'])
  })

  test('of a certificate that looks expired: the clock, where it is wrong that way', () => {
    const problem = failure('CLUSTER_CERT_INVALID', { cluster, problem: 'certificate has expired' })
    const connection: ConnectionSeen = { ...stands, failure: problem, certificateProblem: 'expired' }
    const ahead = { skewMs: 86_400_000, comparedWith: 'the proxy' }
    const behind = { skewMs: -86_400_000, comparedWith: 'the proxy' }
    const filter = undefined as never
    expect(codes({ connection, filter })).toEqual(['error CLUSTER_CERT_INVALID'])
    expect(codes({ connection, filter, clock: ahead })).toEqual(['error CLOCK_SKEW', 'error CLUSTER_CERT_INVALID'])
    expect(codes({ connection, filter, clock: behind })).toEqual(['error CLUSTER_CERT_INVALID', 'warning CLOCK_SKEW'])
  })

  test('of addresses that are not the dashboard’s, and are refused', () => {
    const filter = { ...open, allowed: 0, refused: 16 }
    const egress = { seen: { '192.0.2.9': 2, '192.0.2.8': 1 }, asked: 3 }
    expect(codes({ filter, egress, staticIps: ['192.0.2.1', '192.0.2.2'] })).toEqual([
      'error EGRESS_UNEXPECTED',
      'error EGRESS_NOT_ALLOWED',
    ])
  })
})

describe('a private-link name', () => {
  test('is the cause where the cluster is not reached through the proxy', () => {
    const unreachable = failure('PROXY_TARGET_UNREACHABLE', { proxy, target: 'my', observed: 'status 502' })
    const connection = { ...stands, failure: unreachable }
    expect(codes({ hosts: { ...host, isPrivate: true }, connection, filter: undefined })).toEqual([
      'error CLUSTER_PRIVATE_LINK',
      'error PROXY_TARGET_UNREACHABLE',
    ])
  })

  test('is no alarm where it is reached, and none where no proxy is used', () => {
    expect(codes({ hosts: { ...host, isPrivate: true } })).toEqual(['info CLUSTER_PRIVATE_LINK'])
    expect(codes({ hosts: { ...host, isPrivate: true }, proxy: undefined })).toEqual([])
  })
})

test('a second address that was not seen is told once that is significant', () => {
  const egress = { seen: { '192.0.2.1': 8 }, asked: 8, missChance: 2 ** -7 }
  expect(codes({ egress })).toEqual([])
  expect(codes({ egress: { ...egress, missChance: 2 ** -15 } })).toEqual(['info EGRESS_ONE_ADDRESS'])
})

test('regions are a warning where both are certain, and an information else', () => {
  const hosts = { ...host, proxyRegions: ['us-east-1'], region: 'eu-west-1' }
  expect(codes({ hosts: { ...hosts, regions: 'same' } })).toEqual([])
  expect(codes({ hosts: { ...hosts, regions: 'other' } })).toEqual(['warning REGION_MISMATCH'])
  expect(codes({ hosts: { ...hosts, regions: 'elsewhere' } })).toEqual(['info REGION_MISMATCH'])
})

test('latency is told from halfway between the same region and another one', () => {
  expect(codes({ latency: { throughMs: 22, directMs: 2, addedMs: 20 } })).toEqual([])
  expect(codes({ latency: { throughMs: 52, directMs: 2, addedMs: 50 } })).toEqual(['info LATENCY_CROSS_REGION'])
})

test('a node that fails is told once, whichever target showed it', () => {
  expect(codes({ filter: { ...open, broken: 1 } })).toEqual([])
  const warning = failure('PROXY_NODE_FAILS', { proxy, failed: 8, probes: 16, problem: 'it closed the connection' })
  const half = { ...open, broken: 8, warning }
  expect(codes({ filter: half })).toEqual(['warning PROXY_NODE_FAILS'])
  expect(codes({ instanceDoor: half })).toEqual(['warning PROXY_NODE_FAILS'])
  expect(codes({ filter: half, instanceDoor: half })).toEqual(['warning PROXY_NODE_FAILS'])
})

test('a host of another product tells what it is', () => {
  const filter = {
    ...open,
    allowed: 0,
    failure: failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed: 'status 200' }),
  }
  const [first] = findingsOf({ cluster, proxy, filter, hosts: { ...host, product: 'kb' } })
  expect(first?.message).toMatch(/\. The host is that of "kb"\.$/)
})

describe('the next step', () => {
  const refused = { ...open, allowed: 0, refused: 16 }

  test('names both rules, and who said them', () => {
    const staticIps = ['192.0.2.1', '192.0.2.2']
    const facts: Facts = { cluster, proxy, filter: refused, staticIps }
    expect(policyNeeded(facts)).toEqual({ rules: ['192.0.2.1/32', '192.0.2.2/32'], from: 'STATIC_IPS' })
    expect(nextStep(findingsOf(facts), facts)).toContain('Add 192.0.2.1/32 and 192.0.2.2/32 to one IP filter policy')
  })

  test('takes what the check saw where no pair is set, and never one address alone', () => {
    const both = { seen: { '192.0.2.2': 1, '192.0.2.1': 2 }, asked: 3 }
    expect(policyNeeded({ cluster, proxy, egress: both })).toEqual({
      rules: ['192.0.2.1/32', '192.0.2.2/32'],
      from: 'address check',
    })
    const facts: Facts = { cluster, proxy, filter: refused, egress: { seen: { '192.0.2.1': 3 }, asked: 3 } }
    expect(policyNeeded(facts)).toBeUndefined()
    expect(nextStep(findingsOf(facts), facts)).toContain('both static addresses in the dashboard of your proxy')
  })

  test('is nothing where there is only something to know', () => {
    const facts: Facts = { cluster, proxy, filter: open, latency: { throughMs: 90, directMs: 2, addedMs: 88 } }
    expect(nextStep(findingsOf(facts), facts)).toBeUndefined()
  })
})

test('if the pair and a single node are judged differently, all connections are counted', () => {
  const node = { node: 'http://b.proxy.example:9293', address: '192.0.2.2', verdict: 'refused' } as const
  const [first] = findingsOf({ cluster, proxy, connection: stands, filter: open, nodes: [node] })
  expect(first).toMatchObject({ code: 'EGRESS_PARTLY_ALLOWED', evidence: { refused: 1, probes: 17 } })
  expect(first?.message).toContain('refused 1 of 17 connections and accepted the others. Blocked: 192.0.2.2')
})

test('of an address check that cannot be reached, what to do is about that check', () => {
  const unreachable = failure('PROXY_TARGET_UNREACHABLE', { proxy, target: 'ip.example:443', observed: 'status 503' })
  const facts: Facts = {
    cluster,
    proxy,
    connection: stands,
    filter: open,
    egress: { seen: {}, asked: 3, failure: unreachable },
  }
  expect(findingsOf(facts)[0]?.message).toMatch(/This is the address check, not the cluster\.$/)
  expect(nextStep(findingsOf(facts), facts)).toMatch(/^Correct IP_CHECK_URL/)
})

test('one address alone is never what a policy needs', () => {
  expect(policyNeeded({ cluster, proxy, staticIps: ['192.0.2.1'] })).toBeUndefined()
})

test('of a certificate, what to do first is about what is wrong with it', () => {
  const next = (code: 'CLUSTER_CERT_INVALID' | 'PROXY_CERT_INVALID', certificateProblem: CertificateProblem) => {
    const problem = failure(code, { cluster, proxy, problem: 'refused' })
    const certificate = { subject: 'a', issuer: 'b', names: [], validFrom: '', validTo: '', fingerprint: '' }
    const connection: ConnectionSeen = { ...stands, failure: problem, certificate, certificateProblem }
    const facts: Facts = { cluster, proxy, connection }
    return nextStep(findingsOf(facts), facts)
  }
  expect(next('CLUSTER_CERT_INVALID', 'authority')).toMatch(/^Pass the CA with --ca FILE/)
  expect(next('CLUSTER_CERT_INVALID', 'proxy')).toMatch(/^In ELASTICSEARCH_URL, write the host name/)
  expect(next('CLUSTER_CERT_INVALID', 'expired')).toMatch(/administrators of the cluster to renew/)
  expect(next('PROXY_CERT_INVALID', 'authority')).toMatch(/--proxy-ca FILE/)
  expect(next('PROXY_CERT_INVALID', 'name')).toMatch(/^In STATIC_PROXY_URL, write the host name/)
  expect(next('PROXY_CERT_INVALID', 'expired')).toMatch(/administrators of the proxy to renew/)
})

test('without a proxy, what to do first is about the proxy, and not about the policy', () => {
  const { proxy: _, ...direct } = {
    cluster,
    proxy,
    connection: stands,
    filter: { ...open, allowed: 0, refused: 1, probes: 1 },
  }
  expect(nextStep(findingsOf(direct), direct)).toMatch(/^Set STATIC_PROXY_URL/)
  const said = { ...direct, isDirect: true }
  expect(nextStep(findingsOf(said), said)).toMatch(/^Remove --direct/)
})
