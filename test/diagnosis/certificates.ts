/** Certificates that something is wrong with. */
import 'reflect-metadata'
import { KeyObject, webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

/** PEM texts. */
export interface Leaf {
  readonly cert: string
  readonly key: string
}

export interface Signer {
  /** PEM of the authority. */
  readonly ca: string
  /** An authority below this one. */
  intermediate(): Promise<Signer>
  /** For these host names and IPv4 addresses, valid from and until so many days from now. */
  issue(names: readonly string[], from?: number, until?: number): Promise<Leaf>
}

/** A certificate that signed itself. */
export async function issueSelfSigned(names: readonly string[]): Promise<Leaf> {
  const keys = await newKeys()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: `CN=${names[0]}`,
      keys,
      signingAlgorithm: algorithm,
      ...validity(-1, 1),
      extensions: [alternativesOf(names)],
    },
    webcrypto,
  )
  return leafOf(certificate, keys)
}

function leafOf(certificate: x509.X509Certificate, { privateKey }: webcrypto.CryptoKeyPair): Leaf {
  const key = KeyObject.from(privateKey).export({ type: 'pkcs8', format: 'pem' }).toString()
  return { cert: certificate.toString('pem'), key }
}

function alternativesOf(names: readonly string[]) {
  const isAddress = (value: string) => /^[\d.]+$/.test(value)
  return new x509.SubjectAlternativeNameExtension(
    names.map(value => ({ type: isAddress(value) ? ('ip' as const) : ('dns' as const), value })),
  )
}

const DAY_MS = 86_400_000
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const newKeys = async () => await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
const validity = (from: number, until: number) => ({
  notBefore: new Date(Date.now() + from * DAY_MS),
  notAfter: new Date(Date.now() + until * DAY_MS),
})

const asAuthority = [
  new x509.BasicConstraintsExtension(true, undefined, true),
  new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
]

/** An authority, valid from and until so many days from now. */
export async function createSigner(from = -30, until = 30): Promise<Signer> {
  const keys = await newKeys()
  const authority = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=planted authority',
      keys,
      signingAlgorithm: algorithm,
      ...validity(from, until),
      extensions: asAuthority,
    },
    webcrypto,
  )
  return signerOf(authority, keys.privateKey)
}

function signerOf(authority: x509.X509Certificate, signingKey: webcrypto.CryptoKey): Signer {
  const by = { issuer: authority.subject, signingKey, signingAlgorithm: algorithm }
  return {
    ca: authority.toString('pem'),
    intermediate: async () => {
      const keys = await newKeys()
      const below = await x509.X509CertificateGenerator.create(
        {
          ...by,
          subject: 'CN=planted intermediate',
          publicKey: keys.publicKey,
          ...validity(-9, 9),
          extensions: asAuthority,
        },
        webcrypto,
      )
      return signerOf(below, keys.privateKey)
    },
    issue: async (names, from = -1, until = 1) => {
      const keys = await newKeys()
      const certificate = await x509.X509CertificateGenerator.create(
        {
          ...by,
          subject: `CN=${names[0]}`,
          publicKey: keys.publicKey,
          ...validity(from, until),
          extensions: [alternativesOf(names)],
        },
        webcrypto,
      )
      return leafOf(certificate, keys)
    },
  }
}
