/** A certificate authority and what it signs, made anew for each test run. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const aDayMs = 86_400_000

export interface Certificate {
  readonly cert: string
  readonly key: string
  /** SHA-256, as OpenSSL prints it. */
  readonly fingerprint: string
}

/** What a certificate says of itself. */
interface Terms {
  readonly isAuthority?: boolean
  readonly isExpired?: boolean
}

/** Any certificate can sign others, whether it may or not. */
export interface Authority extends Certificate {
  issue(names: readonly string[], terms?: Terms): Promise<Authority>
}

interface Keys {
  readonly privateKey: webcrypto.CryptoKey
  readonly publicKey: webcrypto.CryptoKey
}

export async function createAuthority(name: string, terms: Terms = {}): Promise<Authority> {
  const keys: Keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const made = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: `CN=${name}`,
      keys,
      signingAlgorithm: algorithm,
      ...validity(terms),
      extensions: extensionsOf([], { ...terms, isAuthority: true }),
    },
    webcrypto,
  )
  return await signer(made, keys)
}

async function signer(own: x509.X509Certificate, { privateKey }: Keys): Promise<Authority> {
  const issue: Authority['issue'] = async (names, terms = {}) => {
    const keys: Keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    const issued = await x509.X509CertificateGenerator.create(
      {
        subject: `CN=${names[0]}, O=${own.subject}`,
        issuer: own.subject,
        publicKey: keys.publicKey,
        signingKey: privateKey,
        signingAlgorithm: algorithm,
        ...validity(terms),
        extensions: extensionsOf(names, terms),
      },
      webcrypto,
    )
    return await signer(issued, keys)
  }
  return { ...(await describe(own, privateKey)), issue }
}

function validity({ isExpired = false }: Terms): { readonly notBefore: Date; readonly notAfter: Date } {
  const [from, to] = isExpired ? [-2, -1] : [-1, 1]
  return { notBefore: new Date(Date.now() + from * aDayMs), notAfter: new Date(Date.now() + to * aDayMs) }
}

function extensionsOf(names: readonly string[], { isAuthority = false }: Terms): x509.Extension[] {
  if (isAuthority)
    return [new x509.BasicConstraintsExtension(true), new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true)]
  const typed = names.map(value => ({ type: /^[\d.]+$/.test(value) ? ('ip' as const) : ('dns' as const), value }))
  return [new x509.SubjectAlternativeNameExtension(typed)]
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
