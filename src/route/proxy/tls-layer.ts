/** Builds one TLS layer over a connected socket: to the proxy, or through the tunnel to the target. */
import { constants, X509Certificate } from 'node:crypto'
import { type Socket, isIP } from 'node:net'
import tls, {
  type ConnectionOptions,
  type SecureContext,
  TLSSocket,
  checkServerIdentity,
  connect,
  createSecureContext,
} from 'node:tls'
import { fail } from '../../base/failure/failure.js'

export interface TlsOptions {
  /** PEM. Replaces the public certificate authorities. */
  readonly ca?: string | Buffer | undefined
  /** PEM client certificate and key. */
  readonly cert?: string | Buffer | undefined
  readonly key?: string | Buffer | undefined
  readonly passphrase?: string | undefined
  /**
   * SHA-256 of a certificate in the server's chain, in hex with or without colons. OpenSSL verifies the chain against this
   * certificate only. If it is the server's own, it vouches for any name. With `ca`, both must hold.
   */
  readonly caFingerprint?: string | undefined
  /** Default true. False accepts any certificate and name. A fingerprint holds all the same. */
  readonly rejectUnauthorized?: boolean | undefined
  /** Name to ask for and to find in the certificate. Default: the host of the URL. */
  readonly servername?: string | undefined
}

/**
 * Builds TLS over a socket. Undefined: Sluice has learnt the certificate of a fingerprint, and needs another connection to verify
 * the server. Rejects with the error of the TLS layer, or with code FINGERPRINT_MISMATCH.
 */
export type SecureLayer = (socket: Socket, host: string) => Promise<TLSSocket | undefined>

/** @throws SluiceError OPTION_INVALID when certificate, key or CA cannot be read */
export function secureLayer(options: TlsOptions, name: string): SecureLayer {
  const { caFingerprint, servername, rejectUnauthorized = true } = options
  const secureContext = readContext(options, name)
  if (caFingerprint !== undefined) return pinnedLayer(options, secureContext, hexOf(caFingerprint))
  return async (socket, host) => await handshake(socket, servername ?? host, { secureContext, rejectUnauthorized })
}

const SHORT_KEY = 'TLS_AES_128_GCM_SHA256'

/**
 * Returns Node's list with AES of the shorter key first: 4% less CPU for https. The server may choose another one. Undefined: Node takes the list
 * that somebody has set for this process or this machine, or none that we know.
 */
function ciphers(): string | undefined {
  const list = tls.DEFAULT_CIPHERS
  const names = list.split(':')
  if (list !== constants.defaultCoreCipherList || !names.includes(SHORT_KEY)) return undefined
  return [SHORT_KEY, ...names.filter(name => name !== SHORT_KEY)].join(':')
}

/** Certificates by their fingerprints, which leave no doubt about them. So a process learns each only once. */
const known = new Map<string, string>()

/**
 * One handshake cannot verify a server against a certificate that only the server has. So the first connection learns that
 * certificate and is closed. All others trust only this certificate.
 */
function pinnedLayer(options: TlsOptions, given: SecureContext, pin: string): SecureLayer {
  const { ca, cert, key, passphrase, servername } = options
  const trustOnly = (pem: string) =>
    createSecureContext({ ca: pem, cert, key, passphrase, ciphers: ciphers(), allowPartialTrustChain: true })
  // If the certificate is not in `ca`, the first connection has to satisfy `ca` as well.
  const atHand = ca === undefined ? known.get(pin) : certificatesIn(ca).find(pem => fingerprintOf(pem) === pin)
  let trusting = atHand === undefined ? undefined : trustOnly(atHand)
  return async (socket, host) => {
    const name = servername ?? host
    if (trusting === undefined) {
      const unknown = await handshake(socket, name, { secureContext: given, rejectUnauthorized: ca !== undefined })
      trusting = trustOnly(learn(unknown, pin))
      return undefined
    }
    return await handshake(socket, name, {
      secureContext: trusting,
      checkServerIdentity: (asked, seen) =>
        hexOf(seen.fingerprint256) === pin ? undefined : checkServerIdentity(asked, seen),
    })
  }
}

