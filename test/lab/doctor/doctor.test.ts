import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { diagnose } from '../../support/lab/patient-doctor.js'
import { longUnless } from '../../support/long.js'
import type { DoctorOptions } from '../../../src/route/examine/examine-options.js'
import { portSpeaks } from '../../../src/route/proxy/port-speaks.js'
import type { DoctorReport } from '../../../src/programs/doctor/report.js'
import { connect } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { startFront } from '../../contracts/mixing-front.js'
import { createSigner } from '../../diagnosis/certificates.js'
import { showing } from '../../diagnosis/listeners.js'
import { clusterSchemes, proxyKinds, usualPair } from '../../contracts/options.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())
afterEach(() => {
  lab.control.heal()
  lab.control.register('both')
})

type Target = DoctorOptions['target']

/** The lab's own set-up, in which nothing is wrong. */
function healthy(more: Partial<DoctorOptions> = {}, target: Partial<Target> = {}): DoctorOptions {
  const { cluster, proxy, proxyCaFile, staticIps, ipCheckUrl } = lab.line
  return {
    target: { url: cluster.url, apiKey: cluster.apiKey, ca: readFileSync(cluster.caFile), ...target },
    proxy: { url: proxy.http, ca: readFileSync(proxyCaFile) },
    staticIps,
    ipCheckUrl,
    ...more,
  }
}

/** Leaves out latency: a busy machine has some without a proxy far away. */
function named({ findings }: DoctorReport): string[] {
  const seen = findings.filter(({ code }) => code !== 'LATENCY_CROSS_REGION')
  return seen.map(({ severity, code }) => `${severity} ${code}`)
}

function step({ steps }: DoctorReport, name: string): string {
  const found = steps.find(one => one.name === name)
  if (found === undefined) throw new Error(`no step ${name}`)
  return `${found.ok ? 'ok' : 'FAIL'}: ${found.detail}`
}

/** Another proxy, with the authority that vouches for those that speak TLS. */
function through(url: string): Pick<DoctorOptions, 'proxy'> {
  return { proxy: { url, ca: readFileSync(lab.line.proxyCaFile) } }
}

/** Through the filter, by the door that is open to everybody for a moment. */
async function makeIndex(name: string): Promise<void> {
  lab.control.register('everyone')
  const { httpUrl, apiKey } = lab.line.cluster
  const answer = await fetch(`${httpUrl}/${name}`, { method: 'PUT', headers: { authorization: `ApiKey ${apiKey}` } })
  expect(answer.status).toBe(200)
  lab.control.register('both')
}

/** With fewer connections than find an address that is refused. */
function briefly(more: Partial<DoctorOptions> = {}, target: Partial<Target> = {}): DoctorOptions {
  return healthy({ preflightConnections: 3, ...more }, target)
}

describe('a healthy set-up has no finding', () => {
  for (const kind of proxyKinds) {
    for (const scheme of clusterSchemes) {
      test(
        `over ${kind} to ${scheme}`,
        longUnless(usualPair.some(pair => pair.join() === [kind, scheme].join())),
        async () => {
          const { cluster, proxy } = lab.line
          const url = scheme === 'https' ? cluster.url : cluster.httpUrl
          const report = await diagnose(healthy({ ...through(proxy[kind]), nodes: proxy.nodes }, { url }))
          expect(named(report)).toEqual([])
          expect(report).toMatchObject({ ok: true, policy: { rules: ['127.0.0.2/32', '127.0.0.3/32'] } })
          expect(report.steps.filter(({ ok }) => !ok)).toEqual([])
          expect(report.facts.filter).toMatchObject({ probes: 16, allowed: 16, refused: 0 })
          expect(report.facts.nodes?.map(({ address, verdict }) => `${address} ${verdict}`)).toEqual([
            '127.0.0.2 allowed',
            '127.0.0.3 allowed',
          ])
          expect(report.requests.sent).toBeLessThanOrEqual(report.requests.atMost)
        },
      )
    }
  }

  test('with a key that may load and nothing else', async () => {
    const { leastPrivilegeApiKey: apiKey } = lab.line.cluster
    const report = await diagnose(healthy({ index: 'least-logs' }, { apiKey }))
    expect(named(report)).toEqual([])
    expect(step(report, 'credentials and privileges')).toBe(
      'ok: an API key that belongs to elastic, may load into least-logs',
    )
  })

  test('with a user and a password, an index, and a document that is written, read it and deleted it', async () => {
    await makeIndex('checked')
    const { username, password } = lab.line.cluster
    const report = await diagnose(
      healthy({ index: 'checked', writeCheck: true }, { apiKey: undefined, username, password }),
    )
    expect(named(report)).toEqual([])
    expect(step(report, 'write, read and delete')).toBe(
      'ok: Sluice wrote one document to checked, read it and deleted it',
    )
    expect(lab.control.count('checked')).toBe(0)
  })

  test('without a proxy, on a cluster that is open', async () => {
    lab.control.register('everyone')
    const report = await diagnose(healthy({ proxy: undefined, staticIps: undefined }))
    expect(named(report)).toEqual([])
    expect(report.facts.filter).toMatchObject({ probes: 1, allowed: 1 })
    expect(report.policy).toBeUndefined()
  })
})

