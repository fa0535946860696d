import { beforeAll, describe, expect, it } from 'vitest'
import { isSluiceError } from '../../../src/failure/sluice-error.js'
import { type RouteError } from '../../../src/proxy/route-error.js'
import { openRoute } from '../../../src/proxy/route.js'
import type { TlsOptions } from '../../../src/proxy/tls-layer.js'
import { type Authority, type Certificate, createAuthority } from '../../support/proxy-certificates.js'
import { startTarget } from '../../support/proxy-servers.js'

let authority: Authority
let certificate: Certificate
let misnamed: Certificate
let impostor: Certificate
beforeAll(async () => {
  authority = await createAuthority('Sluice test CA')
  certificate = await authority.issue(['127.0.0.1'])
  misnamed = await authority.issue(['another.test'])
  // Another authority of the same name, so that the chain fits by name but not by signature.
  impostor = await (await createAuthority('Sluice test CA')).issue(['127.0.0.1'])
})

/** The status of an answer, or the code of what failed; and whether the target saw a request. */
async function ask(tls: Certificate, targetTls: TlsOptions): Promise<string> {
  await using target = await startTarget({ tls })
  await using route = openRoute({ target: new URL(`https://127.0.0.1:${target.port}`), connections: 1, targetTls })
  const outcome = await route.request({ method: 'GET', path: '/', headers: {} }).then(
    answer => answer.body.bytes().then(() => String(answer.statusCode)),
    (error: RouteError) => `${error.code} ${error.phase} ${error.failure.code}`,
  )
  expect(target.requests.length).toBe(outcome === '200' ? 1 : 0)
  return outcome
}

const chain = (leaf: Certificate): Certificate => ({ ...leaf, cert: `${leaf.cert}\n${authority.cert}` })

describe('a fingerprint', () => {
  it('of the server’s own certificate stands in for a CA', async () => {
    expect(await ask(certificate, { caFingerprint: certificate.fingerprint })).toBe('200')
    expect(await ask(misnamed, { caFingerprint: misnamed.fingerprint })).toBe('200')
  })

  it('of the CA is found where the server sends its chain', async () => {
    expect(await ask(chain(certificate), { caFingerprint: authority.fingerprint })).toBe('200')
    expect(
      await ask(chain(certificate), { caFingerprint: authority.fingerprint.replaceAll(':', '').toLowerCase() }),
    ).toBe('200')
  })

  it('of the CA does not vouch for another name', async () => {
    const refused = 'ERR_TLS_CERT_ALTNAME_INVALID target-tls CLUSTER_CERT_INVALID'
    expect(await ask(chain(misnamed), { caFingerprint: authority.fingerprint })).toBe(refused)
    expect(await ask(chain(misnamed), { caFingerprint: authority.fingerprint, servername: 'another.test' })).toBe('200')
    expect(await ask(chain(misnamed), { caFingerprint: authority.fingerprint, rejectUnauthorized: false })).toBe('200')
  })

  const refused = 'FINGERPRINT_MISMATCH target-tls CLUSTER_CERT_INVALID'
  it('that is another refuses the server before a request is sent', async () => {
    expect(await ask(chain(certificate), { caFingerprint: impostor.fingerprint })).toBe(refused)
    expect(await ask(chain(certificate), { caFingerprint: impostor.fingerprint, rejectUnauthorized: false })).toBe(
      refused,
    )
  })

  it('is not satisfied by a copy of the pinned CA beside a certificate that it did not sign', async () => {
    expect(await ask(chain(impostor), { caFingerprint: authority.fingerprint })).toBe(refused)
  })

  it('and a CA must both hold', async () => {
    expect(await ask(certificate, { ca: authority.cert, caFingerprint: certificate.fingerprint })).toBe('200')
    expect(await ask(impostor, { ca: authority.cert, caFingerprint: impostor.fingerprint })).toMatch(
      /target-tls CLUSTER_CERT_INVALID$/,
    )
  })
})

it('a client certificate that cannot be read is a wrong option', () => {
  try {
    openRoute({
      target: new URL('https://127.0.0.1'),
      connections: 1,
      targetTls: { cert: 'no certificate', key: 'no key' },
    })
    expect.unreachable()
  } catch (error) {
    expect(isSluiceError(error) && error.code).toBe('OPTION_INVALID')
  }
})