/** Sessions are not resumed: a resumed one is not verified again. */
async function handshake(socket: Socket, name: string, options: ConnectionOptions): Promise<TLSSocket> {
  const secure = connect({
    socket,
    host: name,
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ALPNProtocols: ['http/1.1'],
    ...options,
  })
  // To check the name, Node asks for the whole chain, and reads only its first certificate. The others cost a third of a handshake.
  const value = () => TLSSocket.prototype.getPeerCertificate.call(secure, false)
  Object.defineProperty(secure, 'getPeerCertificate', { configurable: true, value })
  await established(secure, 'secureConnect')
  Reflect.deleteProperty(secure, 'getPeerCertificate')
  encryptInPieces(secure)
  return secure
}

/** Less costs more CPU, and more saves none. */
const PIECE_BYTES = 256 << 10

/**
 * Encrypts what is written piece by piece. Node would join head and body of a request in a copy, then encrypt all of it before it
 * sends the first byte, and keep the memory of both with the connection. The event loop turns between two pieces.
 */
function encryptInPieces(socket: TLSSocket): void {
  const write = socket._write.bind(socket)
  socket._write = (chunk: unknown, encoding, done) => {
    if (!Buffer.isBuffer(chunk)) return write(chunk, encoding, done)
    let at = 0
    const next = (error?: Error | null): void => {
      const from = at
      at += PIECE_BYTES
      if (error != null || from >= chunk.length) done(error)
      else write(chunk.subarray(from, at), encoding, next)
    }
    next()
  }
  // Writes are not joined.
  Object.defineProperty(socket, '_writev', { value: null })
}

function readContext({ ca, cert, key, passphrase }: TlsOptions, name: string): SecureContext {
  // With such a `ca` Node trusts no authority, and rejects every certificate as unknown.
  if (ca !== undefined && certificatesIn(ca).length === 0) {
    const isPath = typeof ca === 'string' && /^\S+\.(?:pem|crt|cer)$/i.test(ca)
    const problem = isPath
      ? 'the CA is not the text of a certificate in PEM form. If it is a path, read the file and pass its text'
      : 'the CA file contains no certificate in PEM form'
    throw fail('OPTION_INVALID', { option: name, problem })
  }
  try {
    return createSecureContext({ ca, cert, key, passphrase, ciphers: ciphers() })
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw fail('OPTION_INVALID', { option: name, problem }, { cause: error })
  }
}

export function certificatesIn(pem: string | Buffer): readonly string[] {
  const text = Buffer.from(pem).toString('latin1')
  return text.match(/-----BEGIN ([A-Z0-9 ]*CERTIFICATE)-----[^-]*-----END \1-----/g) ?? []
}

/** Returns the pinned certificate of a server's chain, in PEM form, and closes the connection. */
function learn(socket: TLSSocket, pin: string): string {
  const own = socket.getPeerCertificate(true)
  socket.destroy()
  for (let seen = own; ; seen = seen.issuerCertificate) {
    if (hexOf(seen.fingerprint256) === pin) {
      const pem = new X509Certificate(seen.raw).toString()
      known.set(pin, pem)
      return pem
    }
    if (seen.issuerCertificate === undefined || seen.issuerCertificate === seen) break
  }
  const message = `no certificate of the chain has the given fingerprint. The fingerprint of the server is ${own.fingerprint256}`
  throw Object.assign(new Error(message), { code: 'FINGERPRINT_MISMATCH' })
}

/** Returns undefined if OpenSSL cannot read the certificate. */
function fingerprintOf(pem: string): string | undefined {
  try {
    return hexOf(new X509Certificate(pem).fingerprint256)
  } catch {
    return undefined
  }
}

/** Returns those who signed the certificate of the other side, and so on, as far as it sent them or this machine knows them. */
export function authoritiesOf(socket: TLSSocket): X509Certificate[] {
  const authorities: X509Certificate[] = []
  let seen = socket.getPeerCertificate(true)
  // A root is its own issuer.
  while (seen.issuerCertificate !== undefined && seen.issuerCertificate !== seen) {
    seen = seen.issuerCertificate
    authorities.push(new X509Certificate(seen.raw))
  }
  return authorities
}

function hexOf(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase()
}

/** Resolves when a socket has connected or finished its TLS handshake. Rejects if it failed or closed before. */
export function established(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays: an error that comes after the caller has left must not end the process.
    socket.on('error', reject)
    const onClose = (): void => {
      reject(Object.assign(new Error('the other side closed the connection'), { code: 'ECONNRESET' }))
    }
    socket.once('close', onClose)
    socket.once(event, () => {
      socket.off('close', onClose)
      resolve()
    })
  })
}
