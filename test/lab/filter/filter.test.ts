import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../../src/base/flow.js'
import { type AdminApi, openAdminApi } from '../../../src/programs/filter/admin-api.js'
import { changeAttachment, createPolicy, type PolicyChange } from '../../../src/programs/filter/change-policy.js'
import { judgeGuard } from '../../../src/programs/filter/judge-guard.js'
import { failuresOf, prove } from '../../../src/programs/filter/prove.js'
import { findOwnAddress } from '../../../src/route/examine/try-filter.js'
import { staticRules } from '../../../src/programs/filter/policy.js'
import type { ConnectOptions } from '../../../src/index.js'
import { type Lab, type LabOptions, startLab } from '../../../src/lab/index.js'

interface World extends AsyncDisposable {
  readonly lab: Lab
  readonly api: AdminApi
  readonly way: ConnectOptions
}

async function open(register: NonNullable<LabOptions['register']>): Promise<World> {
  const lab = await startLab({ register })
  const { admin, cluster, proxy, staticIps } = lab.line
  const api = openAdminApi({ url: new URL(admin.url), key: admin.apiKey, timeoutMs: 10_000 })
  return {
    lab,
    api,
    way: { target: { url: cluster.httpUrl }, proxy: proxy.http, staticIps: [...staticIps] },
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]()
      await lab.close()
    },
  }
}

/** Answers every question alike, and keeps what it was asked. */
function answering(answer: boolean | undefined) {
  const asked: PolicyChange[] = []
  return { asked, confirm: async (change: PolicyChange) => (asked.push(change), answer) }
}

const { rules } = staticRules(['127.0.0.2', '127.0.0.3'], { origin: 'STATIC_IPS', isLocal: true })
const wanted = { name: 'mine', region: 'us-east-1', rules }
const staticIps = ['127.0.0.2', '127.0.0.3']

describe('creating the policy', () => {
  test('makes the two rules, attached to nothing, and finds them again', async () => {
    await using world = await open('everyone')
    const { asked, confirm } = answering(false)
    const { action, policy } = await createPolicy(world.api, wanted, confirm)
    expect({ action, policy }).toMatchObject({ action: 'created', policy: { name: 'mine', type: 'ip', rules } })
    expect(await createPolicy(world.api, { ...wanted, name: 'other' }, confirm)).toMatchObject({
      action: 'reused',
      policy: { id: policy.id },
    })
    expect(world.lab.control.policies()).toMatchObject([
      { name: 'everyone' },
      { name: 'mine', rules: ['127.0.0.2/32', '127.0.0.3/32'], deployments: [] },
    ])
    expect(asked).toEqual([])
  })

  test('adds what is missing to a policy of that name, and keeps all else of it', async () => {
    await using world = await open('none')
    const { control } = world.lab
    const more = { description: 'of loaders', descriptions: ['office', ''], includeByDefault: true }
    const { id } = control.createPolicy({ name: 'mine', rules: ['81.2.69.0/24', '127.0.0.3'], ...more })
    control.attachPolicy(id)
    const { asked, confirm } = answering(true)
    expect((await createPolicy(world.api, wanted, confirm)).action).toBe('extended')
    expect(asked).toMatchObject([
      {
        what: 'add 127.0.0.2/32 to the policy mine',
        difference: ['  81.2.69.0/24  office', '  127.0.0.3', '+ 127.0.0.2/32  static address 1 of 2'],
      },
    ])
    expect(control.policies().find(one => one.id === id)).toEqual({
      id,
      name: 'mine',
      region: 'us-east-1',
      description: 'of loaders',
      includeByDefault: true,
      rules: ['81.2.69.0/24', '127.0.0.3', '127.0.0.2/32'],
      descriptions: ['office', '', 'static address 1 of 2'],
      deployments: ['main'],
    })
  })

  test.each([false, undefined])('writes nothing when the answer is %s', async answer => {
    await using world = await open('none')
    world.lab.control.createPolicy({ name: 'mine', rules: ['127.0.0.3'] })
    const before = world.lab.control.policies()
    await expect(createPolicy(world.api, wanted, answering(answer).confirm)).rejects.toMatchObject({
      code: 'FILTER_UNCONFIRMED',
    })
    expect(world.lab.control.policies()).toEqual(before)
  })

  test('writes nothing over what somebody else wrote while it asked', async () => {
    await using world = await open('none')
    const { control } = world.lab
    const { id } = control.createPolicy({ name: 'mine', rules: ['127.0.0.3'] })
    const confirm = async () => (control.replaceRules(id, ['127.0.0.3', '81.2.69.1']), true)
    await expect(createPolicy(world.api, wanted, confirm)).rejects.toMatchObject({ code: 'FILTER_CHANGED_MEANWHILE' })
    expect(control.policies().at(-1)?.rules).toEqual(['127.0.0.3', '81.2.69.1'])
  })

  test('asks for a region where none is known', async () => {
    await using world = await open('none')
    await expect(createPolicy(world.api, { name: 'mine', rules }, answering(true).confirm)).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringContaining('Set --region or --deployment') as string,
    })
  })
})

