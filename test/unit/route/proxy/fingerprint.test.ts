import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { beforeAll, describe, expect, it } from 'vitest'
import { isSluiceError } from '../../../../src/base/failure/failure.js'
import { parseProxyUrl } from '../../../../src/route/proxy/proxy-url.js'
import { type RouteError } from '../../../../src/route/proxy/route-error.js'
import { type Route, openRoute } from '../../../../src/route/proxy/route.js'
import type { TlsOptions } from '../../../../src/route/proxy/tls-layer.js'
import { type Authority, type Certificate, createAuthority } from '../../../support/servers/proxy-certificates.js'
import { startHttpProxy, startSocksProxy, startTarget } from '../../../support/servers/proxy-servers.js'

const HOST = '127.0.0.1'
let authority: Authority
let certificate: Authority
let misnamed: Certificate
let impostor: Certificate
let intermediate: Authority
beforeAll(async () => {
  authority = await createAuthority('Sluice test CA')
  certificate = await authority.issue([HOST])
  misnamed = await authority.issue(['another.test'])
  intermediate = await authority.issue(['Intermediate CA'], { isAuthority: true })
  // Another authority of the same name, so that the chain fits by name but not by signature.
  impostor = await (await createAuthority('Sluice test CA')).issue([HOST])
})

const request = { method: 'GET', path: '/', headers: { authorization: 'ApiKey secret' } }

/** The status of an answer, or the code of what failed. */
async function outcomeOf(route: Route): Promise<string> {
  return await route.request(request).then(
    answer => answer.body.bytes().then(() => String(answer.statusCode)),
    (error: RouteError) => `${error.code} ${error.phase} ${error.failure.code}`,
  )
}

/** The outcome of a request, which only a server that was verified may see. */
async function ask(tls: Certificate, targetTls: TlsOptions, proxy?: string): Promise<string> {
  await using target = await startTarget({ tls })
  await using route = openRoute({
    target: new URL(`https://${HOST}:${target.port}`),
    connections: 1,
    targetTls,
    proxy: proxy === undefined ? undefined : parseProxyUrl(proxy, 'the test'),
  })
  const outcome = await outcomeOf(route)
  expect(target.requests.length).toBe(outcome === '200' ? 1 : 0)
  return outcome
}

const chain = (leaf: Certificate, ...issuers: readonly Certificate[]): Certificate => ({
  ...leaf,
  cert: [leaf, ...issuers].map(({ cert }) => cert).join('\n'),
})
const pinned = (one: Certificate, more: TlsOptions = {}): TlsOptions => ({ ...more, caFingerprint: one.fingerprint })
const refusedFor = (code: string) => `${code} target-tls CLUSTER_CERT_INVALID`

describe('a fingerprint', () => {
  it('of the server’s own certificate stands in for a CA, and for the name', async () => {
    expect(await ask(certificate, pinned(certificate))).toBe('200')
    expect(await ask(misnamed, pinned(misnamed))).toBe('200')
  })

  it('of the CA is found where the server sends its chain', async () => {
    expect(await ask(chain(certificate, authority), pinned(authority))).toBe('200')
    const bare = authority.fingerprint.replaceAll(':', '').toLowerCase()
    expect(await ask(chain(certificate, authority), { caFingerprint: bare })).toBe('200')
  })

  it('of an intermediate CA needs no root', async () => {
    const leaf = await intermediate.issue([HOST])
    expect(await ask(chain(leaf, intermediate), pinned(intermediate))).toBe('200')
    expect(await ask(chain(leaf, intermediate, authority), pinned(intermediate))).toBe('200')
    expect(await ask(chain(leaf, intermediate, authority), pinned(authority))).toBe('200')
  })

  it('of the CA does not vouch for another name', async () => {
    const wrongName = refusedFor('ERR_TLS_CERT_ALTNAME_INVALID')
    const server = chain(misnamed, authority)
    expect(await ask(server, pinned(authority))).toBe(wrongName)
    expect(await ask(server, pinned(authority, { rejectUnauthorized: false }))).toBe(wrongName)
    expect(await ask(server, pinned(authority, { servername: 'another.test' }))).toBe('200')
  })

  it('that is another refuses the server before a request is sent', async () => {
    for (const more of [{}, { rejectUnauthorized: false }])
      expect(await ask(chain(certificate, authority), pinned(impostor, more))).toBe(refusedFor('FINGERPRINT_MISMATCH'))
  })

  it('and a CA must both hold', async () => {
    const both = (one: Certificate) => pinned(one, { ca: authority.cert })
    expect(await ask(certificate, both(certificate))).toBe('200')
    // The CA file has the certificate that the server does not send.
    expect(await ask(certificate, both(authority))).toBe('200')
    expect(await ask(impostor, both(impostor))).toMatch(/target-tls CLUSTER_CERT_INVALID$/)
    expect(await ask(impostor, both(authority))).toMatch(/target-tls CLUSTER_CERT_INVALID$/)
    expect(await ask(certificate, both(impostor))).toBe(refusedFor('FINGERPRINT_MISMATCH'))
  })
})

type Exploit = readonly [what: string, server: () => Promise<Certificate>, pin: () => Certificate, code: string]

