import { afterEach, describe, expect, test } from 'vitest'
import { diagnose } from '../support/lab/patient-doctor.js'
import type { DoctorOptions } from '../../src/route/examine/examine-options.js'
import type { DoctorReport } from '../../src/programs/doctor/report.js'
import { connect } from '../../src/index.js'
import { allPairs, newIndex, proxyKinds, through } from './options.js'
import type { World } from './world.js'

/** What the doctor must name of the proxy, the IP filter and the cluster, and of a set-up in which nothing is wrong: nothing. */
export function describeDoctor(world: () => World, pairs = allPairs): void {
  describe('doctor', () => {
    afterEach(async () => await world().register('both'))

    const options = (
      proxy: string,
      scheme: 'http' | 'https' = 'https',
      more: Partial<DoctorOptions> = {},
    ): DoctorOptions => {
      const { target, proxy: way } = through(world(), proxy, scheme)
      return { target, proxy: way, staticIps: world().staticIps, ipCheckUrl: world().ipCheckUrl, ...more }
    }
    const withKey = (apiKey: string, more: Partial<DoctorOptions> = {}): DoctorOptions => {
      const { target, ...rest } = options(world().proxy.http)
      return { ...rest, target: { ...target, apiKey }, ...more }
    }

    for (const [kind, scheme] of pairs) {
      test(`over ${kind} to ${scheme} a healthy set-up has no finding`, async () => {
        const { proxy } = world()
        const report = await diagnose(options(proxy[kind], scheme, { nodes: proxy.nodes }))
        expect(named(report)).toEqual([])
        expect(report.facts.filter).toMatchObject({ probes: 16, allowed: 16, broken: 0 })
        expect(report.facts.nodes?.map(({ verdict }) => verdict)).toEqual(['allowed', 'allowed'])
        expect(report.facts.past?.verdict).toBe('refused')
      })

      test(`over ${kind} to ${scheme} wrong credentials of the proxy are named`, async () => {
        const wrong = world().proxy[kind].replace(/:[^:@]+@/, ':wrong@')
        expect(named(await diagnose(options(wrong, scheme)))).toEqual(['error PROXY_AUTH_REJECTED'])
      })
    }

    test.each([
      ['first', 1],
      ['second', 0],
    ] as const)('with the %s address registered alone, the other is named', async (which, missing) => {
      await world().register(which)
      const { proxy, staticIps } = world()
      const report = await diagnose(options(proxy.http, 'https', { nodes: proxy.nodes }))
      expect(named(report)).toEqual(['error EGRESS_PARTLY_ALLOWED'])
      expect(report.findings[0]).toMatchObject({ evidence: { addresses: [staticIps[missing]] } })
    })

    test('with no address registered, that is named; with everybody, that the filter stops nobody', async () => {
      await world().register('none')
      expect(named(await diagnose(options(world().proxy.http)))).toEqual(['error EGRESS_NOT_ALLOWED'])
      await world().register('everyone')
      expect(named(await diagnose(options(world().proxy.http)))).toEqual(['error FILTER_NOT_ENFORCED'])
    })

    const wrongPorts = [
      ['http', 'socks5', 'PROXY_PORT_IS_SOCKS'],
      ['http', 'https', 'PROXY_TLS_MISMATCH'],
      ['https', 'http', 'PROXY_TLS_MISMATCH'],
      ['socks5', 'http', 'PROXY_PORT_IS_HTTP'],
      ['socks5', 'socks5s', 'PROXY_TLS_MISMATCH'],
      ['socks5s', 'socks5', 'PROXY_TLS_MISMATCH'],
    ] as const
    test.each(wrongPorts)('%s:// with the port of %s: %s', async (scheme, port, code) => {
      const { proxy } = world()
      const wrong = proxy[scheme].replace(/:\d+$/, /:\d+$/.exec(proxy[port])?.[0] ?? '')
      expect(named(await diagnose(options(wrong)))).toEqual([`error ${code}`])
    })

    test.each(proxyKinds)('over %s a cluster that is not there is named', async kind => {
      const report = await diagnose(options(world().proxy[kind], 'https', { target: { url: 'https://127.0.0.1:1' } }))
      expect(named(report)).toEqual(['error PROXY_TARGET_UNREACHABLE'])
    })

    test('a cluster whose authority is not known is named, with whose certificate it is', async () => {
      const report = await diagnose(options(world().proxy.http, 'https', { target: { url: world().cluster.url } }))
      expect(named(report)).toEqual(['error CLUSTER_CERT_INVALID'])
      expect(report.findings[0]).toMatchObject({ evidence: { certificate: 'authority' } })
    })

    test('a wrong key is named, and one that may not load into the index', async () => {
      const wrong = Buffer.from('wrong-id:wrong-key').toString('base64')
      expect(named(await diagnose(withKey(wrong)))).toEqual(['error CLUSTER_AUTH_REJECTED'])
      const { leastPrivilegeApiKey } = world().cluster
      const report = await diagnose(withKey(leastPrivilegeApiKey, { index: 'other' }))
      expect(named(report)).toEqual(['error CLUSTER_PRIVILEGE_MISSING'])
      expect(named(await diagnose(withKey(leastPrivilegeApiKey, { index: 'least-logs' })))).toEqual([])
    })

    test('a document is written, read it and deleted it; a block of the index is named', async () => {
      const index = newIndex('doctor')
      await using way = await connect({ ...options(world().proxy.http), preflightConnections: 1 })
      const put = async (path: string, body: object) =>
        await way.client.transport.request(
          { method: 'PUT', path, body },
          { headers: { 'content-type': 'application/json', accept: 'application/json' } },
        )
      await put(`/${index}`, {})
      const checked = await diagnose(options(world().proxy.http, 'https', { index, writeCheck: true }))
      expect(named(checked)).toEqual([])
      expect(checked.facts.write).toEqual({})
      expect(await world().count(index)).toBe(0)
      await put(`/${index}/_settings`, { 'index.blocks.write': true })
      expect(named(await diagnose(options(world().proxy.http, 'https', { index })))).toEqual(['error INDEX_BLOCKED'])
    })
  })
}

function named({ findings }: DoctorReport): string[] {
  return findings.map(({ severity, code }) => `${severity} ${code}`)
}