describe('attaching and detaching', () => {
  test('attaches beside what is attached, once', async () => {
    await using world = await open('none')
    const { policy } = await createPolicy(world.api, wanted, answering(false).confirm)
    const attachment = { policy, deployment: 'main', staticIps }
    const { asked, confirm } = answering(false)
    const done = await changeAttachment(world.api, 'attach', attachment, confirm)
    expect(done.attached.map(({ name }) => name).toSorted()).toEqual(['mine', 'somebody else'])
    expect(done.isChanged).toBe(true)
    expect((await changeAttachment(world.api, 'attach', attachment, confirm)).isChanged).toBe(false)
    expect(asked).toEqual([])
  })

  test('asks before it shuts out a static address', async () => {
    await using world = await open('unattached')
    const { id } = world.lab.control.createPolicy({ name: 'one', rules: ['127.0.0.2'] })
    const policy = await world.api.policy(id)
    const { asked, confirm } = answering(false)
    await expect(
      changeAttachment(world.api, 'attach', { policy, deployment: 'main', staticIps }, confirm),
    ).rejects.toMatchObject({
      code: 'FILTER_UNCONFIRMED',
      message:
        'Sluice did not attach the policy one to main: no policy would allow 127.0.0.3, and Elastic Cloud would refuse loads through the proxy',
    })
    expect(asked).toHaveLength(1)
    expect(await world.api.attachedTo('main')).toEqual([])
  })

  test('asks before the last policy goes, and before one that the pair needs', async () => {
    await using world = await open('both+everyone')
    const [pair, everyone] = await world.api.attachedTo('main')
    if (pair?.name !== 'static pair' || everyone === undefined) throw new Error('not as registered')
    const both = { deployment: 'main', staticIps }
    const { asked, confirm } = answering(true)
    expect((await changeAttachment(world.api, 'detach', { ...both, policy: everyone }, confirm)).attached).toEqual([
      pair,
    ])
    expect(asked).toEqual([])
    world.lab.control.attachPolicy(world.lab.control.createPolicy({ name: 'x', rules: ['10.0.0.1'] }).id)
    await changeAttachment(world.api, 'detach', { ...both, policy: pair }, confirm)
    expect(asked.map(({ consequence }) => consequence)).toEqual([
      'no policy would allow 127.0.0.2 and 127.0.0.3, and Elastic Cloud would refuse loads through the proxy',
    ])
    const [last] = await world.api.attachedTo('main')
    if (last === undefined) throw new Error('nothing is left')
    const refused = answering(undefined)
    await expect(
      changeAttachment(world.api, 'detach', { ...both, policy: last }, refused.confirm),
    ).rejects.toMatchObject({
      code: 'FILTER_UNCONFIRMED',
      message: expect.stringContaining('open to the whole internet') as string,
    })
    expect(await world.api.attachedTo('main')).toEqual([last])
    expect((await changeAttachment(world.api, 'detach', { ...both, policy: pair }, refused.confirm)).isChanged).toBe(
      false,
    )
  })
})

