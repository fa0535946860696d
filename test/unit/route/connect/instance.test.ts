import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { openServiceNow } from '../../../../src/route/connect/open-servicenow.js'
import { startHttpProxy, startTarget } from '../../../support/servers/proxy-servers.js'

describe('an instance behind the proxy', () => {
  test('gets its rows with Basic authentication through the proxy', async () => {
    await using platform = await startTarget({ answer: rows([{ sys_id: 'a' }]) })
    await using proxy = await startHttpProxy({ username: 'u', password: 'p' })
    await using instance = await openServiceNow({
      servicenow: { url: `http://127.0.0.1:${platform.port}`, username: 'integration', password: 'secret' },
      proxy: `http://u:p@127.0.0.1:${proxy.port}`,
    })
    const { result } = await instance.call({
      method: 'GET',
      table: 'incident',
      query: { sysparm_limit: '1', sysparm_query: 'a=1^b=ü' },
    })
    expect(result).toEqual([{ sys_id: 'a' }])
    expect(proxy.asked).toEqual([
      `http://127.0.0.1:${platform.port}/api/now/table/incident?sysparm_limit=1&sysparm_query=a%3D1%5Eb%3D%C3%BC`,
    ])
    expect(platform.requests[0]?.headers.authorization).toBe(`Basic ${btoa('integration:secret')}`)
  })

  test('refuses half a character in a query, and asks nothing', async () => {
    await using platform = await startTarget({ answer: rows([]) })
    const url = `http://127.0.0.1:${platform.port}`
    await using instance = await openServiceNow({ servicenow: { url, username: 'integration', password: 'secret' } })
    const query = { sysparm_query: 'name=\ud800' }
    await expect(instance.call({ method: 'GET', table: 'incident', query })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      failure: { evidence: { option: 'sysparm_query' } },
    })
    expect(platform.requests).toEqual([])
  })

  test('asks for a token with the password grant, over the same proxy', async () => {
    await using platform = await startTarget({
      answer: (request, response) => {
        if (request.url === '/oauth_token.do')
          return json(response, { access_token: 'token-1', token_type: 'Bearer', expires_in: 1799 })
        return rows([])(request, response)
      },
    })
    await using proxy = await startHttpProxy()
    await using instance = await openServiceNow({
      servicenow: {
        url: `http://127.0.0.1:${platform.port}`,
        username: 'integration',
        password: 'p&s=',
        clientId: 'id',
        clientSecret: 'hush',
      },
      proxy: `http://127.0.0.1:${proxy.port}`,
    })
    await Promise.all([1, 2, 3].map(async () => await instance.call({ method: 'GET', table: 'incident' })))
    expect(platform.requests.map(({ url }) => url)).toEqual([
      '/oauth_token.do',
      '/api/now/table/incident',
      '/api/now/table/incident',
      '/api/now/table/incident',
    ])
    expect(Object.fromEntries(new URLSearchParams(platform.requests[0]?.body))).toEqual({
      grant_type: 'password',
      client_id: 'id',
      client_secret: 'hush',
      username: 'integration',
      password: 'p&s=',
    })
    expect(platform.requests[3]?.headers.authorization).toBe('Bearer token-1')
    expect(proxy.asked).toHaveLength(4)
  })
})

function rows(result: unknown) {
  return (_request: IncomingMessage, response: ServerResponse) => json(response, { result })
}

function json(response: ServerResponse, body: unknown): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}
