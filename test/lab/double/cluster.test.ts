import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { type Answer, ask, openLab } from '../../support/lab/lab-clients.js'
import { rounds } from '../../support/rounds.js'

const json = { 'content-type': 'application/json' }

function parsed({ text }: Answer): unknown {
  return JSON.parse(text) as unknown
}

describe('GET /', () => {
  it.each([
    ['9.4.3', { number: '9.4.3', build_flavor: 'default' }],
    ['8.19.8', { number: '8.19.8', build_flavor: 'default' }],
    ['7.17.0', { number: '7.17.0', build_flavor: 'default' }],
    ['serverless', { number: '8.11.0', build_flavor: 'serverless' }],
  ] as const)('tells the version of %s', async (version, expected) => {
    await using world = await openLab({ version })
    const answer = await world.get('/')
    expect(answer.headers['x-elastic-product']).toBe('Elasticsearch')
    expect(parsed(answer)).toMatchObject({ version: expected, tagline: 'You Know, for Search' })
    expect(world.lab.line.cluster.version).toBe(version)
  })

  it('answers HEAD with the same fields and no body, over https too', async () => {
    await using world = await openLab()
    const head = await ask(world.lab.line.cluster.url, { method: 'HEAD', headers: world.auth, ca: world.ca })
    const get = await world.get('/')
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', get.headers['content-length']])
  })
})

describe('media types', () => {
  const vendor = (version: number, kind = 'json'): string =>
    `application/vnd.elasticsearch+${kind}; compatible-with=${version}`
  const body = '{"index":{"_index":"i"}}\n{}\n'

  it('of a newer client are refused by an older server', async () => {
    await using world = await openLab({ version: '8.19.8' })
    const headers = { accept: vendor(9), 'content-type': vendor(9, 'x-ndjson') }
    const reason = 'Invalid media-type value on headers [Accept, Content-Type]'
    const found = `Accept version must be either version 8 or 7, but found 9. Accept=${vendor(9)}`
    const refused = await world.bulk(body, '', headers)
    expect(refused.status).toBe(400)
    expect(parsed(refused)).toMatchObject({
      error: { type: 'media_type_header_exception', reason, caused_by: { type: 'status_exception', reason: found } },
    })
    expect((await world.bulk(body, '', { accept: 'application/json' })).status).toBe(200)
    expect((await world.bulk(body, '', { accept: vendor(8), 'content-type': vendor(8, 'x-ndjson') })).status).toBe(200)
  })

  it('of this version and the one before are taken, and answered in kind', async () => {
    await using world = await openLab({ version: '9.4.3' })
    for (const version of [9, 8]) {
      const answer = await world.bulk(body, '', {
        accept: vendor(version),
        'content-type': vendor(version, 'x-ndjson'),
      })
      expect([answer.status, answer.headers['content-type']]).toEqual([200, vendor(version).replace(' ', '')])
    }
    expect((await world.bulk(body, '', { accept: vendor(10) })).status).toBe(400)
  })

  it('that are no JSON are refused with 406', async () => {
    await using world = await openLab()
    expect(await world.bulk(body, '', { 'content-type': 'text/plain' })).toMatchObject({
      status: 406,
      text: '{"error":"Content-Type header [text/plain] is not supported","status":406}',
    })
  })
})