describe('the IP filter', () => {
  test('with one address registered: the share that is refused, and how to learn which', async () => {
    lab.control.register('first')
    const report = await diagnose(healthy())
    expect(named(report)).toEqual(['error EGRESS_PARTLY_ALLOWED'])
    const { refused = 0, allowed = 0, probes } = report.facts.filter ?? {}
    expect({ probes, sum: refused + allowed }).toEqual({ probes: 16, sum: 16 })
    expect(report.findings[0]?.message).toContain('run `sluice doctor --nodes URL,URL` with the URL of each proxy node')
    expect(report.next).toContain('the missing one of 127.0.0.2/32 and 127.0.0.3/32')
  })

  test.each([
    ['first', '127.0.0.3'],
    ['second', '127.0.0.2'],
  ] as const)('with the %s address registered, a node alone tells that %s is refused', async (which, address) => {
    lab.control.register(which)
    const report = await diagnose(healthy({ nodes: lab.line.proxy.nodes }))
    expect(named(report)).toEqual(['error EGRESS_PARTLY_ALLOWED'])
    expect(report.findings[0]).toMatchObject({ evidence: { addresses: [address] } })
    expect(report.findings[0]?.message).toContain(`Blocked: ${address}`)
    expect(report.next).toContain(`Add ${address}/32 to the policy`)
  })

  test.each(['long', 'short', 'text'] as const)(
    'with none registered, however it says so (%s)',
    { tags: 'long' },
    async body => {
      lab.control.setFilterBody(body)
      lab.control.register('none')
      const report = await diagnose(healthy())
      lab.control.setFilterBody('long')
      expect(named(report)).toEqual(['error EGRESS_NOT_ALLOWED'])
      expect(report.findings[0]?.message).toMatch(/The connections left from 127\.0\.0\.[23] and 127\.0\.0\.[23]/)
      expect(report.next).toContain('Add 127.0.0.2/32 and 127.0.0.3/32 to one IP filter policy')
    },
  )

  test('with a rule for this machine and none for the proxy: both are named, the cause first', async () => {
    lab.control.register('none')
    const { id } = lab.control.createPolicy({ name: 'this machine', rules: ['127.0.0.1/32'] })
    lab.control.attachPolicy(id)
    const report = await diagnose(healthy())
    expect(named(report)).toEqual(['error EGRESS_NOT_ALLOWED', 'warning FILTER_COVERS_CLIENT'])
    expect(step(report, 'cluster without the proxy')).toBe('FAIL: answers (status 401)')
  })

  test.each(['unattached', 'both+everyone'] as const)(
    'that lets everybody through (%s)',
    { tags: 'long' },
    async which => {
      lab.control.register(which)
      expect(named(await diagnose(healthy()))).toEqual(['error FILTER_NOT_ENFORCED'])
      const left = await diagnose(healthy({ directCheck: false }))
      expect(named(left)).toEqual([])
      expect(step(left, 'cluster without the proxy')).toBe('ok: skipped: --no-direct-check is set')
    },
  )

  test('without a proxy refuses this machine, and the reason is told', async () => {
    const report = await diagnose(healthy({ proxy: undefined }))
    expect(named(report)).toEqual(['error PROXY_NOT_USED', 'error EGRESS_NOT_ALLOWED'])
    expect(report.findings[1]?.message).toContain('No proxy was used')
  })

  test('is found although the credentials are wrong, and these are found as well', async () => {
    lab.control.register('first')
    const report = await diagnose(healthy({}, { apiKey: Buffer.from('wrong:key').toString('base64') }))
    expect(named(report)).toEqual(['error EGRESS_PARTLY_ALLOWED', 'error CLUSTER_AUTH_REJECTED'])
  })
})