const exploits: readonly Exploit[] = [
  [
    'a certificate that an end-entity certificate of the pinned CA signed',
    async () => chain(await certificate.issue([HOST]), certificate, authority),
    () => authority,
    'INVALID_CA|INVALID_PURPOSE',
  ],
  [
    'a certificate that the pinned end-entity certificate signed',
    async () => chain(await certificate.issue([HOST]), certificate),
    () => certificate,
    'INVALID_CA|INVALID_PURPOSE',
  ],
  [
    'an expired certificate of the pinned CA',
    async () => chain(await authority.issue([HOST], { isExpired: true }), authority),
    () => authority,
    'CERT_HAS_EXPIRED',
  ],
  [
    'a certificate under an expired intermediate of the pinned CA',
    async () => {
      const expired = await authority.issue(['Old CA'], { isAuthority: true, isExpired: true })
      return chain(await expired.issue([HOST]), expired, authority)
    },
    () => authority,
    'CERT_HAS_EXPIRED',
  ],
  [
    'a certificate of another server of the pinned CA',
    async () => chain(await authority.issue(['another.test']), authority),
    () => authority,
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ],
  [
    'a copy of the pinned CA beside a certificate that it did not sign',
    async () => await Promise.resolve(chain(impostor, authority)),
    () => authority,
    'CERT_SIGNATURE_FAILURE|UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ],
  [
    'a chain without the pinned certificate',
    async () => chain(await intermediate.issue([HOST]), intermediate),
    () => misnamed,
    'FINGERPRINT_MISMATCH|UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  ],
]

describe('an impostor behind a fingerprint sees no request:', () => {
  for (const [what, server, pin, code] of exploits) {
    it(`${what} is refused, direct, through a proxy and through SOCKS`, async () => {
      await using http = await startHttpProxy()
      await using socks = await startSocksProxy()
      const tls = await server()
      for (const proxy of [undefined, `http://${HOST}:${http.port}`, `socks5://${HOST}:${socks.port}`])
        expect(await ask(tls, pinned(pin()), proxy)).toMatch(new RegExp(`^(${code}) target-tls CLUSTER_CERT_INVALID$`))
      expect([http.asked.length, socks.asked.length].every(asked => asked > 0)).toBe(true)
      // A client certificate does not change what is verified.
      const client = await authority.issue(['client'])
      expect(await ask(tls, pinned(pin(), { cert: client.cert, key: client.key }))).toMatch(/ CLUSTER_CERT_INVALID$/)
    })
  }

  it('a pinned certificate that has expired, of a CA or of the server, is refused', async () => {
    const old = await createAuthority('Old CA', { isExpired: true })
    expect(await ask(chain(await old.issue([HOST]), old), pinned(old))).toBe(refusedFor('CERT_HAS_EXPIRED'))
    const own = await authority.issue([HOST], { isExpired: true })
    expect(await ask(own, pinned(own))).toBe(refusedFor('CERT_HAS_EXPIRED'))
  })

  it('every connection is verified: none resumes the session of an earlier one', async () => {
    const client = await authority.issue(['client'])
    const server = createServer({ ...chain(certificate, authority), ticketKeys: Buffer.alloc(48, 7) })
    const seen: { readonly resumed: boolean; readonly requests: number }[] = []
    const open = new Set<Socket>()
    let requests = 0
    server.on('secureConnection', (socket: TLSSocket) => seen.push({ resumed: socket.isSessionReused(), requests }))
    server.on('connection', (socket: Socket) => open.add(socket))
    server.on('request', (_, response: { end(): void }) => {
      requests += 1
      response.end()
    })
    await new Promise<void>(listening => server.listen(0, HOST, listening))
    const target = new URL(`https://${HOST}:${(server.address() as AddressInfo).port}`)
    const targetTls = pinned(authority, { cert: client.cert, key: client.key })
    await using route = openRoute({ target, connections: 1, targetTls })
    for (const turn of [1, 2]) {
      await (await route.once(request)).body.bytes()
      expect(requests).toBe(turn)
    }
    expect(seen.map(({ resumed }) => resumed)).not.toContain(true)
    server.setSecureContext(chain(impostor, authority))
    await expect(route.once(request)).rejects.toMatchObject({ phase: 'target-tls' })
    expect(requests).toBe(2)
    server.close()
    for (const socket of open) socket.destroy()
  })
})

it('a client certificate is shown to a server that asks for one', async () => {
  const client = await authority.issue(['client'])
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const server = { ...chain(certificate, authority), ca: authority.cert, requestCert: true, maxVersion }
    expect(await ask(server, pinned(authority, { cert: client.cert, key: client.key }))).toBe('200')
    expect(await ask(server, pinned(authority))).not.toBe('200')
  }
})

it('a client certificate that cannot be read is a wrong option', () => {
  try {
    openRoute({
      target: new URL(`https://${HOST}`),
      connections: 1,
      targetTls: { cert: 'no certificate', key: 'no key' },
    })
    expect.unreachable()
  } catch (error) {
    expect(isSluiceError(error) && error.code).toBe('OPTION_INVALID')
  }
})
