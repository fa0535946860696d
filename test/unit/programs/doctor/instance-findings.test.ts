import { describe, expect, test } from 'vitest'
import type { ConnectionSeen, Facts, LoginSeen, TableSeen, VerdictsSeen } from '../../../../src/route/examine/facts.js'
import { findingsOf } from '../../../../src/programs/doctor/findings.js'
import { nextStep } from '../../../../src/programs/doctor/next-step.js'
import { failure } from '../../../../src/base/failure/failure.js'

const url = 'https://instance.example'
const proxy = 'http://eu-west-1-static-01.proxy.example:9293'
const stands: ConnectionSeen = { layers: [] }
const open: VerdictsSeen = { probes: 16, allowed: 16, refused: 0, broken: 0, missChance: 2 ** -16 }
const table: TableSeen = { ...open, table: 'incident', total: 50, shown: 10 }
const taken: LoginSeen = { isTaken: true, tried: ['the token call'] }

/** Facts of a way that is open, with some that are not. */
function facts(more: Partial<Facts>): Facts {
  return {
    cluster: '',
    proxy,
    instance: { url, grant: 'password', proxy },
    instanceConnection: stands,
    instanceAwake: { status: 401 },
    instanceDoor: open,
    instancePast: { verdict: 'refused', status: 403 },
    instanceLogin: taken,
    instanceTable: table,
    ...more,
  }
}

function codes(more: Partial<Facts>): string[] {
  return findingsOf(facts(more)).map(({ severity, code }) => `${severity} ${code}`)
}

function first(more: Partial<Facts>) {
  const [one] = findingsOf(facts(more))
  if (one === undefined) throw new Error('no finding')
  return one
}

/** What was not asked. */
const nothing = undefined as never

test('a way that is open has no finding', () => {
  expect(codes({})).toEqual([])
})

describe('addresses', () => {
  const all = { ...open, allowed: 0, refused: 16, status: 403 }
  const some = { ...open, allowed: 9, refused: 7, status: 403 }
  const behind = { instanceLogin: nothing, instanceTable: nothing }

  test('are named before what follows from them', () => {
    const refused = failure('SERVICENOW_TOKEN_REFUSED', { instance: url, grant: 'password', reason: 'access_denied' })
    const login: LoginSeen = { isTaken: false, tried: ['the token call'], failure: refused }
    expect(codes({ instanceDoor: all, ...behind, instanceLogin: login })).toEqual(['error SERVICENOW_ADDRESS_REFUSED'])
    expect(codes({ instanceDoor: some, ...behind, instanceLogin: login })).toEqual(['error SERVICENOW_PARTLY_ALLOWED'])
  })

  test('are told with where they left from, and with the chance that it is only one', () => {
    const egress = { seen: { '192.0.2.2': 1, '192.0.2.1': 2 }, asked: 3 }
    const { message, evidence } = first({ instanceDoor: all, ...behind, egress })
    expect(message).toContain(
      'IP Address Access Control. The connections left from 192.0.2.1 and 192.0.2.2. Chance that one address',
    )
    expect(evidence).toMatchObject({ refused: 16, asked: 16, status: 403 })
  })

  test('without a proxy it is said that there was none', () => {
    const direct = { instance: { url, grant: 'password' }, proxy: nothing }
    const { message } = first({ ...direct, instanceDoor: { ...all, probes: 1, refused: 1 }, ...behind })
    expect(message).toContain('No proxy was used')
  })

  test('a node alone tells which', () => {
    const instanceNodes = [
      { node: 'a', address: '192.0.2.1', verdict: 'allowed' },
      { node: 'b', address: '192.0.2.2', verdict: 'refused' },
    ] as const
    const given = facts({ instanceDoor: some, ...behind, instanceNodes, staticIps: ['192.0.2.1', '192.0.2.2'] })
    const found = findingsOf(given)
    expect(found[0]).toMatchObject({
      code: 'SERVICENOW_PARTLY_ALLOWED',
      evidence: { addresses: ['192.0.2.2'], allowed: 10, asked: 18 },
    })
    expect(nextStep(found, given)).toContain('to allow 192.0.2.2 like the other address')
  })

  test('a login page that is refused to everybody is no finding, where the credentials are taken', () => {
    expect(codes({ instanceDoor: { ...all, status: 401 } })).toEqual([])
    expect(codes({ instanceDoor: { ...all, status: 401 }, instanceLogin: { ...taken, isTaken: false } })).toEqual([
      'error SERVICENOW_ADDRESS_REFUSED',
    ])
  })

  test('a policy of the Table API shows in what it refuses to credentials that are right', () => {
    const refused = { ...table, refused: 16, allowed: 0, status: 401 }
    expect(first({ instanceTable: refused }).message).toContain('REST API access policy')
    expect(codes({ instanceTable: refused })).toEqual(['error SERVICENOW_ADDRESS_REFUSED'])
    expect(codes({ instanceTable: { ...refused, allowed: 8, refused: 8 } })).toEqual([
      'error SERVICENOW_PARTLY_ALLOWED',
    ])
  })

  test('a policy of the token endpoint shows in calls that are refused, and answered', () => {
    const login: LoginSeen = { ...taken, tokens: { asked: 3, given: 1 }, otherwise: 'user' }
    expect(codes({ instanceLogin: login })).toEqual(['error SERVICENOW_PARTLY_ALLOWED'])
  })

  test('an instance that answers past the proxy is worth knowing', () => {
    expect(codes({ instancePast: { verdict: 'open', status: 200 } })).toEqual(['info SERVICENOW_NOT_ENFORCED'])
    const past = { instancePast: { verdict: 'open', status: 200 } } as const
    expect(codes({ ...past, instanceDoor: some, ...behind })).toEqual([
      'error SERVICENOW_PARTLY_ALLOWED',
      'info SERVICENOW_NOT_ENFORCED',
    ])
  })
})

