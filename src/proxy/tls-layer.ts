/** Builds one TLS layer over a connected socket: to the proxy, or through the tunnel to the target. */
import { X509Certificate } from 'node:crypto'
import { type Socket, isIP } from 'node:net'
import { type SecureContext, type TLSSocket, checkServerIdentity, connect, createSecureContext } from 'node:tls'
import { established } from './established.js'
import { fail } from '../failure/fail.js'

export interface TlsOptions {
  /** PEM. Replaces the public certificate authorities. */
  readonly ca?: string | Buffer | undefined
  /** PEM client certificate and key. */
  readonly cert?: string | Buffer | undefined
  readonly key?: string | Buffer | undefined
  readonly passphrase?: string | undefined
  /**
   * SHA-256 of a certificate in the server's chain, in hex with or without colons. Replaces `ca`: the server's
   * certificate must be this one, or be signed by it through the chain that the server sends. With `ca`, both must
   * hold.
   */
  readonly caFingerprint?: string | undefined
  /** Default true. False accepts any certificate and name, except that a fingerprint must still match. */
  readonly rejectUnauthorized?: boolean | undefined
  /** Name to ask for and to find in the certificate. Default: the host of the URL. */
  readonly servername?: string | undefined
}

/** Builds TLS over a socket. Rejects with the error of the TLS layer, or with code FINGERPRINT_MISMATCH. */
export type SecureLayer = (socket: Socket, host: string) => Promise<TLSSocket>

/**
 * Sessions are not resumed: a resumed one shows no certificate to hold against a fingerprint.
 * @throws SluiceError OPTION_INVALID when certificate, key or CA cannot be read
 */
export function secureLayer(options: TlsOptions, name: string): SecureLayer {
  const secureContext = readContext(options, name)
  const pin = options.caFingerprint?.replaceAll(':', '').toLowerCase()
  const strict = options.rejectUnauthorized !== false
  return async (socket, host) => {
    const servername = options.servername ?? host
    const secure = connect({
      socket,
      secureContext,
      host: servername,
      ...(isIP(servername) === 0 ? { servername } : {}),
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: strict && (pin === undefined || options.ca !== undefined),
    })
    await established(secure, 'secureConnect')
    const problem = pin === undefined ? undefined : pinProblem(secure, pin, strict ? servername : undefined)
    if (problem !== undefined) {
      secure.destroy()
      throw problem
    }
    return secure
  }
}

function readContext(options: TlsOptions, name: string): SecureContext {
  const { ca, cert, key, passphrase } = options
  // Node takes it for no authority at all, and then says of every certificate that nobody vouches for it.
  if (ca !== undefined && !/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/.test(Buffer.from(ca).toString('latin1'))) {
    const problem = 'the CA file contains no certificate in PEM form'
    throw fail('OPTION_INVALID', { option: name, problem })
  }
  try {
    return createSecureContext({ ca, cert, key, passphrase })
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw fail('OPTION_INVALID', { option: name, problem }, { cause: error })
  }
}

/**
 * The chain is walked by signatures, not by the names that the server put in it: whoever sends a copy of the pinned
 * certificate beside a certificate of their own does not match. A pinned authority vouches for the name as well.
 */
function pinProblem(socket: TLSSocket, pin: string, name: string | undefined): Error | undefined {
  const leaf = socket.getPeerCertificate(true)
  let seen = leaf
  let certificate = new X509Certificate(leaf.raw)
  while (fingerprint(certificate) !== pin) {
    const issuer = seen.issuerCertificate
    const next = issuer === undefined || issuer === seen ? undefined : new X509Certificate(issuer.raw)
    if (next === undefined || fingerprint(next) === fingerprint(certificate) || !certificate.verify(next.publicKey)) {
      const message = `no certificate of the chain has the given fingerprint. The fingerprint of the server is ${leaf.fingerprint256}`
      return Object.assign(new Error(message), { code: 'FINGERPRINT_MISMATCH' })
    }
    seen = issuer
    certificate = next
  }
  return seen === leaf || name === undefined ? undefined : checkServerIdentity(name, leaf)
}

function fingerprint(certificate: X509Certificate): string {
  return certificate.fingerprint256.replaceAll(':', '').toLowerCase()
}
