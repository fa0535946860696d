/** A certificate authority and what it signs, made anew for each test run. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const validity = { notBefore: new Date(Date.now() - 86_400_000), notAfter: new Date(Date.now() + 86_400_000) }

export interface Certificate {
  readonly cert: string
  readonly key: string
  /** SHA-256, as OpenSSL prints it. */
  readonly fingerprint: string
}

export interface Authority extends Certificate {
  issue(names: readonly string[]): Promise<Certificate>
}

export async function createAuthority(name: string): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const authority = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: `CN=${name}`,
      keys,
      signingAlgorithm: algorithm,
      ...validity,
      extensions: [
        new x509.BasicConstraintsExtension(true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      ],
    },
    webcrypto,
  )
  const issue = async (names: readonly string[]): Promise<Certificate> => {
    const leafKeys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    const leaf = await x509.X509CertificateGenerator.create(
      {
        subject: `CN=${names[0]}`,
        issuer: authority.subject,
        publicKey: leafKeys.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        ...validity,
        extensions: [
          new x509.SubjectAlternativeNameExtension(
            names.map(value => ({ type: /^[\d.]+$/.test(value) ? ('ip' as const) : ('dns' as const), value })),
          ),
        ],
      },
      webcrypto,
    )
    return describe(leaf, leafKeys.privateKey)
  }
  return { ...(await describe(authority, keys.privateKey)), issue }
}

async function describe(certificate: x509.X509Certificate, key: webcrypto.CryptoKey): Promise<Certificate> {
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64')
  const digest = Buffer.from(await certificate.getThumbprint('SHA-256', webcrypto))
    .toString('hex')
    .toUpperCase()
  return {
    cert: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${pkcs8.replaceAll(/(.{64})/g, '$1\n')}\n-----END PRIVATE KEY-----\n`,
    fingerprint: digest.match(/../g)?.join(':') ?? '',
  }
}
