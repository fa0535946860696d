// @module-tag long
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { diagnoseRefusal } from '../../support/lab/patient-doctor.js'
import type { DoctorOptions } from '../../../src/route/examine/examine-options.js'
import { failure } from '../../../src/base/failure/failure.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { mechanisms, mendInstance, platformOf } from '../../contracts/instance-world.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())
afterEach(() => {
  lab.control.heal()
  lab.control.register('both')
})

function options(more: Partial<DoctorOptions> = {}): DoctorOptions {
  const { cluster, proxy, staticIps, ipCheckUrl } = lab.line
  return {
    target: { url: cluster.url, apiKey: cluster.apiKey, ca: readFileSync(cluster.caFile) },
    proxy: proxy.http,
    staticIps,
    ipCheckUrl,
    ...more,
  }
}

const refused = () =>
  failure('EGRESS_NOT_ALLOWED', { cluster: lab.line.cluster.url, refused: 1, probes: 1, observed: 'Forbidden' })

test('a connection that the filter refused turns out to be one address, and which', async () => {
  lab.control.register('second')
  const cause = await diagnoseRefusal(refused(), options({ nodes: lab.line.proxy.nodes }))
  expect(cause).toMatchObject({
    isOver: false,
    finding: { code: 'EGRESS_PARTLY_ALLOWED', evidence: { addresses: ['127.0.0.2'] } },
  })
  expect(cause?.next).toContain('Add 127.0.0.2/32')
})

test('a refusal that is over when it is asked again says so', async () => {
  const cause = await diagnoseRefusal(refused(), options())
  expect(cause).toMatchObject({ isOver: true, finding: { code: 'EGRESS_NOT_ALLOWED' } })
  expect(cause?.finding.message).toContain('Run the same command again. It continues where it stopped')
})

test('a cluster that was not available turns out to be a proxy whose password was changed', async () => {
  const before = options()
  lab.control.rotateCredentials()
  const lost = failure('CLUSTER_UNAVAILABLE', { cluster: lab.line.cluster.url, observed: 'the connection broke' })
  expect(await diagnoseRefusal(lost, before)).toMatchObject({ finding: { code: 'PROXY_AUTH_REJECTED' } })
})

test('of an input nothing more can be told', async () => {
  expect(await diagnoseRefusal(failure('INPUT_NOT_FOUND', { input: 'a.ndjson' }), options())).toBeUndefined()
})

test('a node that is written wrong in --nodes has refused no connection', async () => {
  expect(await diagnoseRefusal(refused(), options({ nodes: ['nonsense'] }))).toMatchObject({ isOver: true })
})

describe('of the platform that tables are read from', () => {
  afterEach(() => mendInstance(lab))
  const withPlatform = (more: Partial<DoctorOptions> = {}) => options({ servicenow: platformOf(lab), ...more })
  const url = () => lab.line.servicenow.url

  test('a connection that it refused turns out to be one address, and which', async () => {
    mechanisms['a REST API access policy'](lab, 'second')
    const refusal = failure('SERVICENOW_PARTLY_ALLOWED', { instance: url(), allowed: 1, asked: 2 })
    const cause = await diagnoseRefusal(refusal, withPlatform({ nodes: lab.line.proxy.nodes }))
    expect(cause).toMatchObject({
      isOver: false,
      finding: { code: 'SERVICENOW_PARTLY_ALLOWED', evidence: { addresses: ['127.0.0.2'] } },
    })
    expect(cause?.next).toContain('allow 127.0.0.2 like the other address')
  })

  test('a token that it refused turns out to be the addresses, without another login', async () => {
    mechanisms['adaptive authentication (401)'](lab, 'none')
    const refusal = failure('SERVICENOW_TOKEN_REFUSED', { instance: url(), grant: 'password', reason: 'access_denied' })
    const cause = await diagnoseRefusal(refusal, withPlatform())
    expect(cause?.finding.code).toBe('SERVICENOW_ADDRESS_REFUSED')
    const logins = lab.control.servicenow.requests().filter(({ path }) => path === '/oauth_token.do')
    expect(logins).toEqual([])
  })

  test('of wrong credentials nothing more can be told: they are not shown again', async () => {
    const refusal = failure('SERVICENOW_AUTH_REJECTED', { instance: url(), reason: 'User Not Authenticated' })
    const wrong = withPlatform({ servicenow: platformOf(lab, { password: 'wr0ng-s3cret', grant: 'basic' }) })
    expect(await diagnoseRefusal(refusal, wrong)).toBeUndefined()
    const shown = lab.control.servicenow.requests().filter(({ path }) => path.startsWith('/api/'))
    expect(shown).toHaveLength(1)
  })

  test('an instance that was away, and is not any more, says so', async () => {
    const refusal = failure('SERVICENOW_UNREACHABLE', { instance: url(), observed: 'the connection broke' })
    expect(await diagnoseRefusal(refusal, withPlatform())).toMatchObject({
      isOver: true,
      finding: { code: 'SERVICENOW_UNREACHABLE' },
    })
  })

  test('one that sleeps is named, and what the proxy does not reach is asked as the instance', async () => {
    lab.control.servicenow.hibernate('page')
    const lost = failure('SERVICENOW_UNREACHABLE', { instance: url(), observed: 'the connection broke' })
    expect(await diagnoseRefusal(lost, withPlatform())).toMatchObject({ finding: { code: 'SERVICENOW_HIBERNATING' } })
    const { host } = new URL(url())
    const unreachable = failure('PROXY_TARGET_UNREACHABLE', { proxy: 'p', target: host, observed: 'status 503' })
    expect(await diagnoseRefusal(unreachable, withPlatform())).toMatchObject({
      finding: { code: 'SERVICENOW_HIBERNATING' },
    })
  })
})
