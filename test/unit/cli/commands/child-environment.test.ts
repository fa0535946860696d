import { expect, test } from 'vitest'
import { childEnvironment } from '../../../../src/cli/commands/child-environment.js'

const tunnel = {
  proxy: '127.0.0.1:4000',
  token: 'abc',
  opened: [{ name: 'cluster', target: 'https://es.example:9243', probes: 16, notes: [] }],
}
const local = 'http://sluice:abc@127.0.0.1:4000'

test('a child finds the tunnel wherever programs look for a proxy', () => {
  const env = childEnvironment({ HTTPS_PROXY: 'http://old', NO_PROXY: '*', PATH: '/bin' }, tunnel, undefined)
  expect(env).toEqual({
    PATH: '/bin',
    HTTPS_PROXY: local,
    https_proxy: local,
    HTTP_PROXY: local,
    http_proxy: local,
    ALL_PROXY: local,
    all_proxy: local,
    NO_PROXY: 'localhost,127.0.0.1,::1',
    no_proxy: 'localhost,127.0.0.1,::1',
    NODE_USE_ENV_PROXY: '1',
    SLUICE_TUNNEL_TOKEN: 'abc',
  })
})

test('a target on this machine is reached through the tunnel, too', () => {
  const opened = [{ ...tunnel.opened[0], name: 'cluster', target: 'https://localhost:9200', probes: 1, notes: [] }]
  expect(childEnvironment({}, { ...tunnel, opened }, undefined)['NO_PROXY']).toBe('127.0.0.1,::1')
  const raw = [{ name: '[::1]:5432', target: '[::1]:5432', probes: 1, notes: [] }]
  expect(childEnvironment({}, { ...tunnel, opened: raw }, undefined)['no_proxy']).toBe('localhost,127.0.0.1')
})

test('a child gets no password of the real proxy, under whatever name', () => {
  const real = 'http://user:p%40ss-word@proxy.example:9293'
  const given = {
    STATIC_PROXY_URL: real,
    QUOTAGUARDSTATIC_URL: real,
    SLUICE_PROXY_FILE: '/run/secrets/proxy',
    OURS: `x ${real} y`,
    DECODED: 'user:p@ss-word',
    PASSWORD: 'p@ss-word',
    ENCODED: 'p%40ss-word',
    KEPT: 'password',
    EMPTY: '',
  }
  const env = childEnvironment(given, tunnel, real)
  expect(JSON.stringify(env)).not.toMatch(/p(@|%40)ss-word/)
  expect(env).toMatchObject({ KEPT: 'password', EMPTY: '' })
  expect(env).not.toHaveProperty('SLUICE_PROXY_FILE')
})
