// @module-tag long
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { diagnose } from '../../support/lab/patient-doctor.js'
import { rounds } from '../../support/rounds.js'
import type { DoctorOptions } from '../../../src/route/examine/examine-options.js'
import type { DoctorReport } from '../../../src/programs/doctor/report.js'
import type { ServiceNowOptions } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { mendInstance } from '../../contracts/instance-world.js'
import { proxyKinds } from '../../contracts/options.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
  lab.control.servicenow.seed('incident', 50)
})
afterAll(async () => await lab.close())
afterEach(() => {
  lab.control.heal()
  mendInstance(lab)
})

const basic = { clientId: undefined, clientSecret: undefined }

/** The instance alone, in which nothing is wrong. */
function healthy(servicenow: Partial<ServiceNowOptions> = {}, more: Partial<DoctorOptions> = {}): DoctorOptions {
  const { proxy, proxyCaFile, staticIps, ipCheckUrl, cluster } = lab.line
  const { url, username, password, clientId, clientSecret } = lab.line.servicenow
  return {
    target: {},
    servicenow: { url, username, password, clientId, clientSecret, ca: readFileSync(cluster.caFile), ...servicenow },
    proxy: { url: proxy.http, ca: readFileSync(proxyCaFile) },
    staticIps,
    ipCheckUrl,
    ...more,
  }
}

/** With fewer connections than find an address that is refused. */
function briefly(servicenow: Partial<ServiceNowOptions> = {}, more: Partial<DoctorOptions> = {}): DoctorOptions {
  return healthy(servicenow, { preflightConnections: 3, ...more })
}

function through(url: string): Pick<DoctorOptions, 'proxy'> {
  return { proxy: { url, ca: readFileSync(lab.line.proxyCaFile) } }
}

function named({ findings }: DoctorReport): string[] {
  return findings.map(({ severity, code }) => `${severity} ${code}`)
}

function step({ steps }: DoctorReport, name: string): string {
  const found = steps.find(one => one.name === name)
  if (found === undefined) throw new Error(`no step ${name} among ${steps.map(one => one.name).join(', ')}`)
  return `${found.ok ? 'ok' : 'FAIL'}: ${found.detail}`
}

/** Requests that showed user and password, or a token call, and were refused. */
function refusedLogins(): number {
  const { servicenow } = lab.control
  return servicenow.requests().filter(({ status, path, username }) => {
    const isLogin = path === '/oauth_token.do' || (username === undefined && path.startsWith('/api/'))
    return isLogin && status === 401
  }).length
}

describe('a healthy set-up has no finding', () => {
  const ways: readonly (readonly [string, Partial<ServiceNowOptions>])[] = [
    ['a token from the password grant', {}],
    ['Basic authentication', basic],
  ]
  for (const kind of proxyKinds) {
    for (const [name, servicenow] of ways) {
      test(`over ${kind}, with ${name}`, async () => {
        const { proxy } = lab.line
        const report = await diagnose(healthy(servicenow, { ...through(proxy[kind]), nodes: proxy.nodes }))
        expect(named(report)).toEqual([])
        expect(report.steps.filter(({ ok }) => !ok)).toEqual([])
        expect(report.facts.instanceDoor).toMatchObject({ probes: 16, allowed: 16, refused: 0 })
        expect(report.facts.instanceTable).toMatchObject({
          probes: 16,
          allowed: 16,
          refused: 0,
          total: 50,
          shown: 10,
        })
        expect(report.facts.instanceNodes?.map(({ address, verdict }) => `${address} ${verdict}`)).toEqual([
          '127.0.0.2 allowed',
          '127.0.0.3 allowed',
        ])
        expect(report.facts.instancePast).toEqual({ verdict: 'refused', status: 403 })
        expect(report.requests.sent).toBeLessThanOrEqual(report.requests.atMost)
        expect(step(report, 'login to the instance')).toBe(`ok: ${name}`)
      })
    }
  }

  test('with the cluster: both ways are walked, and the proxy is asked once', async () => {
    const { cluster } = lab.line
    const target = { url: cluster.url, apiKey: cluster.apiKey, ca: readFileSync(cluster.caFile) }
    const report = await diagnose(healthy({}, { target }))
    expect(named(report)).toEqual([])
    const names = report.steps.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names).toEqual(expect.arrayContaining(['IP filter', 'proxy protocol', 'table of the instance']))
    expect(report.requests.sent).toBeLessThanOrEqual(report.requests.atMost)
  })

  test.each([
    ['a policy of the Table API', () => lab.control.servicenow.setAccessPolicy('table', pair())],
    ['adaptive authentication', () => lab.control.servicenow.setAdaptiveAuthentication(pair())],
  ])('where %s lists both addresses, and nothing else does', async (_, restrict) => {
    lab.control.servicenow.register('open')
    restrict()
    const codes = named(await diagnose(healthy()))
    expect(codes.filter(code => !code.startsWith('info'))).toEqual([])
  })

  test('with a user who may not read the default table', async () => {
    lab.control.servicenow.addAcl({ table: 'incident' })
    const report = await diagnose(healthy())
    expect(named(report)).toEqual([])
    expect(step(report, 'table of the instance')).toContain('this user cannot read incident')
  })
})

