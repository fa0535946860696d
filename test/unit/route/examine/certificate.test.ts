import { X509Certificate } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { describeCertificate, problemWith } from '../../../../src/route/examine/certificate.js'
import { tellCertificate } from '../../../../src/route/examine/facts.js'
import { issueSelfSigned } from '../../../diagnosis/certificates.js'
import { actsIn } from '../../../support/facts/hostile.js'
import { createAuthority } from '../../../support/servers/proxy-certificates.js'

let forProxy: X509Certificate
let forCluster: X509Certificate
let forBoth: X509Certificate
beforeAll(async () => {
  const authority = await createAuthority('test authority')
  const issue = async (...names: string[]) => new X509Certificate((await authority.issue(names)).cert)
  forProxy = await issue('proxy.example')
  forCluster = await issue('es.example', '192.0.2.7')
  forBoth = await issue('proxy.example', 'es.example')
})

test('is described by its name, its issuer, and whom it is for', () => {
  expect(describeCertificate(forCluster)).toMatchObject({
    subject: 'es.example',
    issuer: 'test authority',
    names: ['es.example', '192.0.2.7'],
    fingerprint: forCluster.fingerprint256,
  })
  expect(Date.parse(describeCertificate(forCluster).validTo)).toBeGreaterThan(Date.now())
})

test('acts on no terminal, whatever a server writes into it', async () => {
  const { cert } = await issueSelfSigned(['host\u009b31m\u202etxt'])
  const seen = describeCertificate(new X509Certificate(cert))
  const texts = ['authority', 'name', 'proxy'] as const
  expect(texts.flatMap(problem => actsIn(tellCertificate(problem, seen)))).toEqual([])
  expect(actsIn(Object.values(seen).flat().join(' '))).toEqual([])
})

describe('its fault', () => {
  const hosts = { cluster: 'es.example', proxy: 'proxy.example' }

  test('is that it is the proxy’s own, by its name or by its fingerprint', () => {
    expect(problemWith('ERR_TLS_CERT_ALTNAME_INVALID', forProxy, hosts)).toBe('proxy')
    expect(problemWith('UNABLE_TO_VERIFY_LEAF_SIGNATURE', forProxy, hosts)).toBe('proxy')
    const byNumber = { cluster: 'es.example', proxy: '192.0.2.1', proxyFingerprint: forProxy.fingerprint256 }
    expect(problemWith('UNABLE_TO_VERIFY_LEAF_SIGNATURE', forProxy, byNumber)).toBe('proxy')
    expect(tellCertificate('proxy', describeCertificate(forProxy))).toBe(
      "It is the proxy's own certificate (proxy.example, issued by test authority), not the cluster's",
    )
  })

  test('is not that, where one certificate serves both', () => {
    expect(problemWith('UNABLE_TO_VERIFY_LEAF_SIGNATURE', forBoth, hosts)).toBe('authority')
  })

  test('is what the TLS layer says', () => {
    const rows = [
      ['CERT_HAS_EXPIRED', 'expired'],
      ['CERT_NOT_YET_VALID', 'early'],
      ['FINGERPRINT_MISMATCH', 'fingerprint'],
      ['SELF_SIGNED_CERT_IN_CHAIN', 'authority'],
    ] as const
    for (const [code, problem] of rows) expect(problemWith(code, forCluster, hosts)).toBe(problem)
    expect(problemWith('ERR_TLS_CERT_ALTNAME_INVALID', forCluster, { cluster: 'other.example' })).toBe('name')
    expect(problemWith('CERT_HAS_EXPIRED', undefined, hosts)).toBe('expired')
  })

  test('names whom it is for, where that is not the cluster', () => {
    expect(tellCertificate('name', describeCertificate(forCluster))).toMatch(/for es\.example, 192\.0\.2\.7$/)
  })
})