describe('credentials', () => {
  const challenge = 'Basic realm="security", charset="UTF-8", ApiKey'
  const key = (text: string): string => `ApiKey ${Buffer.from(text).toString('base64')}`

  it('are an API key, or username and password', async () => {
    await using world = await openLab()
    const { cluster } = world.lab.line
    const password = Buffer.from(`${cluster.username}:${cluster.password}`).toString('base64')
    for (const authorization of [`ApiKey ${cluster.apiKey}`, `apikey ${cluster.apiKey}`, `Basic ${password}`]) {
      expect((await ask(cluster.httpUrl, { headers: { authorization } })).status).toBe(200)
    }
  })

  it.each([
    ['missing', undefined, 'missing authentication credentials for REST request [/]', undefined],
    [
      'a wrong password',
      `Basic ${Buffer.from('elastic:wrong').toString('base64')}`,
      'unable to authenticate user [elastic] for REST request [/]',
      undefined,
    ],
    [
      'an unknown key',
      key('foo:bar'),
      'unable to authenticate with provided credentials and anonymous access is not allowed for this request',
      'API key: unable to find apikey with id foo',
    ],
    [
      'no base64',
      'ApiKey !!!',
      'unable to authenticate with provided credentials and anonymous access is not allowed for this request',
      'API key: Illegal base64 character 21',
    ],
    [
      'another scheme',
      'Bearer abc',
      'unable to authenticate with provided credentials and anonymous access is not allowed for this request',
      'oauth2 token: invalid token',
    ],
  ])('that are %s get 401 without the product header', async (_, authorization, reason, detail) => {
    await using world = await openLab()
    const answer = await ask(world.lab.line.cluster.httpUrl, {
      headers: authorization === undefined ? {} : { authorization },
    })
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, challenge])
    expect(answer.headers).not.toHaveProperty('x-elastic-product')
    const error = { type: 'security_exception', reason, ...(detail && { additional_unsuccessful_credentials: detail }) }
    expect(parsed(answer)).toMatchObject({ error: { ...error, root_cause: [error] }, status: 401 })
  })

  it('with a wrong secret are told from an unknown key', async () => {
    await using world = await openLab()
    const { cluster } = world.lab.line
    const id = Buffer.from(cluster.apiKey, 'base64').toString().split(':')[0]
    const answer = await ask(cluster.httpUrl, { headers: { authorization: key(`${id}:wrong`) } })
    expect(answer.text).toContain(`API key: invalid credentials for API key [${id}]`)
  })
})

it('refuses a mapping that changes the type of a field, and changes nothing', async () => {
  await using world = await openLab()
  const { httpUrl } = world.lab.line.cluster
  await world.bulk('{"index":{"_index":"logs","_id":"1"}}\n{"a":{"b":"text"}}\n')
  const body = JSON.stringify({ properties: { new: { type: 'long' }, a: { properties: { b: { type: 'long' } } } } })
  const answer = await ask(`${httpUrl}/logs/_mapping`, { method: 'PUT', headers: { ...world.auth, ...json }, body })
  expect(answer.status).toBe(400)
  expect(answer.text).toContain('mapper [a.b] cannot be changed from type [text] to [long]')
  expect((await world.get('/logs/_mapping')).text).not.toContain('"new"')
})

