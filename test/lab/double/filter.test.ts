// @module-tag long
import { Agent } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type Register, PolicyError } from '../../../src/lab/index.js'
import { ask, askThrough, openLab } from '../../support/lab/lab-clients.js'

const long =
  '{"ok":false,"message":"Forbidden due to traffic filtering. Please see the Elastic documentation on Traffic Filtering for more information."}'

describe('the IP filter', () => {
  // [preset, through 127.0.0.2, through 127.0.0.3, without the proxy]
  const table: [Register, number, number, number][] = [
    ['both', 200, 200, 403],
    ['first', 200, 403, 403],
    ['second', 403, 200, 403],
    ['none', 403, 403, 403],
    ['unattached', 200, 200, 200],
    ['everyone', 200, 200, 200],
    ['both+everyone', 200, 200, 200],
  ]
  it.each(table)(
    'with %s registered answers %i, %i, and %i without the proxy',
    async (which, first, second, direct) => {
      await using world = await openLab({ register: which })
      const { line } = world.lab
      for (const url of [line.cluster.url, line.cluster.httpUrl]) {
        const options = { ca: world.ca, headers: world.auth }
        expect((await askThrough(line.proxy.nodes[0], url, options)).status).toBe(first)
        expect((await askThrough(line.proxy.nodes[1], url, options)).status).toBe(second)
        expect((await ask(url, options)).status).toBe(direct)
      }
    },
  )

  it('changes nothing while a policy is only created, and denies once it is attached', async () => {
    await using world = await openLab({ register: 'unattached' })
    const { control } = world.lab
    const policy = control.createPolicy({ name: 'elsewhere', rules: ['203.0.113.9/32'] })
    expect(policy.deployments).toEqual([])
    expect((await world.get('/')).status).toBe(200)
    expect(control.attachPolicy(policy.id).deployments).toEqual(['main'])
    expect((await world.get('/')).status).toBe(403)
    control.replaceRules(policy.id, ['127.0.0.1'])
    expect((await world.get('/')).status).toBe(200)
    control.replaceRules(policy.id, ['127.0.0.9'])
    expect((await world.get('/')).status).toBe(403)
    control.detachPolicy(policy.id)
    expect((await world.get('/')).status).toBe(200)
  })

  it('lets through what matches any of several attached policies', async () => {
    await using world = await openLab({ register: 'none' })
    const { control } = world.lab
    expect((await world.get('/')).status).toBe(403)
    const wide = control.createPolicy({ name: 'this machine', rules: ['127.0.0.0/29'] })
    control.attachPolicy(wide.id)
    expect((await world.get('/')).status).toBe(200)
    control.deletePolicy(wide.id)
    expect((await world.get('/')).status).toBe(403)
  })

  it('judges every request anew on a connection that stays open', async () => {
    await using world = await openLab({ register: 'everyone' })
    const { control, line } = world.lab
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const options = { headers: world.auth, agent }
    const before = await ask(line.cluster.httpUrl, options)
    control.register('both')
    const after = await ask(line.cluster.httpUrl, options)
    expect([before.status, after.status]).toEqual([200, 403])
    expect(control.connections().filter(({ at }) => at === 'cluster')).toMatchObject([
      { from: '127.0.0.1', requests: 2 },
    ])
    agent.destroy()
  })

  it.each(['cluster.example.com', '10.0.0.0/33', '10.0.0', '::1', '10.0.0.1/', '10.0.0.1/8/8', ''])(
    'refuses the rule %j',
    async rule => {
      await using world = await openLab()
      expect(() => world.lab.control.createPolicy({ name: 'bad', rules: [rule] })).toThrow(PolicyError)
    },
  )

  it('attaches a default policy to deployments that are created later, and to no other', async () => {
    await using world = await openLab({ register: 'unattached' })
    const { control } = world.lab
    const rules = ['203.0.113.9/32']
    const policy = control.createPolicy({ name: 'default', rules, includeByDefault: true })
    const later = await control.createDeployment('later')
    expect((await world.get('/')).status).toBe(200)
    expect((await ask(later.httpUrl, { headers: world.auth })).status).toBe(403)
    control.detachPolicy(policy.id, 'later')
    expect((await ask(later.httpUrl, { headers: world.auth })).status).toBe(200)
    expect((await ask(later.url, { headers: world.auth, ca: world.ca })).status).toBe(200)
  })

  it('does not cover the OTLP path', async () => {
    await using world = await openLab({ register: 'none' })
    const { httpUrl } = world.lab.line.cluster
    const headers = { ...world.auth, 'content-type': 'application/json' }
    expect((await ask(`${httpUrl}/v1/logs`, { headers, body: '{}' })).status).toBe(200)
    expect((await ask(`${httpUrl}/_otlp/v1/metrics`, { headers, body: '{}' })).status).toBe(200)
    expect(
      (await ask(`${httpUrl}/v1/logs`, { headers: { 'content-type': 'application/json' }, body: '{}' })).status,
    ).toBe(401)
    expect((await ask(`${httpUrl}/v1`, { headers })).status).toBe(403)
  })

  it('refuses with one of the documented bodies, before anybody looks at the credentials', async () => {
    await using world = await openLab({ register: 'none' })
    const { control, line } = world.lab
    const refused = await ask(line.cluster.httpUrl)
    expect(refused).toMatchObject({ status: 403, text: long })
    expect(refused.headers).toMatchObject({ 'x-cloud-request-id': expect.stringMatching(/^[\w-]{22}$/) as string })
    expect(refused.headers).not.toHaveProperty('x-elastic-product')
    control.setFilterBody('short')
    expect((await ask(line.cluster.httpUrl)).text).toBe('{"ok":false,"message":"Forbidden"}')
    control.setFilterBody('text')
    expect((await ask(line.cluster.httpUrl)).text).toBe('Forbidden due to traffic filtering')
  })
})