describe('the administration API', () => {
  test('is asked directly, with no request through the proxy', async () => {
    await using world = await open('both')
    await world.api.policies()
    await world.api.attachedTo('main')
    const seen = world.lab.control.connections()
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.map(({ at, from }) => `${at} from ${from}`)).toEqual(seen.map(() => 'admin from 127.0.0.1'))
  })

  test('refuses a wrong key, an unknown deployment, and a DNS name, by name', async () => {
    await using world = await open('both')
    const url = new URL(world.lab.line.admin.url)
    await using stranger = openAdminApi({ url, key: world.lab.line.cluster.apiKey, timeoutMs: 10_000 })
    await expect(stranger.policies()).rejects.toMatchObject({ code: 'FILTER_API_KEY_REJECTED' })
    await expect(world.api.deployment('other')).rejects.toMatchObject({
      code: 'FILTER_API_REFUSED',
      message: `${url.origin} refused GET /deployments/other with status 404: traffic_filter.not_found: no such deployment: other`,
    })
    await expect(world.api.policy('../deployments/main')).rejects.toMatchObject({ code: 'FILTER_API_REFUSED' })
    const named = { name: 'n', region: 'us-east-1', includeByDefault: false, rules: [{ source: 'proxy.example.com' }] }
    await expect(world.api.create(named)).rejects.toMatchObject({
      code: 'FILTER_API_REFUSED',
      message: expect.stringContaining('DNS names are not supported') as string,
    })
  })

  test('that is not there is not available, and its key never crosses the network in clear text', async () => {
    await using gone = openAdminApi({ url: new URL('http://127.0.0.1:9'), key: 'k', timeoutMs: 10_000 })
    await expect(gone.policies()).rejects.toMatchObject({ code: 'FILTER_API_UNAVAILABLE' })
    expect(() => openAdminApi({ url: new URL('http://api.example'), key: 'k', timeoutMs: 1 })).toThrow('unencrypted')
  })

  test.each([
    [200, '<html>Sign in</html>', 'FILTER_API_REFUSED'],
    [200, '{}', 'FILTER_API_REFUSED'],
    [200, '{"rulesets":[{"name":"no id"}]}', 'FILTER_API_REFUSED'],
    [302, '', 'FILTER_API_REFUSED'],
    [403, '{"errors":[{"code":"root.forbidden"}]}', 'FILTER_API_REFUSED'],
    [429, '', 'FILTER_API_UNAVAILABLE'],
    [503, 'busy', 'FILTER_API_UNAVAILABLE'],
  ])('never takes status %i with %j for a list of policies', async (status, body, code) => {
    const server = createServer((_, response) => void response.writeHead(status).end(body))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    try {
      await using api = openAdminApi({ url: new URL(`http://127.0.0.1:${port}`), key: 'k', timeoutMs: 10_000 })
      await expect(api.policies()).rejects.toMatchObject({ code })
      await expect(api.attachedTo('main')).rejects.toMatchObject({ code })
    } finally {
      server.close()
    }
  })
})