describe('rights that are taken from the API key', () => {
  const body = '{"index":{"_index":"logs","_id":"1"}}\n{}\n{"index":{"_index":"others-a","_id":"1"}}\n{}\n'

  it('are missing for each document if it may still write elsewhere, until they are given back', async () => {
    await using world = await openLab()
    world.lab.control.limitApiKey({ prefix: 'others-', privileges: ['index'] })
    const error = { type: 'security_exception' }
    const items = [{ index: { status: 403, error } }, { index: { status: 201 } }]
    expect(parsed(await world.bulk(body))).toMatchObject({ errors: true, items })
    expect((await world.get('/')).status).toBe(200)
    expect((await world.get('/logs/_count')).status).toBe(403)
    world.lab.control.limitApiKey()
    expect(parsed(await world.bulk(body))).toMatchObject({ errors: false })
  })

  it('are missing for the whole request if it may write nowhere', async () => {
    await using world = await openLab()
    world.lab.control.limitApiKey({ prefix: '', privileges: ['read'] })
    const answer = await world.bulk(body)
    expect(answer.status).toBe(403)
    expect(answer.headers).not.toHaveProperty('x-elastic-product')
    expect(answer.text).toMatch(/"action \[indices:data\/write\/bulk\] is unauthorized for API key id \[\S+\] of user/)
    expect(world.lab.control.count('logs')).toBe(0)
  })
})

describe('the least-privilege key', () => {
  it('writes to least-* and gets item 403s elsewhere', async () => {
    await using world = await openLab()
    const { cluster } = world.lab.line
    const authorization = `ApiKey ${cluster.leastPrivilegeApiKey}`
    const id = Buffer.from(cluster.leastPrivilegeApiKey, 'base64').toString().split(':')[0]
    const answer = await world.bulk(
      '{"index":{"_index":"least-a","_id":"1"}}\n{}\n{"create":{"_index":"other"}}\n{}\n{"delete":{"_index":"other","_id":"9"}}\n',
      '',
      { authorization },
    )
    const error = {
      type: 'security_exception',
      reason: `action [indices:data/write/bulk[s]] is unauthorized for API key id [${id}] of user [elastic] on indices [other], this action is granted by the index privileges [create_doc,create,delete,index,write,all]`,
    }
    expect(parsed(answer)).toMatchObject({
      errors: true,
      items: [
        { index: { status: 201 } },
        { create: { status: 403, error } },
        { delete: { _id: '9', status: 403, error } },
      ],
    })
  })

  it.each([
    ['GET', '/', 'cluster:monitor/main'],
    ['GET', '/least-a/_count', 'indices:data/read/search'],
    ['POST', '/least-a/_refresh', 'indices:admin/refresh'],
    ['GET', '/least-a/_doc/1', 'indices:data/read/get'],
    ['POST', '/least-a/_mget', 'indices:data/read/get'],
    ['PUT', '/least-b', 'indices:admin/create'],
    ['DELETE', '/least-a', 'indices:admin/delete'],
    ['GET', '/least-a', 'indices:admin/get'],
    ['PUT', '/least-a/_settings', 'indices:admin/settings/update'],
  ])('gets 403 for %s %s, without the product header', async (method, path, action) => {
    await using world = await openLab()
    const { cluster } = world.lab.line
    await world.bulk('{"index":{"_index":"least-a","_id":"1"}}\n{}\n')
    const headers = { ...json, authorization: `ApiKey ${cluster.leastPrivilegeApiKey}` }
    const body = method === 'GET' ? undefined : '{"ids":["1"]}'
    const answer = await ask(cluster.httpUrl + path, { method, headers, ...(body !== undefined && { body }) })
    expect(answer.status).toBe(403)
    expect(answer.headers).not.toHaveProperty('x-elastic-product')
    expect(parsed(answer)).toMatchObject({ status: 403, error: { type: 'security_exception' } })
    expect(answer.text).toContain(`action [${action}] is unauthorized for API key id [`)
  })

  it('may ask who it is and what it may do', async () => {
    await using world = await openLab()
    const { cluster } = world.lab.line
    const headers = { ...json, authorization: `ApiKey ${cluster.leastPrivilegeApiKey}` }
    const who = parsed(await ask(`${cluster.httpUrl}/_security/_authenticate`, { headers }))
    expect(who).toMatchObject({ username: 'elastic', authentication_type: 'api_key', api_key: { name: 'least' } })
    const privileges = ['create_doc', 'auto_configure', 'manage']
    const body = JSON.stringify({ cluster: ['monitor'], index: [{ names: ['least-a', 'other'], privileges }] })
    const may = parsed(await ask(`${cluster.httpUrl}/_security/user/_has_privileges`, { headers, body }))
    expect(may).toEqual({
      username: 'elastic',
      has_all_requested: false,
      cluster: { monitor: false },
      index: {
        'least-a': { auto_configure: true, create_doc: true, manage: false },
        other: { auto_configure: false, create_doc: false, manage: false },
      },
      application: {},
    })
  })
})

it('tells a superuser that everything is allowed', async () => {
  await using world = await openLab()
  const body = JSON.stringify({ cluster: ['monitor'], index: [{ names: 'a', privileges: ['create_doc'] }] })
  const url = `${world.lab.line.cluster.httpUrl}/_security/user/_has_privileges`
  const may = parsed(await ask(url, { headers: { ...json, ...world.auth }, body }))
  expect(may).toMatchObject({ has_all_requested: true, cluster: { monitor: true }, index: { a: { create_doc: true } } })
})

describe('an index', () => {
  const missing = {
    status: 404,
    error: {
      type: 'index_not_found_exception',
      reason: 'no such index [nope]',
      'resource.id': 'nope',
      index_uuid: '_na_',
    },
  }

  it('is created once, described, and deleted', async () => {
    await using world = await openLab()
    const { httpUrl } = world.lab.line.cluster
    const headers = { ...json, ...world.auth }
    const mappings = { properties: { a: { type: 'integer' }, o: { properties: { t: { type: 'keyword' } } } } }
    const body = JSON.stringify({ settings: { number_of_shards: 2 }, mappings })
    const created = await ask(`${httpUrl}/made`, { method: 'PUT', headers, body })
    expect(created.text).toBe('{"acknowledged":true,"shards_acknowledged":true,"index":"made"}')
    const again = await ask(`${httpUrl}/made`, { method: 'PUT', headers })
    expect(parsed(again)).toMatchObject({ status: 400, error: { type: 'resource_already_exists_exception' } })
    const described = parsed(await world.get('/made'))
    expect(described).toMatchObject({ made: { aliases: {}, mappings, settings: { index: { number_of_shards: '2' } } } })
    expect(parsed(await world.get('/made/_mapping'))).toEqual({ made: { mappings } })
    expect((await ask(`${httpUrl}/made`, { method: 'HEAD', headers })).status).toBe(200)
    expect((await ask(`${httpUrl}/made`, { method: 'DELETE', headers })).text).toBe('{"acknowledged":true}')
    expect((await ask(`${httpUrl}/made`, { method: 'HEAD', headers })).status).toBe(404)
  })

  it.each(['/nope', '/nope/_count', '/nope/_doc/1', '/nope/_settings'])(
    'that is missing is named by GET %s',
    async path => {
      await using world = await openLab()
      const answer = await world.get(path)
      expect([answer.status, parsed(answer)]).toMatchObject([404, missing])
    },
  )

  it('may not be created with a bad name', async () => {
    await using world = await openLab()
    const answer = await ask(`${world.lab.line.cluster.httpUrl}/Upper`, { method: 'PUT', headers: world.auth })
    expect(parsed(answer)).toMatchObject({ status: 400, error: { type: 'invalid_index_name_exception' } })
  })

  it('is counted alone, with others, by pattern, and with all', async () => {
    await using world = await openLab()
    await world.bulk('{"index":{"_index":"a-1"}}\n{}\n{"index":{"_index":"a-2"}}\n{}\n{"index":{"_index":"b"}}\n{}\n')
    for (const [path, count] of [
      ['/a-1', 1],
      ['/a-1,b', 2],
      ['/a-*', 2],
      ['/x*', 0],
      ['', 3],
    ] as const) {
      expect(parsed(await world.get(`${path}/_count`))).toMatchObject({ count })
    }
    const refreshed = await ask(`${world.lab.line.cluster.httpUrl}/a-*/_refresh`, {
      method: 'POST',
      headers: world.auth,
    })
    expect(refreshed.text).toBe('{"_shards":{"total":4,"successful":2,"failed":0}}')
  })
})

describe('documents', () => {
  it('are found one by one and many at once', async () => {
    await using world = await openLab()
    const { httpUrl } = world.lab.line.cluster
    await world.bulk('{"index":{"_index":"p1","_id":"a/b"}}\n{"n":"12"}\n')
    const found =
      '{"_index":"p1","_id":"a/b","_version":1,"_seq_no":0,"_primary_term":1,"found":true,"_source":{"n":"12"}}'
    expect((await world.get('/p1/_doc/a%2Fb')).text).toBe(found)
    const bare = parsed(await world.get('/p1/_doc/a%2Fb?_source=false'))
    expect(bare).toMatchObject({ found: true })
    expect(bare).not.toHaveProperty('_source')
    expect(await world.get('/p1/_doc/x')).toMatchObject({
      status: 404,
      text: '{"_index":"p1","_id":"x","found":false}',
    })
    const headers = { ...json, ...world.auth }
    const byIds = await ask(`${httpUrl}/p1/_mget`, { headers, body: '{"ids":["a/b","x"]}' })
    expect(byIds.text).toBe(`{"docs":[${found},{"_index":"p1","_id":"x","found":false}]}`)
    const docs = [
      { _index: 'p1', _id: 'a/b', _source: false },
      { _index: 'nope', _id: '1' },
    ]
    const byDocs = parsed(await ask(`${httpUrl}/_mget`, { headers, body: JSON.stringify({ docs }) })) as {
      docs: object[]
    }
    expect(byDocs.docs[0]).not.toHaveProperty('_source')
    expect(byDocs.docs[1]).toMatchObject({ _id: '1', error: { type: 'index_not_found_exception' } })
  })

  it('can be written one by one', async () => {
    await using world = await openLab()
    const { httpUrl } = world.lab.line.cluster
    const headers = { ...json, ...world.auth }
    const write = (method: string, path: string, body = '{"z":1}'): Promise<Answer> =>
      ask(httpUrl + path, { method, headers, ...(method !== 'DELETE' && { body }) })
    expect(await write('PUT', '/p1/_doc/1', '{\n "z": 1\n}')).toMatchObject({ status: 201 })
    expect(await write('PUT', '/p1/_doc/1')).toMatchObject({ status: 200 })
    expect(parsed(await write('PUT', '/p1/_create/1'))).toMatchObject({
      status: 409,
      error: { type: 'version_conflict_engine_exception' },
    })
    expect(await write('POST', '/p1/_doc')).toMatchObject({ status: 201 })
    expect(await write('DELETE', '/p1/_doc/1')).toMatchObject({ status: 200 })
    expect(await write('DELETE', '/p1/_doc/1')).toMatchObject({ status: 404 })
    expect(world.lab.control.count('p1')).toBe(1)
  })
})

it('answers what it does not know as Elasticsearch does', async () => {
  await using world = await openLab()
  expect(await world.get('/p1/foo/bar')).toMatchObject({
    status: 400,
    text: '{"error":"no handler found for uri [/p1/foo/bar] and method [GET]"}',
  })
  expect(parsed(await world.get('/_nope'))).toMatchObject({
    error: { reason: "Invalid index name [_nope], must not start with '_'." },
  })
  for (const path of ['/_cat/indices', '/p1/_delete_by_query', '/_security/api_key'])
    expect(await world.get(path)).toMatchObject({ status: 400, text: expect.stringContaining(`the lab does not know the API [GET ${path}]`) as string }) // prettier-ignore
  const asked: readonly [body: object, named: string][] = [
    [{ aggs: { a: { terms: { field: 'a' } } } }, '[aggs] of [_search]'],
    [{ query: { fuzzy: { a: 'b' } } }, 'the query [fuzzy]. It knows match_all,'],
    [{ query: { range: { a: { gte: 1, time_zone: '+01:00' } } } }, '[time_zone] of [range]'],
    [{ query: { query_string: { query: 'a~2' } } }, '[~] of [query_string]'],
    [{ query: { match: { a: { query: 'b', fuzziness: 1 } } } }, '[fuzziness] of [match]'],
    [{ query: { term: { place: 'x' } } }, 'searches in fields of type [geo_point]'],
  ]
  const { httpUrl } = world.lab.line.cluster
  const headers = { ...world.auth, ...json }
  await ask(`${httpUrl}/p1`, { method: 'PUT', headers, body: '{"mappings":{"properties":{"place":{"type":"geo_point"},"a":{"type":"long"}}}}' }) // prettier-ignore
  for (const [body, named] of asked) {
    const found = await ask(`${httpUrl}/p1/_search`, { headers, body: JSON.stringify(body) })
    expect([found.status, found.text]).toEqual([400, expect.stringContaining(`the lab does not know ${named}`)])
  }
  const wrong = await ask(`${world.lab.line.cluster.httpUrl}/_bulk`, { method: 'DELETE', headers: world.auth })
  expect([wrong.status, wrong.headers.allow]).toEqual([405, 'POST,PUT'])
})

it('keeps each of very many small documents in a few hundred bytes', { tags: 'long' }, async () => {
  const many = rounds(100_000, 1_000_000)
  await using world = await openLab()
  const before = usedBytes()
  for (let round = 0; round < many / 10_000; round++) {
    const pairs = Array.from(
      { length: 10_000 },
      (_, i) => `{"create":{"_index":"m","_id":"run-${round * 10_000 + i}"}}\n{"n":${i}}\n`,
    )
    expect((await world.bulk(pairs.join(''), '?filter_path=errors')).text).toBe('{"errors":false}')
  }
  const used = usedBytes() - before
  expect(world.lab.control.count('m')).toBe(many)
  expect(used).toBeLessThan(many * 500)
})

/** Bytes that are in use, without garbage. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