function pair(addresses: readonly string[] = lab.line.staticIps) {
  return addresses.map(address => ({ from: address, to: address }))
}

describe('addresses', () => {
  const mechanisms = {
    'IP Address Access Control': which => lab.control.servicenow.register(which),
    'a policy of the Table API': which => {
      lab.control.servicenow.setAccessPolicy('table', pair(listed(which)))
    },
    'adaptive authentication, 401': which => {
      lab.control.servicenow.register('open')
      lab.control.servicenow.setAdaptiveAuthentication(pair(listed(which)), 401)
    },
    'adaptive authentication, 403': which => {
      lab.control.servicenow.register('open')
      lab.control.servicenow.setAdaptiveAuthentication(pair(listed(which)), 403)
    },
  } satisfies Record<string, (which: 'first' | 'second' | 'none') => void>
  const listed = (which: 'first' | 'second' | 'none') =>
    lab.line.staticIps.filter((_, at) => which === (at === 0 ? 'first' : 'second'))

  for (const [at, [mechanism, restrict]] of Object.entries(mechanisms).entries()) {
    // Each mechanism has one kind of login. With the searches, it has both.
    for (const servicenow of [{}, basic].filter((_, of) => rounds(0, 1) === 1 || of === at % 2)) {
      const login = servicenow === basic ? 'Basic' : 'OAuth'
      test.each([
        ['first', '127.0.0.3'],
        ['second', '127.0.0.2'],
      ] as const)(`${mechanism}, ${login}: with the %s alone, %s is named by its node`, async (which, address) => {
        restrict(which)
        const report = await diagnose(healthy(servicenow, { nodes: lab.line.proxy.nodes }))
        expect(named(report)[0]).toBe('error SERVICENOW_PARTLY_ALLOWED')
        expect(report.findings[0]).toMatchObject({ evidence: { addresses: [address] } })
        expect(report.next).toContain(`allow ${address} like the other address`)
        expect(report.findings.filter(({ severity }) => severity === 'error')).toHaveLength(1)
      })

      test(`${mechanism}, ${login}: with neither`, async () => {
        restrict('none')
        const report = await diagnose(healthy(servicenow))
        expect(named(report)[0]).toBe('error SERVICENOW_ADDRESS_REFUSED')
        expect(report.findings.filter(({ severity }) => severity === 'error')).toHaveLength(1)
        expect(report.next).toContain('allow 127.0.0.2 and 127.0.0.3')
      })
    }
  }

  test('without the proxy that is meant to be used, and why it is not', async () => {
    const report = await diagnose(healthy({}, { proxy: undefined }))
    expect(named(report)).toEqual(['error PROXY_NOT_USED', 'error SERVICENOW_ADDRESS_REFUSED'])
    const { cluster } = lab.line
    const target = { url: cluster.url, apiKey: cluster.apiKey, ca: readFileSync(cluster.caFile) }
    const codes = named(await diagnose(healthy({}, { proxy: undefined, target })))
    expect(codes.filter(code => code === 'error PROXY_NOT_USED')).toHaveLength(1)
    expect(codes).toContain('error SERVICENOW_ADDRESS_REFUSED')
  })

  test('without a node, one that is missing is certain, and how to learn which is told', async () => {
    lab.control.servicenow.register('first')
    const report = await diagnose(healthy())
    expect(named(report)).toEqual(['error SERVICENOW_PARTLY_ALLOWED'])
    expect(report.findings[0]?.message).toContain('run `sluice doctor --nodes URL,URL` with the URL of each proxy node')
    expect(report.next).toContain('to allow the missing one of 127.0.0.2 and 127.0.0.3 like the other address')
    expect(refusedLogins()).toBeLessThanOrEqual(1)
  })

  test('an instance that answers this machine too is worth knowing, and no alarm', async () => {
    lab.control.servicenow.register('open')
    expect(named(await diagnose(healthy()))).toEqual(['info SERVICENOW_NOT_ENFORCED'])
    expect(named(await diagnose(healthy({}, { directCheck: false })))).toEqual([])
  })

  test('a policy of the token endpoint that lists one address', async () => {
    lab.control.servicenow.setAccessPolicy('oauth', pair(['127.0.0.2']))
    const codes: string[] = []
    for (let round = 0; round < 4; round += 1) {
      const [first] = named(await diagnose(healthy()))
      codes.push(first ?? 'nothing')
    }
    // If the first call came from the address that is listed, nothing is wrong with it.
    const others = codes.filter(code => code !== 'nothing' && code !== 'error SERVICENOW_PARTLY_ALLOWED')
    // Once in 250 rounds, all calls for a token come from the other one.
    expect(others.length, others.join()).toBeLessThan(2)
    expect(others.filter(code => code !== 'error SERVICENOW_TOKEN_REFUSED')).toEqual([])
  })
})