describe('the proof', () => {
  const still: Clock = { now: () => 0, sleep: async () => undefined }

  test('tells both ways, with what is attached', async () => {
    await using world = await open('both')
    const guard = judgeGuard({ deployment: 'main', attached: await world.api.attachedTo('main'), staticIps })
    const proof = await prove(world.way, { expected: guard.expected, patienceMs: 0, clock: still })
    expect(proof).toMatchObject({ through: { verdict: 'allowed' }, direct: { verdict: 'refused', status: 403 } })
    expect(failuresOf(proof, guard, 'c')).toEqual([])
  })

  test('waits until a change has come through', async () => {
    await using world = await open('unattached')
    const waits: number[] = []
    const sleep = async (ms: number) => {
      if (waits.push(ms) === 2) world.lab.control.register('both')
    }
    const expected = { through: true, direct: false }
    const proof = await prove(world.way, { expected, patienceMs: 30_000, clock: { now: () => 0, sleep } })
    expect(waits).toEqual([1000, 2000])
    expect(proof).toMatchObject({ through: { verdict: 'allowed' }, direct: { verdict: 'refused' } })
  })

  test('goes past the proxy only where that is allowed', async () => {
    await using world = await open('both')
    const options = { expected: { through: true, direct: false }, patienceMs: 0, clock: still, directCheck: false }
    world.lab.control.forgetConnections()
    expect(await prove(world.way, options)).toEqual({
      through: expect.objectContaining({ verdict: 'allowed' }) as object,
    })
    const from = world.lab.control.connections().flatMap(one => (one.at === 'cluster' ? [one.from] : []))
    expect(from).not.toContain('127.0.0.1')
    const { proxy: _, ...direct } = world.way
    expect(await prove(direct, options)).toMatchObject({ direct: { verdict: 'refused' } })
  })

  test('names what the policies do not promise, when patience is over', async () => {
    await using world = await open('unattached')
    const policy = { id: 'p', name: 'p', type: 'ip', region: '', includeByDefault: false, rules }
    const guard = judgeGuard({ deployment: 'main', attached: [policy], staticIps, ownAddress: '127.0.0.1' })
    const open_ = await prove(world.way, { expected: guard.expected, patienceMs: 500, clock: still })
    expect(failuresOf(open_, guard, 'c').map(({ code }) => code)).toEqual(['FILTER_NOT_ENFORCED'])
    world.lab.control.register('none')
    const shut = await prove(world.way, { expected: guard.expected, patienceMs: 500, clock: still })
    expect(failuresOf(shut, guard, 'c').map(({ code }) => code)).toEqual(['EGRESS_NOT_ALLOWED'])
  })

  test('does not wait where something else is in the way', async () => {
    await using world = await open('both')
    world.lab.control.rotateCredentials()
    const sleep = async () => {
      throw new Error('waited')
    }
    const clock = { now: () => 0, sleep }
    const proof = await prove(world.way, { expected: { through: true, direct: false }, patienceMs: 30_000, clock })
    expect(proof.through).toMatchObject({ verdict: 'failed', failure: { code: 'PROXY_AUTH_REJECTED' } })
  })
})

test('the own address is that of requests past the proxy, or unknown with its reason', async () => {
  await using world = await open('both')
  expect(await findOwnAddress(new URL(world.lab.line.ipCheckUrl), { timeoutMs: 10_000 })).toEqual({
    address: '127.0.0.1',
  })
  const gone = await findOwnAddress(new URL('http://127.0.0.1:9'), { timeoutMs: 10_000 })
  expect(gone).toEqual({ problem: expect.stringContaining('127.0.0.1:9') as string })
})

