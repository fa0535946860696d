import { describe, expect, it } from 'vitest'
import { type TestLab, ask, openLab } from '../../support/lab/lab-clients.js'

const rulesets = '/deployments/traffic-filter/rulesets'

async function api(world: TestLab, operation: string, body?: unknown, key = world.lab.line.admin.apiKey) {
  const [method = '', path = ''] = operation.split(' ')
  const answer = await ask(`${world.lab.line.admin.url}/api/v1${path}`, {
    method,
    headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const value = JSON.parse(answer.text) as Record<string, unknown>
  return { status: answer.status, value, codes: answer.headers['x-cloud-error-codes'] }
}

const mine = {
  name: 'mine',
  region: 'us-east-1',
  type: 'ip',
  include_by_default: false,
  description: 'for loads',
  rules: [{ source: '127.0.0.2/32', description: 'static A' }, { source: '127.0.0.3/32' }],
}

describe('the administration API', () => {
  it('creates a policy unattached, attaches it and detaches it', async () => {
    await using world = await openLab({ register: 'unattached' })
    const created = await api(world, `POST ${rulesets}`, mine)
    expect(created).toMatchObject({ status: 201, value: { id: expect.stringMatching(/^[0-9a-f]{32}$/) as string } })
    const id = String(created.value['id'])
    expect((await world.get('/')).status).toBe(200)

    const association = { entity_type: 'deployment', id: 'main' }
    expect((await api(world, `POST ${rulesets}/${id}/associations`, association)).status).toBe(201)
    expect((await api(world, `POST ${rulesets}/${id}/associations`, association)).status).toBe(200)
    expect((await world.get('/')).status).toBe(403)
    const guarding = 'GET /deployments/traffic-filter/associations/deployment/main/rulesets'
    expect(await api(world, guarding)).toMatchObject({ status: 200, value: { rulesets: [id] } })
    expect((await api(world, `GET ${rulesets}/${id}`)).value).toEqual({
      ...mine,
      id,
      rules: [
        { id: 'rule-1', source: '127.0.0.2/32', description: 'static A' },
        { id: 'rule-2', source: '127.0.0.3/32' },
      ],
    })

    const detach = `DELETE ${rulesets}/${id}/associations/deployment/main`
    expect((await api(world, detach)).status).toBe(200)
    expect((await api(world, detach)).status).toBe(404)
    expect((await world.get('/')).status).toBe(200)
  })

  it('lists policies with what they are attached to, and those of a region', async () => {
    await using world = await openLab({ register: 'both' })
    expect((await api(world, `GET ${rulesets}?include_associations=true&region=us-east-1`)).value).toMatchObject({
      rulesets: [{ name: 'static pair', associations: [{ entity_type: 'deployment', id: 'main' }] }],
    })
    expect((await api(world, `GET ${rulesets}?region=eu`)).value).toEqual({ rulesets: [] })
  })

  it('replaces all rules at once, and what is attached counts anew', async () => {
    await using world = await openLab({ register: 'both' })
    const [policy] = world.lab.control.policies()
    const rules = [{ source: '127.0.0.1' }]
    expect((await api(world, `PUT ${rulesets}/${policy?.id}`, { ...mine, rules })).status).toBe(200)
    expect(world.lab.control.policies()).toMatchObject([{ name: 'mine', rules: ['127.0.0.1'], deployments: ['main'] }])
    expect((await world.get('/')).status).toBe(200)
  })

  it('deletes what is attached only when that is said', async () => {
    await using world = await openLab({ register: 'both' })
    const [policy] = world.lab.control.policies()
    expect((await api(world, `DELETE ${rulesets}/${policy?.id}`)).status).toBe(400)
    expect((await api(world, `DELETE ${rulesets}/${policy?.id}?ignore_associations=true`)).status).toBe(200)
    expect(world.lab.control.policies()).toEqual([])
  })

  it('tells of a deployment in which region it is', async () => {
    await using world = await openLab()
    expect((await api(world, 'GET /deployments/main')).value).toMatchObject({
      id: 'main',
      resources: { elasticsearch: [{ region: 'us-east-1' }] },
    })
    expect(await api(world, 'GET /deployments/other')).toMatchObject({ status: 404, codes: 'traffic_filter.not_found' })
  })

  it('takes the key of the organisation alone', async () => {
    await using world = await openLab()
    for (const key of [world.lab.line.cluster.apiKey, '', 'wrong']) {
      expect(await api(world, `GET ${rulesets}`, undefined, key)).toMatchObject({
        status: 401,
        value: { errors: [{ code: 'root.unauthorized' }] },
        codes: 'root.unauthorized',
      })
    }
  })

  it.each([
    [{ rules: [{ source: 'proxy.example.com' }] }, 'DNS names are not supported'],
    [{ rules: [] }, 'at least one rule'],
    [{ rules: Array.from({ length: 129 }, (_, at) => ({ source: `10.0.0.${at}` })) }, 'more than 128 sources'],
    [{ region: undefined }, 'region is required'],
    [{ include_by_default: undefined }, 'include_by_default is required'],
    [{ type: 'vpce' }, 'the type ip alone'],
  ])('answers 400 to a policy with %j', async (wrong, problem) => {
    await using world = await openLab()
    const { status, value } = await api(world, `POST ${rulesets}`, { ...mine, ...wrong })
    expect([status, JSON.stringify(value)]).toEqual([400, expect.stringContaining(problem) as string])
  })

  it('attaches no policy of another region, and none to a deployment that is not there', async () => {
    await using world = await openLab()
    const { value } = await api(world, `POST ${rulesets}`, { ...mine, region: 'eu-west-1' })
    const attach = `POST ${rulesets}/${String(value['id'])}/associations`
    expect((await api(world, attach, { entity_type: 'deployment', id: 'main' })).status).toBe(400)
    const { id } = world.lab.control.createPolicy({ name: 'here', rules: ['10.0.0.1'] })
    const elsewhere = { entity_type: 'deployment', id: 'other' }
    expect((await api(world, `POST ${rulesets}/${id}/associations`, elsewhere)).status).toBe(404)
  })
})
