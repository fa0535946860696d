// @module-tag long
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { labEnvironment } from '../../../src/lab/lab-line.js'
import { startLab } from '../../../src/lab/index.js'
import { type Answer, ask, askThrough, openLab } from '../../support/lab/lab-clients.js'

interface Client {
  (operation: string, body?: unknown): Promise<{ status: number; value: unknown }>
}

function clientOf(control: string): Client {
  return async (operation, body) => {
    const [method = '', path = ''] = operation.split(' ')
    const answer: Answer = await ask(control + path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, value: answer.text === '' ? undefined : (JSON.parse(answer.text) as unknown) }
  }
}

describe('the control API', () => {
  it('is reached with the secret in its path alone', async () => {
    await using world = await openLab()
    const { control } = world.lab.line
    expect((await ask(`${control}/line`)).status).toBe(200)
    const wrong = control.slice(0, -1) + (control.endsWith('0') ? '1' : '0')
    for (const url of [wrong, new URL(control).origin]) {
      const refused = await ask(`${url}/line`)
      expect([refused.status, refused.text]).toEqual([404, '{"error":"no such path"}'])
    }
  })

  it('tells the line', async () => {
    await using world = await openLab()
    const api = clientOf(world.lab.line.control)
    expect(await api('GET /line')).toEqual({ status: 200, value: world.lab.line })
  })

  it('registers presets, and creates, attaches, changes, detaches and deletes policies', async () => {
    await using world = await openLab()
    const api = clientOf(world.lab.line.control)
    expect(await api('PUT /register', { which: 'unattached' })).toEqual({ status: 204, value: undefined })
    expect(await api('GET /policies')).toMatchObject({
      value: [{ name: 'static pair', rules: ['127.0.0.2/32', '127.0.0.3/32'], deployments: [] }],
    })
    const { value } = await api('POST /policies', { name: 'mine', rules: ['10.0.0.0/8'] })
    const { id } = value as { id: string }
    expect((await world.get('/')).status).toBe(200)
    expect(await api(`POST /policies/${id}/attach`)).toMatchObject({ status: 200, value: { deployments: ['main'] } })
    expect((await world.get('/')).status).toBe(403)
    expect(await api(`PUT /policies/${id}`, { rules: ['127.0.0.1/32'] })).toMatchObject({ status: 200 })
    expect((await world.get('/')).status).toBe(200)
    expect(await api(`POST /policies/${id}/detach`)).toMatchObject({ status: 200, value: { deployments: [] } })
    expect(await api(`DELETE /policies/${id}`)).toMatchObject({ status: 204 })
    expect(await api(`DELETE /policies/${id}`)).toMatchObject({ status: 404 })
  })

  it('starts deployments', async () => {
    await using world = await openLab()
    const api = clientOf(world.lab.line.control)
    const { status, value } = await api('POST /deployments', { name: 'second' })
    const { httpUrl } = value as { httpUrl: string }
    expect(status).toBe(200)
    expect((await ask(httpUrl, { headers: world.auth })).status).toBe(200)
  })

  it('plants faults, tells and heals them', async () => {
    await using world = await openLab()
    const api = clientOf(world.lab.line.control)
    const { line } = world.lab
    expect(await api('POST /faults', { handshake: { kind: 'rst' }, latencyMs: 1 })).toMatchObject({ status: 204 })
    expect(await api('GET /faults')).toMatchObject({ value: { handshake: { kind: 'rst' }, latencyMs: 1 } })
    await expect(askThrough(line.proxy.http, line.ipCheckUrl, { ca: world.ca })).rejects.toThrow()
    expect(await api('DELETE /faults')).toMatchObject({ status: 204 })
    expect(await api('GET /faults')).toEqual({ status: 200, value: {} })
    expect((await askThrough(line.proxy.http, line.ipCheckUrl, { ca: world.ca })).status).toBe(200)
  })

  it('lists connections with their egress address, and forgets them', async () => {
    await using world = await openLab()
    const { line } = world.lab
    const api = clientOf(line.control)
    await askThrough(line.proxy.nodes[1], line.cluster.url, { ca: world.ca, headers: world.auth })
    const { host } = new URL(line.cluster.url)
    expect((await api('GET /connections')).value).toMatchObject([
      { at: 'proxy', port: 'node-2', from: '127.0.0.1', egress: '127.0.0.3', target: host, requests: 1 },
      { at: 'cluster', port: 'https', from: '127.0.0.3', requests: 1 },
    ])
    expect(await api('DELETE /connections')).toMatchObject({ status: 204 })
    expect(await api('GET /connections')).toEqual({ status: 200, value: [] })
  })

  it('rotates the proxy’s credentials, and tells the new line', async () => {
    await using world = await openLab()
    const before = world.lab.line.proxy.http
    const { value } = await clientOf(world.lab.line.control)('POST /credentials/rotate')
    expect(value).toEqual(world.lab.line)
    expect(world.lab.line.proxy.http).not.toBe(before)
  })

  it('rotates the API key: the old one is refused, and the line has the new one', async () => {
    await using world = await openLab()
    expect((await world.get('/')).status).toBe(200)
    const { value } = await clientOf(world.lab.line.control)('POST /api-key/rotate')
    expect(value).toEqual(world.lab.line)
    expect((await world.get('/')).status).toBe(401)
    const { apiKey, httpUrl } = world.lab.line.cluster
    expect((await ask(`${httpUrl}/`, { headers: { authorization: `ApiKey ${apiKey}` } })).status).toBe(200)
  })

  it('changes the filter’s wording and the size limit', async () => {
    await using world = await openLab({ register: 'none' })
    const api = clientOf(world.lab.line.control)
    expect(await api('PUT /filter-body', { body: 'short' })).toMatchObject({ status: 204 })
    expect((await world.get('/')).text).toBe('{"ok":false,"message":"Forbidden"}')
    expect(await api('PUT /max-content-bytes', { bytes: 1 })).toMatchObject({ status: 204 })
    expect(await api('PUT /register', { which: 'everyone' })).toMatchObject({ status: 204 })
    expect((await world.bulk('{}\n')).status).toBe(413)
  })

  it('counts and shows documents past the filter', async () => {
    await using world = await openLab()
    const api = clientOf(world.lab.line.control)
    await world.bulk('{"index":{"_index":"i","_id":"a b"}}\n{"big":1234567890123456789}\n')
    expect(await api('GET /indices/i/count')).toEqual({ status: 200, value: { count: 1 } })
    const raw = await ask(`${world.lab.line.control}/indices/i/documents/a%20b`)
    expect(raw.text).toBe('{"big":1234567890123456789}')
    expect(await api('GET /indices/i/documents/none')).toMatchObject({ status: 404 })
  })

  it.each([
    ['PUT /register', { which: 'half' }, 'must be one of both, first, second'],
    ['POST /policies', { name: 'x', rules: ['example.com'] }, 'DNS names are not supported'],
    ['POST /policies', { name: 'x', rules: [] }, 'at least one rule'],
    ['POST /policies', { name: 'x', rules: 'all' }, 'rules must be a list of texts'],
    ['POST /policies', { rules: ['10.0.0.1'] }, 'name must be a text'],
    ['POST /faults', { handshaek: {} }, 'no such fault: handshaek'],
    ['PUT /max-content-bytes', { bytes: 'many' }, 'bytes must be a number'],
    ['PUT /filter-body', [], 'the body is not a JSON object'],
  ])('answers 400 to %s %j', async (operation, body, problem) => {
    await using world = await openLab()
    const { status, value } = await clientOf(world.lab.line.control)(operation, body)
    expect([status, JSON.stringify(value)]).toEqual([400, expect.stringContaining(problem) as string])
  })

  it('names its operations to who asks for another', async () => {
    await using world = await openLab()
    const { status, value } = await clientOf(world.lab.line.control)('GET /elsewhere')
    expect([status, JSON.stringify(value)]).toEqual([404, expect.stringContaining('PUT /register') as string])
  })
})