describe('serverless projects', () => {
  const projects = ({ lab }: World) =>
    openAdminApi({
      url: new URL(lab.line.admin.url),
      key: lab.line.admin.apiKey,
      timeoutMs: 10_000,
      projectType: 'elasticsearch',
    })

  test('a policy is created, attached beside others, extended and detached', async () => {
    await using world = await open('first')
    await using api = projects(world)
    const { asked, confirm } = answering(true)
    expect(await api.deployment('main')).toEqual({ id: 'main', name: 'main', region: 'us-east-1' })
    await expect(api.deployment('other')).rejects.toMatchObject({
      code: 'FILTER_API_REFUSED',
      message: expect.stringContaining('GET /serverless/projects/elasticsearch/other with status 404') as string,
    })
    const { policy } = await createPolicy(api, wanted, confirm)
    const change = { policy, deployment: 'main', staticIps }
    const attached = await changeAttachment(api, 'attach', change, confirm)
    expect(attached.attached.map(({ name }) => name)).toEqual(['first address', 'mine'])
    expect(await api.attach(policy.id, 'main')).toBe(false)
    expect(asked).toEqual([])

    const extended = await createPolicy(
      api,
      { ...wanted, name: 'first address', rules: [{ source: '9.9.9.9/32' }] },
      confirm,
    )
    expect(extended).toMatchObject({ action: 'extended', policy: { region: 'us-east-1' } })
    expect(extended.policy.rules.map(({ source }) => source)).toEqual(['127.0.0.2/32', '9.9.9.9/32'])
    expect(asked.at(-1)?.consequence).toContain('every project that it is attached to')

    await changeAttachment(api, 'detach', change, confirm)
    expect(asked.at(-1)?.consequence).toContain('would refuse loads through the proxy')
    const [first] = await api.attachedTo('main')
    await changeAttachment(api, 'detach', { ...change, policy: first ?? policy }, confirm)
    expect(asked.at(-1)?.consequence).toBe(
      'no policy would be left, and the project would be open to the whole internet',
    )
    expect(await api.attachedTo('main')).toEqual([])
  })

  test.each(['deployment', 'project'])(
    'a policy becomes the default for each new %s only if the user wants that',
    async noun => {
      await using world = await open('unattached')
      await using api = noun === 'project' ? projects(world) : undefined
      const used = api ?? world.api
      const isDefault = { ...wanted, name: 'all', includeByDefault: true }
      await expect(createPolicy(used, isDefault, answering(undefined).confirm)).rejects.toMatchObject({
        code: 'FILTER_UNCONFIRMED',
      })
      expect(world.lab.control.policies()).toMatchObject([{ name: 'static pair', includeByDefault: false }])
      const { asked, confirm } = answering(true)
      expect(await createPolicy(used, isDefault, confirm)).toMatchObject({
        action: 'extended',
        policy: { name: 'static pair', includeByDefault: true },
      })
      expect(asked).toMatchObject([{ what: `make static pair the default for new ${noun}s in us-east-1` }])
      const others = { ...isDefault, rules: [{ source: '9.9.9.9/32' }] }
      expect(await createPolicy(used, others, confirm)).toMatchObject({
        action: 'created',
        policy: { includeByDefault: true },
      })
      expect(await createPolicy(used, others, answering(undefined).confirm)).toMatchObject({ action: 'reused' })
    },
  )

  test('a project that does not list its policies keeps those that it has', async () => {
    const sent: string[] = []
    const filter = (id: string) => ({ id, name: id, type: 'ip', region: 'r', rules: [] })
    const answers: Record<string, unknown> = {
      'GET /api/v1/serverless/projects/security/p': { id: 'p' },
      'GET /api/v1/serverless/traffic-filters': { items: [filter('a'), filter('b')] },
      'GET /api/v1/serverless/projects/security?traffic_filter=a': { items: [{ id: 'p' }] },
      'GET /api/v1/serverless/projects/security?traffic_filter=b': { items: [{ id: 'another' }] },
      'PATCH /api/v1/serverless/projects/security/p': {},
    }
    const server = createServer((request, response) => {
      const asked = `${request.method} ${request.url}`
      if (request.method === 'PATCH') request.on('data', (bytes: Buffer) => sent.push(bytes.toString()))
      request.on('end', () => {
        response.writeHead(answers[asked] === undefined ? 404 : 200).end(JSON.stringify(answers[asked] ?? {}))
      })
      request.resume()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    try {
      await using api = openAdminApi({ url, key: 'k', timeoutMs: 10_000, projectType: 'security' })
      expect(await api.attach('b', 'p')).toBe(true)
      expect(await api.detach('a', 'p')).toBe(true)
      expect(sent.map(one => JSON.parse(one) as unknown)).toEqual([
        { traffic_filters: [{ id: 'a' }, { id: 'b' }] },
        { traffic_filters: [] },
      ])
    } finally {
      server.close()
    }
  })
})
