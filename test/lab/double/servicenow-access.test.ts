// @module-tag long
import { describe, expect, it } from 'vitest'
import { AddressRuleError, type ServiceNowRegister } from '../../../src/lab/index.js'
import { openServiceNow } from '../../support/lab/servicenow-client.js'

const incidents = '/api/now/table/incident'
const everybody = { from: '0.0.0.0', to: '255.255.255.255' }

describe('IP address access control', () => {
  // [preset, through 127.0.0.2, through 127.0.0.3, without the proxy]
  const table: [ServiceNowRegister, number, number, number][] = [
    ['both', 200, 200, 403],
    ['first', 200, 403, 403],
    ['second', 403, 200, 403],
    ['none', 403, 403, 403],
    ['open', 200, 200, 200],
  ]
  it.each(table)(
    'with %s registered answers %i, %i, and %i without the proxy',
    async (which, first, second, direct) => {
      await using world = await openServiceNow({ register: 'none' })
      world.sn.register(which)
      const { proxy } = world.lab.line
      expect((await world.callThrough(proxy.nodes[0], incidents)).status).toBe(first)
      expect((await world.callThrough(proxy.nodes[1], incidents)).status).toBe(second)
      expect((await world.call(incidents)).status).toBe(direct)
      const token = await world.call('/oauth_token.do', { method: 'POST', authorization: '' })
      expect(token.status).toBe(direct === 200 ? 401 : direct)
    },
  )

  it('is registered as the cluster’s filter is', async () => {
    for (const [register, status] of [
      ['both', 403],
      ['everyone', 200],
      ['unattached', 200],
    ] as const) {
      await using world = await openServiceNow({ register })
      expect((await world.call(incidents)).status).toBe(status)
    }
  })

  it('blocks an address only when a Deny rule matches and no Allow rule does', async () => {
    await using world = await openServiceNow()
    world.sn.addAddressRule({ kind: 'deny', from: '127.0.0.1', to: '127.0.0.9' })
    expect((await world.call(incidents)).status).toBe(403)
    world.sn.addAddressRule({ kind: 'allow', from: '127.0.0.0', to: '127.0.0.1' })
    expect((await world.call(incidents)).status).toBe(200)
    world.sn.deleteAddressRule({ kind: 'allow', from: '127.0.0.0', to: '127.0.0.1' })
    expect((await world.call(incidents)).status).toBe(403)
    expect(world.sn.addressRules()).toEqual([{ kind: 'deny', from: '127.0.0.1', to: '127.0.0.9' }])
  })

  it('judges every address of a forwarded chain', async () => {
    await using world = await openServiceNow()
    world.sn.addAddressRule({ kind: 'deny', from: '10.0.0.0', to: '10.255.255.255' })
    const through = async (chain: string) =>
      (await world.call(incidents, { headers: { 'x-forwarded-for': chain } })).status
    expect(await through('198.51.100.1, 203.0.113.9')).toBe(200)
    expect(await through('198.51.100.1, 10.1.2.3, 203.0.113.9')).toBe(403)
    expect(await through('10.1.2.3')).toBe(403)
  })

  it('refuses a rule that would lock out the administrator’s own address', async () => {
    await using world = await openServiceNow()
    expect(() => world.sn.denyAll()).toThrow(AddressRuleError)
    expect(() => world.sn.denyAll()).toThrow('would lock out your own address, 192.0.2.10')
    expect((await world.call(incidents)).status).toBe(200)
    world.sn.setAdministratorAddress('127.0.0.1')
    world.sn.addAddressRule({ kind: 'allow', from: '127.0.0.1', to: '127.0.0.1' })
    world.sn.denyAll()
    expect((await world.call(incidents)).status).toBe(200)
    expect((await world.callThrough(world.lab.line.proxy.nodes[0], incidents)).status).toBe(403)
  })

  it.each([
    ['10.0.0.0/8', '10.0.0.1'],
    ['10.0.0.*', '10.0.0.1'],
    ['10.0.0.2', '10.0.0.1'],
    ['example.com', 'example.com'],
  ])('refuses the range from %s to %s', async (from, to) => {
    await using world = await openServiceNow()
    expect(() => world.sn.addAddressRule({ kind: 'allow', from, to })).toThrow(AddressRuleError)
  })
})

describe('other rules for addresses', () => {
  const first = [{ from: '127.0.0.2', to: '127.0.0.2' }]

  it('of the Table API refuse with 401 there, and leave tokens alone', async () => {
    await using world = await openServiceNow()
    world.sn.setAccessPolicy('table', first)
    const { proxy, servicenow } = world.lab.line
    const { username, password } = servicenow
    expect((await world.callThrough(proxy.nodes[0], incidents)).status).toBe(200)
    const refused = await world.callThrough(proxy.nodes[1], incidents)
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'BASIC realm="Service-now"'])
    expect((await world.token({ grant_type: 'password', username, password })).status).toBe(200)
    world.sn.setAccessPolicy('table', undefined)
    expect((await world.callThrough(proxy.nodes[1], incidents)).status).toBe(200)
  })

  it('of OAuth refuse with 401 there, and leave rows alone', async () => {
    await using world = await openServiceNow()
    world.sn.setAccessPolicy('oauth', [{ from: '203.0.113.7', to: '203.0.113.7' }])
    const { username, password } = world.lab.line.servicenow
    const { status, value } = await world.token({ grant_type: 'password', username, password })
    expect([status, value]).toEqual([401, { error_description: 'access_denied', error: 'server_error' }])
    expect((await world.call(incidents)).status).toBe(200)
  })

  it.each([401, 403] as const)('of adaptive authentication refuse everything with %i', async status => {
    await using world = await openServiceNow()
    world.sn.setAdaptiveAuthentication(first, status)
    const { proxy, servicenow } = world.lab.line
    expect((await world.callThrough(proxy.nodes[0], incidents)).status).toBe(200)
    expect((await world.callThrough(proxy.nodes[1], incidents)).status).toBe(status)
    const form = { grant_type: 'password', client_id: servicenow.clientId }
    expect((await world.callThrough(proxy.nodes[1], '/oauth_token.do', { form, authorization: '' })).status).toBe(
      status,
    )
    world.sn.setAdaptiveAuthentication([...first, everybody])
    expect((await world.call(incidents)).status).toBe(200)
  })
})