describe('a login that is refused', () => {
  const refused = failure('SERVICENOW_TOKEN_REFUSED', { instance: url, grant: 'password', reason: 'access_denied' })
  const login: LoginSeen = { isTaken: false, tried: ['the token call'], failure: refused }

  test('names the half that is correct, and the route', () => {
    const said = (more: Partial<LoginSeen>) =>
      first({ instanceTable: nothing, instanceLogin: { ...login, ...more } }).message
    expect(said({})).toContain('Without the proxy, the instance refuses this machine')
    expect(said({ otherwise: 'user' })).toContain('The user and password are right')
    expect(said({ otherwise: 'client' })).toContain('The client id and secret are right')
  })

  test('of a user whom Basic authentication refuses as well is most likely about the user', () => {
    const both: LoginSeen = { ...login, tried: ['the token call', 'Basic authentication at the Table API'] }
    const given = facts({ instanceTable: nothing, instanceLogin: both })
    const found = findingsOf(given)
    expect(found[0]?.message).toContain('The user or the password is most likely wrong')
    expect(nextStep(found, given)).toContain('log in to the instance with the same user')
    const right = facts({ instanceTable: nothing, instanceLogin: { ...both, otherwise: 'user' } })
    expect(nextStep(findingsOf(right), right)).toContain('Application Registry')
  })

  test('by Basic authentication is told with each login that was tried', () => {
    const rejected = failure('SERVICENOW_AUTH_REJECTED', { instance: url, reason: 'User Not Authenticated' })
    const basic = { isTaken: false, failure: rejected } as const
    const [table_, other] = ['Basic authentication at the Table API', 'Basic authentication at another API'] as const
    const said = (tried: LoginSeen['tried']) =>
      first({ instanceTable: nothing, instanceLogin: { ...basic, tried } }).message
    expect(said([table_, other])).toContain('set a client id and secret')
    expect(said([table_, other, 'the token call'])).toContain(`${other} and a token call, each tried once`)
  })

  test('leaves the past out where it does not tell', () => {
    const { message } = first({ instanceTable: nothing, instanceLogin: login, instancePast: nothing })
    expect(message).toBe(refused.message)
  })

  test('of Basic authentication is Basic, where the token is taken, and the address, where it is not', () => {
    const forbidden = failure('SERVICENOW_BASIC_FORBIDDEN', { instance: url, observed: 'the same user gets a token' })
    const basic: LoginSeen = { ...taken, failure: forbidden, otherwise: 'token' }
    expect(codes({ instanceLogin: basic })).toEqual(['error SERVICENOW_BASIC_FORBIDDEN'])
    const half = { ...table, allowed: 7, refused: 9, status: 401 }
    expect(codes({ instanceLogin: basic, instanceTable: half })).toEqual(['error SERVICENOW_PARTLY_ALLOWED'])
  })
})

describe('a table', () => {
  const denied = failure('SERVICENOW_ACCESS_DENIED', {
    instance: url,
    request: 'GET incident',
    status: 403,
    reason: 'Insufficient rights to query records',
  })
  const named = { instance: { url, grant: 'password', proxy, table: 'incident' } }

  test('that is the default may be closed to this user', () => {
    expect(codes({ instanceTable: { ...table, failure: denied } })).toEqual([])
    expect(codes({ ...named, instanceTable: { ...table, failure: denied } })).toEqual([
      'error SERVICENOW_ACCESS_DENIED',
    ])
  })

  test('that has rows, and shows none, is a warning', () => {
    expect(codes({ ...named, instanceTable: { ...table, shown: 0 } })).toEqual(['warning SERVICENOW_ACCESS_DENIED'])
    expect(codes({ ...named, instanceTable: { ...table, total: 0, shown: 0 } })).toEqual([])
    expect(codes({ instanceTable: { ...table, shown: 0 } })).toEqual([])
  })
})

describe('an instance that cannot be asked', () => {
  const unasked = { instanceDoor: nothing, instancePast: nothing, instanceLogin: nothing, instanceTable: nothing }

  test('is named by what it said', () => {
    const asleep = failure('SERVICENOW_HIBERNATING', { instance: url })
    expect(codes({ ...unasked, instanceAwake: { status: 200, failure: asleep } })).toEqual([
      'error SERVICENOW_HIBERNATING',
    ])
  })

  test('for its certificate: the clock, where that is wrong', () => {
    const problem = failure('SERVICENOW_CERT_INVALID', { instance: url, reason: 'certificate has expired' })
    const instanceConnection = { ...stands, failure: problem, certificateProblem: 'expired' } as const
    const clock = { skewMs: 86_400_000, comparedWith: 'the proxy' }
    const given = { ...unasked, instanceAwake: nothing, instanceConnection }
    expect(codes(given)).toEqual(['error SERVICENOW_CERT_INVALID'])
    expect(codes({ ...given, clock })).toEqual(['error CLOCK_SKEW', 'error SERVICENOW_CERT_INVALID'])
    const next = nextStep(findingsOf(facts({ ...given })), facts(given))
    expect(next).toContain('--servicenow-ca')
  })
})
