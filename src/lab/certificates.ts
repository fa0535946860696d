import { type KeyObject, createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { bits, context, integer, octets, oid, primitive, sequence, set, time } from './der.js'

/** PEM texts. The key belongs to `certificate`; `authority` vouches for it. */
export interface Certificates {
  readonly authority: string
  readonly certificate: string
  readonly key: string
}

const day = 86_400_000
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))

/** Makes a fresh authority and one certificate of it for localhost and 127.0.0.1, good for a week. */
export function makeCertificates(): Certificates {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = distinguishedName('Sluice lab authority')
  const signed = { issuer, signer: authority.privateKey }

  const authorityDer = certificate({
    ...signed,
    subject: issuer,
    publicKey: authority.publicKey,
    extensions: [
      extension('2.5.29.19', sequence(primitive(0x01, Buffer.from([0xff]))), true), // basic constraints: an authority
      extension('2.5.29.15', bits(Buffer.from([0b0000_0110]), 1), true), // key usage: sign certificates and CRLs
      extension('2.5.29.14', octets(keyId(authority.publicKey))),
    ],
  })
  const serverDer = certificate({
    ...signed,
    subject: distinguishedName('localhost'),
    publicKey: server.publicKey,
    extensions: [
      extension('2.5.29.19', sequence(), true),
      extension('2.5.29.15', bits(Buffer.from([0b1000_0000]), 7), true), // key usage: digital signature
      extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'))), // extended key usage: TLS server
      extension('2.5.29.17', sequence(context(2, Buffer.from('localhost')), context(7, Buffer.from([127, 0, 0, 1])))),
      extension('2.5.29.35', sequence(context(0, keyId(authority.publicKey)))),
    ],
  })
  return {
    authority: pem(authorityDer),
    certificate: pem(serverDer),
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

interface Subject {
  readonly issuer: Buffer
  readonly signer: KeyObject
  readonly subject: Buffer
  readonly publicKey: KeyObject
  readonly extensions: readonly Buffer[]
}

/** RFC 5280, section 4.1. */
function certificate({ issuer, signer, subject, publicKey, extensions }: Subject): Buffer {
  const toBeSigned = sequence(
    primitive(0xa0, integer(Buffer.from([2]))), // version 3
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    issuer,
    sequence(time(new Date(Date.now() - day)), time(new Date(Date.now() + 7 * day))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    primitive(0xa3, sequence(...extensions)),
  )
  return sequence(toBeSigned, ecdsaWithSha256, bits(sign('sha256', toBeSigned, signer), 0))
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [primitive(0x01, Buffer.from([0xff]))] : []), octets(value))
}

function distinguishedName(commonName: string): Buffer {
  return sequence(set(sequence(oid('2.5.4.3'), primitive(0x0c, Buffer.from(commonName)))))
}

function keyId(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
