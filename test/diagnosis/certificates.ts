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
  /** For these host names and IPv4 addresses, valid from and until so many days from now. */
  issue(names: readonly string[], from?: number, until?: number): Promise<Leaf>
}

const DAY_MS = 86_400_000
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const newKeys = async () => await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
const validity = (from: number, until: number) => ({
  notBefore: new Date(Date.now() + from * DAY_MS),
  notAfter: new Date(Date.now() + until * DAY_MS),
})

export async function createSigner(): Promise<Signer> {
  const signer = await newKeys()
  const authority = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=planted authority',
      keys: signer,
      signingAlgorithm: algorithm,
      ...validity(-30, 30),
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      ],
    },
    webcrypto,
  )
  return {
    ca: authority.toString('pem'),
    issue: async (names, from = -1, until = 1) => {
      const keys = await newKeys()
      const alternatives = names.map(value => ({
        type: /^[\d.]+$/.test(value) ? ('ip' as const) : ('dns' as const),
        value,
      }))
      const certificate = await x509.X509CertificateGenerator.create(
        {
          subject: `CN=${names[0]}`,
          issuer: authority.subject,
          publicKey: keys.publicKey,
          signingKey: signer.privateKey,
          signingAlgorithm: algorithm,
          ...validity(from, until),
          extensions: [new x509.SubjectAlternativeNameExtension(alternatives)],
        },
        webcrypto,
      )
      const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString()
      return { cert: certificate.toString('pem'), key }
    },
  }
}