describe('the proxy', () => {
  const rows: readonly [string, string, (proxy: Lab['line']['proxy']) => string][] = [
    ['http to the SOCKS5 port', 'PROXY_PORT_IS_SOCKS', ({ http, socks5 }) => withPort(http, socks5)],
    ['http to the TLS port', 'PROXY_TLS_MISMATCH', ({ http, https }) => withPort(http, https)],
    ['https to the plain port', 'PROXY_TLS_MISMATCH', ({ http, https }) => withPort(https, http)],
    ['https to the SOCKS5 port', 'PROXY_PORT_IS_SOCKS', ({ https, socks5 }) => withPort(https, socks5)],
    ['https to the port of SOCKS5 inside TLS', 'PROXY_PORT_IS_SOCKS', ({ https, socks5s }) => withPort(https, socks5s)],
    ['socks5 to the HTTP port', 'PROXY_PORT_IS_HTTP', ({ http, socks5 }) => withPort(socks5, http)],
    ['socks5 to the TLS port', 'PROXY_PORT_IS_HTTP', ({ https, socks5 }) => withPort(socks5, https)],
    [
      'socks5 to the port of SOCKS5 inside TLS',
      'PROXY_TLS_MISMATCH',
      ({ socks5, socks5s }) => withPort(socks5, socks5s),
    ],
    ['socks5s to the plain SOCKS5 port', 'PROXY_TLS_MISMATCH', ({ socks5, socks5s }) => withPort(socks5s, socks5)],
    ['socks5s to the HTTP port', 'PROXY_PORT_IS_HTTP', ({ http, socks5s }) => withPort(socks5s, http)],
  ]
  test.each(rows)('%s: %s', { tags: 'long' }, async (_, code, url) => {
    const report = await diagnose(healthy(through(url(lab.line.proxy))))
    expect(named(report)).toEqual([`error ${code}`])
    expect(step(report, 'IP filter')).toBe('ok: skipped: the port speaks another protocol')
  })

  for (const kind of proxyKinds) {
    for (const scheme of clusterSchemes) {
      test(`refuses credentials over ${kind} to ${scheme}`, longUnless(kind === 'http'), async () => {
        const { cluster, proxy } = lab.line
        const wrong = proxy[kind].replace(/:[^:@]+@/, ':wrong@')
        const url = scheme === 'https' ? cluster.url : cluster.httpUrl
        const report = await diagnose(healthy(through(wrong), { url }))
        expect(named(report)).toEqual(['error PROXY_AUTH_REJECTED'])
        expect(step(report, 'addresses behind the proxy')).toBe('ok: skipped: the proxy cannot be used')
      })
    }
  }

  test('is not there', async () => {
    const report = await diagnose(healthy(through('http://user:pass@127.0.0.1:9')))
    expect(named(report)).toEqual(['error PROXY_UNREACHABLE'])
    expect(step(report, 'proxy address')).toContain('ECONNREFUSED')
  })

  test('has a certificate of an unknown authority', async () => {
    const report = await diagnose(healthy({ proxy: lab.line.proxy.https }))
    expect(named(report)).toEqual(['error PROXY_CERT_INVALID'])
    expect(report.findings[0]?.message).toContain('localhost, issued by Sluice lab authority')
  })

  test.each(clusterSchemes)('keeps silent (%s)', async scheme => {
    lab.control.plant({ handshake: { kind: 'silence' } })
    const { cluster } = lab.line
    const url = scheme === 'https' ? cluster.url : cluster.httpUrl
    const report = await diagnose(healthy({ timeoutMs: 300 }, { url }))
    expect(named(report)).toEqual(['error PROXY_TIMEOUT'])
  })

  test.each(['fin', 'rst'] as const)('ends every connection (%s)', async kind => {
    lab.control.plant({ handshake: { kind } })
    expect(named(await diagnose(healthy()))).toEqual(['error PROXY_UNREACHABLE'])
  })

  test('has one node that is away: nothing is in the way, and it is told', async () => {
    lab.control.plant({ nodeDown: { node: 'second', failover: true } })
    const report = await diagnose(healthy({ nodes: lab.line.proxy.nodes }))
    expect(named(report)).toEqual(['warning PROXY_UNREACHABLE'])
    expect(report.ok).toBe(true)
  })

  test('that always leaves from one address is told, with the chance of being wrong', async () => {
    lab.control.plant({ nodeDown: { node: 'second', failover: true } })
    const report = await diagnose(healthy(through(lab.line.proxy.socks5)))
    expect(named(report)).toEqual(['info EGRESS_ONE_ADDRESS'])
    expect(report.findings[0]).toMatchObject({ evidence: { address: '127.0.0.2', connections: 16, chance: '0.003%' } })
  })

  test('leaves from other addresses than the dashboard shows', async () => {
    const report = await diagnose(healthy({ staticIps: ['192.0.2.1', '192.0.2.2'] }))
    expect(named(report)[0]).toBe('error EGRESS_UNEXPECTED')
  })
})

