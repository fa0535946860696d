import { describe, expect, test } from 'vitest'
import { findPolicy, planPolicy } from '../../../../src/programs/filter/choose-policy.js'
import { type Guarded, judgeGuard } from '../../../../src/programs/filter/judge-guard.js'
import { isPermissive, type Policy, staticRules } from '../../../../src/programs/filter/policy.js'

const pair = ['52.1.2.3', '52.1.2.4'] as const
const { rules } = staticRules(pair, { origin: 'STATIC_IPS' })

function policy(name: string, sources: readonly string[], more: Partial<Policy> = {}): Policy {
  const id = `id-of-${name}`
  return {
    id,
    name,
    region: 'eu',
    type: 'ip',
    includeByDefault: false,
    rules: sources.map(source => ({ source })),
    ...more,
  }
}

const both = policy('both', ['52.1.2.3/32', '52.1.2.4'])
const first = policy('first', ['52.1.2.3/32'])
const office = policy('office', ['198.18.0.0/15', '81.2.69.0/24'])
const everyone = policy('everyone', ['0.0.0.0/0'])
const link = policy('link', ['vpce-0a1b2c'], { type: 'vpce' })
const egress = policy('egress', ['0.0.0.0/0'], { type: 'egress_firewall' })

describe('a policy is permissive', () => {
  test.each([
    ['0.0.0.0/0', true],
    ['52.0.0.0/8', true],
    ['52.0.0.0/9', false],
    // Nothing comes from there over the internet.
    ['10.0.0.0/8', false],
    ['52.1.2.3/32', false],
  ])('with %s: %s', (source, expected) => {
    expect(isPermissive(policy('p', [source]))).toBe(expected)
  })

  test('by all its rules together', () => {
    expect(isPermissive(policy('halves', ['52.0.0.0/9', '52.128.0.0/9']))).toBe(true)
    expect(isPermissive(policy('same twice', ['52.0.0.0/9', '52.0.0.0/9']))).toBe(false)
  })

  test('never as a private link', () => {
    expect(isPermissive(link)).toBe(false)
  })
})

describe('the policies of a deployment', () => {
  const judge = (attached: readonly Policy[], more: Partial<Guarded> = {}) => {
    const guard = judgeGuard({ deployment: 'd', attached, staticIps: pair, ...more })
    return { ...guard, codes: guard.findings.map(({ code, severity }) => `${severity} ${code}`) }
  }

  test.each<[string, readonly Policy[], Partial<Guarded>, string[]]>([
    ['both addresses', [both], { ownAddress: '81.2.69.160' }, []],
    ['nothing', [], {}, ['error FILTER_NOT_ATTACHED']],
    ['what is about connections going out', [egress], {}, ['error FILTER_NOT_ATTACHED']],
    ['one address', [first], {}, ['error FILTER_MISSES_ADDRESS']],
    ['a private link alone', [link], {}, ['error FILTER_MISSES_ADDRESS']],
    ['everyone beside both', [both, everyone], { ownAddress: '81.2.69.160' }, ['error FILTER_TOO_PERMISSIVE']],
    ['everyone alone', [everyone], {}, ['error FILTER_TOO_PERMISSIVE']],
    ['the own address', [both, office], { ownAddress: '81.2.69.160' }, ['warning FILTER_COVERS_CLIENT']],
    ['the own address, which is a static one', [both], { ownAddress: '52.1.2.3' }, []],
    ['somebody else', [both, office], { ownAddress: '81.2.70.1' }, []],
    ['both, in two policies', [first, policy('second', ['52.1.2.4'])], {}, []],
  ])('%s', (_, attached, more, codes) => {
    expect(judge(attached, more).codes).toEqual(codes)
  })

  test('names who lets in which address, and who refuses', () => {
    const { staticIps, findings } = judge([first, policy('wide', ['52.1.2.0/29'])])
    expect(staticIps).toEqual([
      { address: '52.1.2.3', policies: ['first', 'wide'] },
      { address: '52.1.2.4', policies: ['wide'] },
    ])
    expect(findings).toEqual([])
    expect(judge([first]).findings[0]?.message).toBe('no policy attached to d allows 52.1.2.4')
  })

  test('says beside what a permissive policy is attached', () => {
    expect(judge([both, everyone]).findings[0]?.message).toBe(
      'the policy everyone, attached to d, allows 0.0.0.0/0, so the other attached policies (both) have no effect',
    )
    expect(judge([everyone]).findings[0]?.message).toContain('and no other policy is attached')
  })

  test.each<[string, readonly Policy[], Partial<Guarded>, { through: boolean | undefined; direct: boolean }]>([
    ['nothing', [], {}, { through: true, direct: true }],
    ['both', [both], {}, { through: true, direct: false }],
    ['one', [first], {}, { through: false, direct: false }],
    ['an unknown pair', [first], { staticIps: undefined }, { through: undefined, direct: false }],
    ['everyone', [everyone], {}, { through: true, direct: true }],
    ['the own address', [office], { ownAddress: '81.2.69.1' }, { through: false, direct: true }],
    [
      'a wide block beside the own address',
      [policy('wide', ['52.0.0.0/8'])],
      { ownAddress: '81.2.69.1' },
      { through: true, direct: false },
    ],
  ])('tells what to expect with %s attached', (_, attached, more, expected) => {
    expect(judge(attached, more).expected).toEqual(expected)
  })
})

