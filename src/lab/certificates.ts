import 'reflect-metadata'
import { KeyObject, webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

/** PEM texts. The key belongs to the first certificate of `chain`. The last certificate, `authority`, signs it. */
export interface Certificates {
  readonly authority: string
  readonly chain: string
  readonly key: string
}

const day = 86_400_000
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** Makes a fresh authority and one certificate of it for this machine's names and 127.0.0.1, good for a week. */
export async function makeCertificates(): Promise<Certificates> {
  const [signer, server] = await Promise.all([newKeys(), newKeys()])
  const common = {
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - day),
    notAfter: new Date(Date.now() + 7 * day),
  }
  const authority = await x509.X509CertificateGenerator.createSelfSigned(
    {
      ...common,
      name: 'CN=Sluice lab authority',
      keys: signer,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      ],
    },
    webcrypto,
  )
  const certificate = await x509.X509CertificateGenerator.create(
    {
      ...common,
      subject: 'CN=localhost',
      issuer: authority.subject,
      publicKey: server.publicKey,
      signingKey: signer.privateKey,
      extensions: [
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension([
          { type: 'dns', value: 'localhost' },
          { type: 'dns', value: '*.ingest.localhost' },
          { type: 'ip', value: '127.0.0.1' },
        ]),
      ],
    },
    webcrypto,
  )
  const authorityPem = pem(authority)
  return {
    authority: authorityPem,
    // Elasticsearch's own set-up does the same: a client may pin the authority by its fingerprint.
    chain: pem(certificate) + authorityPem,
    key: KeyObject.from(server.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

function pem(certificate: x509.X509Certificate): string {
  return `${certificate.toString('pem')}\n`
}