describe('logins', () => {
  const wrong = 'wr0ng-s3cret'

  test('a wrong client secret: the user is right', async () => {
    const report = await diagnose(briefly({ clientSecret: wrong }))
    expect(named(report)).toEqual(['error SERVICENOW_TOKEN_REFUSED'])
    expect(report.findings[0]?.message).toContain('user and password are right')
    expect(report.findings[0]?.message).toContain('Without the proxy, the instance refuses this machine')
  })

  test('a wrong password is shown once for each kind of login', async () => {
    const token = await diagnose(briefly({ password: wrong }))
    expect(named(token)).toEqual(['error SERVICENOW_TOKEN_REFUSED'])
    const passwords = lab.control.servicenow.requests().filter(({ path, query }) => {
      return path === '/oauth_token.do' || (path.startsWith('/api/') && query['sysparm_no_count'] === 'true')
    })
    // The third is client_credentials, which shows no password.
    expect(passwords).toHaveLength(3)
    lab.control.servicenow.forgetRequests()
    const report = await diagnose(briefly({ ...basic, password: wrong }))
    expect(named(report)).toEqual(['error SERVICENOW_AUTH_REJECTED'])
    // One of these asked without credentials, whether the instance is awake.
    expect(refusedLogins()).toBe(3)
  })

  test('a wrong password, where the client is right', async () => {
    lab.control.servicenow.allowClientCredentials(true)
    const report = await diagnose(briefly({ password: wrong }))
    expect(report.findings[0]?.message).toContain('client id and secret are right')
  })

  test.each([
    ['inactive', { active: false }],
    ['locked out', { lockedOut: true }],
  ])('a user who is %s', async (_, change) => {
    lab.control.servicenow.changeUser(lab.line.servicenow.username, change)
    expect(named(await diagnose(briefly()))).toEqual(['error SERVICENOW_TOKEN_REFUSED'])
    expect(named(await diagnose(briefly(basic)))).toEqual(['error SERVICENOW_AUTH_REJECTED'])
  })

  test('a grant that the entry does not have, and an entry that is missing', async () => {
    lab.control.servicenow.changeClient(lab.line.servicenow.clientId, { grants: ['authorization_code'] })
    expect(named(await diagnose(briefly()))).toEqual(['error SERVICENOW_TOKEN_REFUSED'])
    expect(named(await diagnose(briefly({ clientId: 'f'.repeat(32) })))).toEqual(['error SERVICENOW_TOKEN_REFUSED'])
    const report = await diagnose(briefly({ grant: 'client_credentials' }))
    expect(report.findings[0]).toMatchObject({
      code: 'SERVICENOW_TOKEN_REFUSED',
      evidence: { grant: 'client_credentials' },
    })
  })

  test('Basic authentication that is forbidden, where the same user gets a token', async () => {
    lab.control.servicenow.allowBasic(false)
    const report = await diagnose(briefly({ grant: 'basic' }))
    expect(named(report)).toEqual(['error SERVICENOW_BASIC_FORBIDDEN'])
    expect(named(await diagnose(briefly(basic)))).toEqual(['error SERVICENOW_AUTH_REJECTED'])
    expect(named(await diagnose(briefly()))).toEqual([])
  })

  test('a refresh token that is none', async () => {
    const report = await diagnose(briefly({ refreshToken: wrong, username: undefined, password: undefined }))
    expect(report.findings[0]).toMatchObject({ code: 'SERVICENOW_TOKEN_REFUSED', evidence: { grant: 'refresh_token' } })
    expect(JSON.stringify(report)).not.toContain(wrong)
  })

  test('without a login', async () => {
    const options = briefly({ grant: 'authorization_code', username: undefined, password: undefined })
    expect(named(await diagnose(options))).toEqual(['error SERVICENOW_LOGIN_NEEDED'])
  })
})