describe('the rules for the static addresses', () => {
  test('are two, each as /32', () => {
    expect(rules.map(({ source }) => source)).toEqual(['52.1.2.3/32', '52.1.2.4/32'])
  })

  test.each([
    [
      ['proxy.example.com', '52.1.2.4'],
      "STATIC_IPS: 'proxy.example.com' is a name. IP filters accept addresses, not DNS names",
    ],
    [['52.1.2.3', '2001:db8::1'], "STATIC_IPS: '2001:db8::1' is an IPv6 address. IP filters accept only IPv4"],
    [['52.1.2.3/31', '52.1.2.4'], "STATIC_IPS: '52.1.2.3/31' is an address range. Pass two single addresses"],
    [['52.1.2.3', '52.1.2.3'], 'STATIC_IPS: does not contain the two addresses in the dashboard of your proxy'],
    [[], 'STATIC_IPS: does not contain the two addresses in the dashboard of your proxy'],
  ])('are refused for %j', (addresses, message) => {
    expect(() => staticRules(addresses, { origin: 'STATIC_IPS' })).toThrow(message)
  })

  test('come with a warning where nothing can come from an address', () => {
    const warningsOf = (addresses: string[], isLocal = false) =>
      staticRules(addresses, { origin: '', isLocal }).warnings
    expect(warningsOf(['10.0.0.1', '203.0.113.10'])).toEqual([
      expect.stringContaining('10.0.0.1 is a private address') as string,
      expect.stringContaining('203.0.113.10 is a documentation address') as string,
    ])
    expect(warningsOf(['127.0.0.2', '127.0.0.3'])).toHaveLength(2)
    expect(warningsOf(['127.0.0.2', '127.0.0.3'], true)).toEqual([])
  })
})

describe('a policy for these rules', () => {
  const plan = (policies: readonly Policy[], name = 'mine', region: string | undefined = 'eu') =>
    planPolicy(policies, { name, region, rules })

  test('is created where there is none, in this region and of this type', () => {
    expect(plan([])).toEqual({ action: 'create' })
    expect(plan([policy('both', ['52.1.2.3', '52.1.2.4'], { region: 'us' })])).toEqual({ action: 'create' })
    expect(plan([policy('mine', ['52.1.2.3', '52.1.2.4'], { type: 'egress_firewall' })])).toEqual({ action: 'create' })
    // More than the two is another policy, unless it has the name.
    expect(plan([policy('other', ['52.1.2.3', '52.1.2.4', '81.2.69.1'])])).toEqual({ action: 'create' })
  })

  test('is taken as it is where one is equal, in another order and notation', () => {
    expect(plan([first, both])).toEqual({ action: 'reuse', policy: both })
    const mine = policy('mine', ['52.1.2.4/32', '52.1.2.3'])
    expect(plan([both, mine])).toEqual({ action: 'reuse', policy: mine })
  })

  test('of that name with other rules is added to, and left where it lets in both', () => {
    const mine = policy('mine', ['52.1.2.3', '81.2.69.1'])
    expect(plan([mine])).toEqual({ action: 'extend', policy: mine, missing: [rules[1]] })
    const wide = policy('mine', ['52.1.2.0/24'])
    expect(plan([wide])).toEqual({ action: 'reuse', policy: wide })
  })
})

describe('the policy that is meant', () => {
  const twins = [policy('twin', ['52.1.2.3'], { id: 'a' }), policy('twin', ['52.1.2.3'], { id: 'b', region: 'us' })]

  test('is found by id, by name, by name and region, or by its rules', () => {
    expect(findPolicy([first, both], { policy: 'id-of-first', rules })).toBe(first)
    expect(findPolicy([first, both], { policy: 'both', rules: [] })).toBe(both)
    expect(findPolicy(twins, { policy: 'twin', region: 'us', rules })).toBe(twins[1])
    expect(findPolicy([first, both], { rules })).toBe(both)
  })

  test.each([
    [{ policy: 'secnod', rules }, "none has the id or name 'secnod'. Known policies: twin (a), twin (b)"],
    [{ policy: 'twin', rules }, "2 policies have the name 'twin', so pass the id"],
    [{ rules }, 'no policy holds exactly the two static addresses'],
    [{ rules: [] }, 'pass its name with --policy. Known policies: twin (a), twin (b)'],
  ])('%j cannot be told', (wanted, message) => {
    expect(() => findPolicy(twins, wanted)).toThrow(message)
  })
})