describe('a lab', () => {
  it('has a complete line and environment', async () => {
    await using world = await openLab()
    const { line, env } = world.lab
    const url = (scheme: string): unknown =>
      expect.stringMatching(new RegExp(`^${scheme}://lab-[0-9a-f]{8}:[^@/ ]+@127\\.0\\.0\\.1:\\d+$`))
    expect(line.proxy).toEqual({
      http: url('http'),
      https: url('https'),
      socks5: url('socks5'),
      socks5s: url('socks5s'),
      nodes: [url('http'), url('http')],
    })
    expect(line.servicenow).toEqual({
      url: expect.stringMatching(/^https:\/\/localhost:\d+$/) as string,
      httpUrl: expect.stringMatching(/^http:\/\/localhost:\d+$/) as string,
      username: 'sluice.integration',
      password: expect.any(String) as string,
      clientId: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      clientSecret: expect.any(String) as string,
      publicClientId: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    })
    expect(env).toEqual(labEnvironment(line))
    expect(env).toMatchObject({
      STATIC_PROXY_URL: line.proxy.http,
      STATIC_IPS: '127.0.0.2,127.0.0.3',
      ELASTICSEARCH_API_KEY: line.cluster.apiKey,
      SLUICE_CA: line.cluster.caFile,
      SERVICENOW_INSTANCE_URL: line.servicenow.url,
      SERVICENOW_USERNAME: line.servicenow.username,
      SERVICENOW_PASSWORD: line.servicenow.password,
      SERVICENOW_CLIENT_ID: line.servicenow.clientId,
      SERVICENOW_CLIENT_SECRET: line.servicenow.clientSecret,
    })
    expect(JSON.stringify(line)).not.toContain('\n')
  })

  it('keeps its certificate in a private folder, and removes it when it closes', async () => {
    const lab = await startLab()
    const { caFile } = lab.line.cluster
    expect([statSync(caFile).mode & 0o777, statSync(dirname(caFile)).mode & 0o777]).toEqual([0o600, 0o700])
    await lab.close()
    expect(existsSync(dirname(caFile))).toBe(false)
    await expect(ask(lab.line.ipCheckUrl)).rejects.toThrow('ECONNREFUSED')
  })

  it('closes twice, and with connections open', async () => {
    const lab = await startLab({ register: 'everyone' })
    lab.control.plant({ hold: {} })
    const body = '{"index":{"_index":"i"}}\n{}\n'
    const headers = { authorization: `ApiKey ${lab.line.cluster.apiKey}`, 'content-type': 'application/x-ndjson' }
    const held = expect(ask(`${lab.line.cluster.httpUrl}/_bulk`, { headers, body })).rejects.toThrow()
    await ask(lab.line.cluster.httpUrl, { headers })
    await lab.close()
    await lab.close()
    await held
    expect(process.getActiveResourcesInfo().filter(kind => kind.startsWith('TCPServer'))).toEqual([])
  })

  it('rejects when a port is taken, and leaves nothing open', async () => {
    const first = await startLab({ ports: 'contract' }).catch(() => undefined)
    const ports = first && [
      first.line.proxy.http,
      first.line.proxy.https,
      first.line.cluster.url,
      first.line.cluster.httpUrl,
      first.line.servicenow.url,
      first.line.servicenow.httpUrl,
    ]
    if (first) {
      expect(ports?.map(url => new URL(url).port)).toEqual(['9293', '9294', '9243', '9200', '9443', '9080'])
    }
    const servers = (): number => process.getActiveResourcesInfo().filter(kind => kind === 'TCPServerWrap').length
    const before = servers()
    await expect(startLab({ ports: 'contract' })).rejects.toThrow('EADDRINUSE')
    expect(servers()).toBe(before)
    await first?.close()
  })
})