describe('the instance', () => {
  test.each(['page', 'redirect'] as const)('that hibernates, with a %s', async how => {
    lab.control.servicenow.hibernate(how)
    expect(named(await diagnose(briefly()))).toEqual(['error SERVICENOW_HIBERNATING'])
  })

  test('whose limit is spent', async () => {
    lab.control.servicenow.limitRate({ requests: 0 })
    const report = await diagnose(briefly())
    expect(named(report)).toEqual(['error SERVICENOW_RATE_LIMITED'])
    expect(report.facts.instanceTable?.probes).toBe(1)
  })

  test('that is the cluster, or does not answer, or has an unknown authority', async () => {
    const { cluster } = lab.line
    expect(named(await diagnose(briefly({ url: cluster.url })))[0]).toBe('error SERVICENOW_NOT_AN_INSTANCE')
    expect(named(await diagnose(briefly({ url: 'https://127.0.0.1:1' })))).toEqual(['error PROXY_TARGET_UNREACHABLE'])
    const report = await diagnose(briefly({ ca: undefined }))
    expect(named(report)).toEqual(['error SERVICENOW_CERT_INVALID'])
    expect(report.findings[0]).toMatchObject({ evidence: { certificate: 'authority' } })
    expect(report.next).toContain('--servicenow-ca')
  })

  test('with a path in its address', async () => {
    const report = await diagnose(briefly({ url: `${lab.line.servicenow.url}/api` }))
    expect(named(report)).toEqual(['error OPTION_INVALID'])
  })

  test('whose table is not there, or not for this user', async () => {
    expect(named(await diagnose(briefly({}, { table: 'incidents' })))).toEqual(['error SERVICENOW_TABLE_UNKNOWN'])
    lab.control.servicenow.addAcl({ table: 'incident', query: 'sys_idISNOTEMPTY' })
    expect(named(await diagnose(briefly({}, { table: 'incident' })))).toEqual(['warning SERVICENOW_ACCESS_DENIED'])
    lab.control.servicenow.addAcl({ table: 'incident' })
    expect(named(await diagnose(briefly({}, { table: 'incident' })))).toEqual(['error SERVICENOW_ACCESS_DENIED'])
  })

  test('behind a proxy that refuses the login: the proxy is named, once', async () => {
    const wrongProxy = lab.line.proxy.http.replace(/:[^:@]+@/, ':wrong@')
    expect(named(await diagnose(briefly({}, through(wrongProxy))))).toEqual(['error PROXY_AUTH_REJECTED'])
    const { cluster } = lab.line
    const target = { url: cluster.url, apiKey: cluster.apiKey, ca: readFileSync(cluster.caFile) }
    expect(named(await diagnose(briefly({}, { ...through(wrongProxy), target })))).toEqual([
      'error PROXY_AUTH_REJECTED',
    ])
  })
})
