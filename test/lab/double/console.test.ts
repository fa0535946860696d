import { readFile } from 'node:fs/promises'
import { globSync } from 'tinyglobby'
import { describe, expect, it } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { type Ask, ask, openLab } from '../../support/lab/lab-clients.js'

/** Asks the console as a page of it does, or as somebody else. */
function clientOf({ line }: Lab) {
  const { origin, host, hash } = new URL(line.console ?? '')
  const headers = { 'x-lab-token': hash.slice(1), 'sec-fetch-site': 'same-origin' }
  return {
    origin,
    host,
    ask: async (path: string, options: Ask = {}) =>
      await ask(`${origin}${path}`, { ...options, headers: { ...headers, ...options.headers } }),
  }
}

describe('the console', () => {
  it('exists only if somebody asks for it', async () => {
    await using lab = await startLab()
    expect(lab.line).not.toHaveProperty('console')
    const root = new URL('../../../src/', import.meta.url)
    const files = globSync('**/*.ts', { cwd: root, ignore: 'lab/console/**' })
    const naming = await Promise.all(
      files.map(async file => [file, await readFile(new URL(file, root), 'utf8')] as const),
    )
    const loading = naming.filter(([, text]) => /console\/(?:server|page|regions)\.js/.test(text))
    expect(loading.map(([file]) => file)).toEqual(['lab/lab.ts'])
    expect(loading[0]?.[1]).toContain("await import('./console/server.js')")
  })

  it('serves a page that holds nothing of the lab, and that may load nothing', async () => {
    await using lab = await startLab({ console: true })
    const { headers, status, text } = await ask(`${clientOf(lab).origin}/`)
    expect([status, headers['cache-control'], headers['x-content-type-options']]).toEqual([200, 'no-store', 'nosniff'])
    const policy = headers['content-security-policy']
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'; /,
    )
    expect(policy).toContain("frame-ancestors 'none'")
    const { hash } = new URL(lab.line.console ?? '')
    for (const secret of [hash.slice(1), lab.line.cluster.apiKey, new URL(lab.line.proxy.http).password])
      expect(text).not.toContain(secret)
    expect(text).not.toMatch(/https?:|src=|url\(|@import/)
  })

  it('does what the control API does, for its own page', async () => {
    await using lab = await startLab({ console: true })
    const client = clientOf(lab)
    const made = await client.ask('/control/policies', { body: JSON.stringify({ name: 'a', rules: ['10.0.0.1'] }) })
    expect([made.status, lab.control.policies().at(-1)?.name]).toEqual([200, 'a'])
    const wrong = await client.ask('/control/policies', { body: JSON.stringify({ name: 'a', rules: ['nowhere'] }) })
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('DNS names are not supported')])
    const [attached] = lab.control.policies()
    const deleted = await client.ask(`/control/policies/${attached?.id}`, { method: 'DELETE' })
    expect([deleted.status, deleted.text]).toEqual([400, expect.stringContaining('Detach it first')])
    expect((await client.ask('/control/nothing')).status).toBe(404)
  })

  it('refuses every page but its own', async () => {
    await using lab = await startLab({ console: true })
    const client = clientOf(lab)
    const strangers: readonly [status: number, headers: Record<string, string>][] = [
      [401, { 'x-lab-token': '' }],
      [401, { 'x-lab-token': 'a'.repeat(32) }],
      [403, { origin: 'http://127.0.0.1:1' }],
      [403, { origin: `https://${client.host}` }],
      [403, { origin: 'null' }],
      [403, { 'sec-fetch-site': 'cross-site' }],
      // Another port of this machine.
      [403, { 'sec-fetch-site': 'same-site' }],
      // A name that somebody made to lead here.
      [421, { host: 'rebound.example' }],
      [421, { host: '127.0.0.1:1' }],
    ]
    for (const [status, headers] of strangers) {
      const tries = [
        await client.ask('/control/faults', { body: '{"edge":"unavailable"}', headers }),
        await client.ask('/control/faults', { method: 'OPTIONS', headers }),
        await client.ask('/events', { headers }),
      ]
      for (const one of tries) {
        expect([one.status, headers]).toEqual([status, headers])
        expect(one.headers).not.toHaveProperty('access-control-allow-origin')
      }
    }
    expect(lab.control.faults()).toEqual({})
    expect((await client.ask('/control/faults', { body: '{"edge":"unavailable"}' })).status).toBe(204)
    expect(lab.control.faults()).toEqual({ edge: 'unavailable' })
  })
})

describe('refusals', () => {
  it('name who refused a request, whose, and why', async () => {
    await using world = await openLab()
    const { lab, auth, get, bulk } = world
    const { control, line } = lab
    await get('/')
    await get('/missing/_doc/1')
    await ask(`${line.cluster.httpUrl}/`)
    await ask(`${line.cluster.httpUrl}/UPPER?wait=1`, { method: 'PUT', headers: auth })
    control.plant({ bulk: { status: 429, times: 1 } })
    await bulk('{"create":{"_index":"a"}}\n{}\n')
    control.register('none')
    await get('/')
    await ask(`${line.servicenow.httpUrl}/api/now/table/incident?sysparm_limit=1`)
    control.servicenow.register('none')
    await ask(`${line.servicenow.httpUrl}/api/now/table/incident`)
    const seen = control.refusals().map(({ by, from, request, status, why }) => [by, from, request, status, why])
    const table = 'GET /api/now/table/incident'
    const own = '127.0.0.1'
    expect(seen).toEqual([
      ['cluster', own, 'GET /', 401, 'missing authentication credentials for REST request [/]'],
      ['cluster', own, 'PUT /UPPER', 400, 'Invalid index name [UPPER], must be lowercase'],
      ['cluster', own, 'POST /_bulk', 429, 'a planted fault'],
      ['IP filter', own, 'GET /', 403, `no attached policy allows ${own}`],
      ['ServiceNow', own, table, 401, 'User Not Authenticated: Required to provide Auth information'],
      ['ServiceNow', own, table, 403, 'the address access control blocks an address of the request'],
    ])
    control.forgetRefusals()
    expect(control.refusals()).toEqual([])
  })
})