describe.each(proxyKinds)('a port that speaks %s', speaks => {
  test.each(proxyKinds)('is known by a doctor that expects %s', async expected => {
    const asked: string[] = []
    const port = Number(/:(\d+)$/.exec(lab.line.proxy[speaks])?.[1])
    const onAsk = () => void asked.push(expected)
    const { spoken, certificate } = await portSpeaks(expected, {
      host: '127.0.0.1',
      port,
      // Only a port of another protocol may say nothing.
      promptMs: speaks === expected ? 60_000 : 400,
      limitMs: 60_000,
      onAsk,
      signal: undefined,
    })
    expect(spoken).toBe(speaks)
    expect(asked.length).toBeLessThanOrEqual(speaks === expected ? 1 : 5)
    expect(certificate?.subject).toBe(speaks === 'https' || speaks === 'socks5s' ? 'CN=localhost' : undefined)
  })
})

describe('in other worlds', () => {
  test('a proxy that chooses the address for each connection of its own has no finding, and one missing address is found', async () => {
    await using other = await startLab({ egressPer: 'upstream' })
    const { cluster, proxy, staticIps, ipCheckUrl } = other.line
    const options = {
      target: { url: cluster.httpUrl, apiKey: cluster.apiKey },
      proxy: proxy.http,
      staticIps,
      ipCheckUrl,
    }
    expect(named(await diagnose(options))).toEqual([])
    other.control.register('second')
    expect(named(await diagnose(options))).toEqual(['error EGRESS_PARTLY_ALLOWED'])
  })

  test.each(['8.19.5', 'serverless'] as const)('Elasticsearch %s has no finding', { tags: 'long' }, async version => {
    await using other = await startLab({ version })
    const { cluster, proxy, staticIps } = other.line
    const target = { url: cluster.url, apiKey: cluster.apiKey, ca: readFileSync(cluster.caFile) }
    const report = await diagnose({ target, proxy: proxy.http, staticIps, index: 'logs' })
    expect(named(report)).toEqual([])
    expect(step(report, 'addresses behind the proxy')).toContain('skipped: no address check is set')
  })
})

function withPort(url: string, other: string): string {
  const port = /:(\d+)$/.exec(other)?.[1]
  return url.replace(/:\d+$/, `:${port}`)
}

