import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { diagnoseRefusal } from '../../src/doctor/after-refusal.js'
import type { DoctorOptions } from '../../src/doctor/doctor-options.js'
import { failure } from '../../src/failure/failure.js'
import { type Lab, startLab } from '../../src/lab/index.js'

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
  expect(cause?.finding.message).toContain('the same command goes on where it stopped')
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

test('a node that is written wrong in --nodes has refused nobody', async () => {
  expect(await diagnoseRefusal(refused(), options({ nodes: ['nonsense'] }))).toMatchObject({ isOver: true })
})
