// @module-tag long
import { expect, test } from 'vitest'
import { parseProxyUrl } from '../../../../src/route/proxy/proxy-url.js'
import { openRoute } from '../../../../src/route/proxy/route.js'
import { startPort } from '../../../support/servers/proxy-servers.js'

// Sluice sends a line end late in its time limit. The rest of the limit is longer than a machine may stand still.
test('socks5:// at an HTTP port that waits for a line end, as Squid does', async () => {
  await using proxy = await startPort(socket => {
    socket.on('data', bytes => bytes.includes('\r\n') && socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  })
  await using route = openRoute({
    target: new URL('https://cluster.test:9243'),
    proxy: parseProxyUrl(`socks5://user:password@127.0.0.1:${proxy.port}`, 'the test'),
    connections: 1,
    connectTimeoutMs: 20_000,
  })
  await expect(route.request({ method: 'GET', path: '/', headers: {} })).rejects.toMatchObject({
    code: 'SOCKS_INVALID',
    failure: { code: 'PROXY_PORT_IS_HTTP' },
  })
})