describe('options', () => {
  test('that contradict each other are a finding', async () => {
    const { cluster, proxy } = lab.line
    const invalid = await diagnose(healthy({ proxy: 'http://u:p@ss@host.example:9293' }))
    expect(named(invalid)).toEqual(['error PROXY_URL_INVALID'])
    const same = await diagnose(healthy({ proxy: `http://u:p@localhost:${new URL(cluster.url).port}` }))
    expect(named(same)).toEqual(['error CLUSTER_URL_IS_PROXY'])
    const covered = await diagnose(healthy({ proxy: { url: proxy.http, noProxy: 'localhost' } }))
    expect(named(covered)).toEqual(['error PROXY_NOT_USED'])
    const unreadable = await diagnose(healthy({}, { cert: 'no certificate', key: 'no key' }))
    expect(named(unreadable)).toEqual(['error OPTION_INVALID'])
  })

  test('that would send credentials unencrypted: nothing is sent', async () => {
    const url = 'http://cluster.example.com:9200'
    const report = await diagnose(healthy({ directCheck: false }, { url }))
    expect(named(report)).toEqual(['error PLAINTEXT_CREDENTIALS'])
    expect(report.facts.filter).toBeUndefined()
  })
})

describe('the cluster', () => {
  test('cannot be reached by the proxy', async () => {
    const report = await diagnose(briefly({}, { url: 'https://localhost:9' }))
    expect(named(report)).toEqual(['error PROXY_TARGET_UNREACHABLE'])
  })

  test.each([
    ['https://no-such-host.invalid:9243', 'PROXY_TARGET_UNREACHABLE'],
    ['https://192.0.2.1:9243', 'PROXY_DENIED_TARGET'],
    ['https://us-east-1-static-01.proxy.example:9293', 'CLUSTER_URL_IS_PROXY'],
    ['https://my.vpce.us-east-1.aws.elastic-cloud.com', 'CLUSTER_PRIVATE_LINK'],
  ])('is at %s: %s', async (url, code) => {
    const report = await diagnose(briefly({ directCheck: false }, { url }))
    expect(named(report)[0]).toBe(`error ${code}`)
  })

  test('shows a certificate of an unknown authority, which the finding names', async () => {
    const report = await diagnose(briefly({}, { ca: undefined }))
    expect(named(report)).toEqual(['error CLUSTER_CERT_INVALID'])
    expect(report.findings[0]).toMatchObject({ evidence: { certificate: 'authority', subject: 'localhost' } })
  })

  test('shows a certificate for another host', async () => {
    const url = lab.line.cluster.url.replace('localhost', 'other.localhost')
    const report = await diagnose(briefly({ directCheck: false }, { url }))
    expect(named(report)).toEqual(['error CLUSTER_CERT_INVALID'])
    expect(report.findings[0]).toMatchObject({ evidence: { certificate: 'proxy' } })
  })

  test.each([
    ['unknown-resource', 'CLUSTER_UNKNOWN_HOST'],
    ['unavailable', 'CLUSTER_UNAVAILABLE'],
  ] as const)('is answered for by the hosting service: %s', async (edge, code) => {
    lab.control.plant({ edge })
    expect(named(await diagnose(briefly()))).toEqual([`error ${code}`])
  })

  test('refuses the credentials', async () => {
    const report = await diagnose(briefly({ index: 'logs' }, { apiKey: Buffer.from('wrong:key').toString('base64') }))
    expect(named(report)).toEqual(['error CLUSTER_AUTH_REJECTED'])
    expect(step(report, 'credentials and privileges')).toBe('ok: skipped: the cluster refuses the credentials')
  })

  test('refuses a key that was not copied in its encoded form, and this is told', async () => {
    const apiKey = Buffer.from(lab.line.cluster.apiKey, 'base64').toString()
    const report = await diagnose(briefly({}, { apiKey }))
    expect(named(report)).toEqual(['error CLUSTER_AUTH_REJECTED'])
    expect(report.findings[0]?.message).toMatch(/\. The API key is not in its encoded form/)
    expect(JSON.stringify(report)).not.toContain(apiKey)
  })

  test.each([
    ['an API key as user', { username: 'KEY', password: '' }, 'The user name is an encoded API key'],
    ['an API key as password', { username: 'elastic', password: 'KEY' }, 'The password is an encoded API key'],
    ['user name and password swapped', { username: 'hunter2-hunter2', password: 'elastic' }, 'probably swapped'],
    ['the password as both', { username: 'hunter2-hunter2', password: 'hunter2-hunter2' }, 'are the same'],
  ])('refuses %s, and this is told by doctor and load', async (_, { username, password }, says) => {
    const key = Buffer.from('VuaCfGcBCdbkQm-e5aOx:ui2lp2axTNmsyakw9tvNnw').toString('base64')
    const login = { apiKey: undefined, username: username.replace('KEY', key), password: password.replace('KEY', key) }
    const report = await diagnose(briefly({}, login))
    expect(named(report)).toEqual(['error CLUSTER_AUTH_REJECTED'])
    const { target, proxy } = healthy({}, login)
    const refused: unknown = await connect({ target, proxy, preflightConnections: 1 }).catch((error: unknown) => error)
    for (const told of [report.findings[0], refused]) {
      expect(told).toMatchObject({ message: expect.stringContaining(says) as string })
      for (const secret of [key, 'hunter2-hunter2']) expect(inspect(told, { depth: 9 })).not.toContain(secret)
    }
  })

  test('lets the credentials do nothing with this index', async () => {
    const { leastPrivilegeApiKey: apiKey } = lab.line.cluster
    const report = await diagnose(briefly({ index: 'other-logs' }, { apiKey }))
    expect(named(report)).toEqual(['error CLUSTER_PRIVILEGE_MISSING'])
    expect(report.next).toBe('Grant create_doc on other-logs to the API key or role.')
  })

  test('has an index that takes no writes', async () => {
    await makeIndex('frozen')
    lab.control.register('everyone')
    const { httpUrl, apiKey } = lab.line.cluster
    await fetch(`${httpUrl}/frozen/_settings`, {
      method: 'PUT',
      headers: { authorization: `ApiKey ${apiKey}`, 'content-type': 'application/json' },
      body: '{"index.blocks.write":true}',
    })
    lab.control.register('both')
    const report = await diagnose(briefly({ index: 'frozen' }))
    expect(named(report)).toEqual(['error INDEX_BLOCKED'])
    expect(report.findings[0]?.message).toContain('index.blocks.write')
  })

  test('is far away: the latency is told, and is nothing to mend', { tags: 'long' }, async () => {
    lab.control.plant({ latencyMs: 60 })
    const report = await diagnose(briefly())
    expect(report.findings.map(({ code }) => code)).toEqual(['LATENCY_CROSS_REGION'])
    expect(report).toMatchObject({ ok: true })
    expect(report.next).toBeUndefined()
  })
})

