import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PortSeen, portSpeaks } from '../../src/doctor/port-speaks.js'
import type { ProxyScheme } from '../../src/proxy/proxy-url.js'
import { type Certificate, createAuthority } from './proxy-certificates.js'
import { type Running, startHttpProxy, startPort, startSocksProxy } from './proxy-servers.js'

let certificate: Certificate
const ports: Partial<Record<ProxyScheme, Running>> = {}
beforeAll(async () => {
  certificate = await (await createAuthority('port authority')).issue(['proxy.example'])
  const login = { username: 'user', password: 'pass' }
  ports.http = await startHttpProxy(login)
  ports.https = await startHttpProxy({ ...login, tls: certificate })
  ports.socks5 = await startSocksProxy(login)
  ports.socks5s = await startSocksProxy({ ...login, tls: certificate })
})
afterAll(async () => {
  for (const port of Object.values(ports)) await port[Symbol.asyncDispose]()
})

async function seen(expected: ProxyScheme, port: number, limitMs = 1000): Promise<PortSeen & { asked: number }> {
  let asked = 0
  const found = await portSpeaks(expected, {
    host: '127.0.0.1',
    port,
    limitMs,
    onAsk: () => void (asked += 1),
    signal: undefined,
  })
  return { ...found, asked }
}

const schemes = ['http', 'https', 'socks5', 'socks5s'] as const

describe.each(schemes)('a port that speaks %s', speaks => {
  test('is known at once by whoever expects that', async () => {
    expect(await seen(speaks, ports[speaks]?.port ?? 0)).toMatchObject({ spoken: speaks, asked: 1 })
  })

  test.each(schemes.filter(one => one !== speaks))('is known by whoever expects %s', async expected => {
    const { spoken, asked } = await seen(expected, ports[speaks]?.port ?? 0, 300)
    expect(spoken).toBe(speaks)
    expect(asked).toBeLessThanOrEqual(5)
  })
})

test('a certificate is shown, whoever vouches for it', async () => {
  const { certificate: shown } = await seen('https', ports.https?.port ?? 0)
  expect(shown?.fingerprint256).toBe(certificate.fingerprint)
})

test('a port that says something else, and one that says nothing, are neither', async () => {
  await using chatty = await startPort(socket => void socket.write('SSH-2.0-OpenSSH_9.2\r\n'))
  await using silent = await startPort(() => {})
  expect(await seen('http', chatty.port, 200)).toMatchObject({ spoken: 'unknown' })
  expect(await seen('socks5', silent.port, 200)).toMatchObject({ spoken: 'unknown' })
})