test('a clock that is wrong is told', async () => {
  const report = await diagnose(briefly(), { today: () => Date.now() + 3_600_000 })
  expect(named(report)).toEqual(['warning CLOCK_SKEW'])
  expect(report.findings[0]?.message).toMatch(/^the clock of this machine is 3,60[0-2] s ahead of that of the cluster$/)
})

test('an index that does not exist is not made by the write check', async () => {
  const report = await diagnose(briefly({ index: 'never-made', writeCheck: true }))
  expect(step(report, 'write, read and delete')).toContain('skipped: the index does not exist yet')
  expect(lab.control.count('never-made')).toBe(0)
})

test('an abort ends it', async () => {
  lab.control.plant({ handshake: { kind: 'silence' } })
  const controller = new AbortController()
  const running = diagnose(briefly({ signal: controller.signal }))
  controller.abort('SIGINT')
  await expect(running).rejects.toBe('SIGINT')
})

test('a proxy that opens TLS is named, with both issuers, and the advice is the CA of the company', async () => {
  await using opener = await showing(await (await createSigner()).issue(['localhost', '127.0.0.1']))
  const ports = { barred: 1, busy: 1, unwell: 1, tls: opener.port, foreign: 1, credentials: 1 }
  await using front = await startFront({ nodes: lab.line.proxy.nodes, ports, ends: ['tls'] })
  const report = await diagnose(healthy(through(front.url)))
  const [first] = report.findings
  expect(first).toMatchObject({ code: 'CLUSTER_CERT_INVALID', evidence: { certificate: 'intercepted' } })
  expect(first?.message).toMatch(/issued by .+ Without the proxy, .+ on the route opens TLS/)
  expect(report.next).toContain('pass the CA of your company with --ca FILE')

  // Without the look past the proxy, the interceptor is still the first thought.
  const alone = await diagnose(healthy({ ...through(front.url), directCheck: false }))
  expect(alone.next).toContain('a proxy of your company opens TLS')
})
