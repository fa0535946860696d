import type { Failure } from '../../base/failure/failure.js'

/**
 * The layer that was being built. `exchange`: the connection was open, and the request was waiting, being sent or being answered.
 */
export type Phase = 'proxy-connect' | 'proxy-tls' | 'proxy-handshake' | 'target-connect' | 'target-tls' | 'exchange'

/**
 * Why a request got no whole answer.
 *
 * `code` is stable: PROXY_STATUS_<n>, PROXY_CLOSED, PROXY_TIMEOUT (CONNECT_TIMEOUT after the proxy), PROXY_NOT_HTTP,
 * PROXY_NOT_TLS, SOCKS_REPLY_<n>, SOCKS_AUTH_FAILED, SOCKS_NO_METHOD, SOCKS_INVALID, TIMEOUT (the request's own
 * limit), ABORTED (the caller's signal, its reason is the `cause`), CLOSED, FINGERPRINT_MISMATCH, else the code of
 * the socket, TLS or HTTP layer (ECONNREFUSED, ERR_TLS_CERT_ALTNAME_INVALID, UND_ERR_SOCKET…).
 */
export class RouteError extends Error {
  override readonly name = 'RouteError'
  readonly code: string
  readonly phase: Phase
  /** The proxy's status in answer to CONNECT. */
  readonly statusCode?: number
  readonly headers?: Readonly<Record<string, string>>
  /** `none`: not one byte of the request reached the target. `possible`: the target may have acted on it. */
  readonly delivery: 'none' | 'possible'
  /** The same, as the catalogue names it. */
  readonly failure: Failure

  constructor(
    facts: Pick<RouteError, 'code' | 'phase' | 'delivery' | 'failure'> & {
      answer?: { statusCode: number; headers: Readonly<Record<string, string>> }
      cause?: unknown
    },
  ) {
    super(facts.failure.message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = facts.code
    this.phase = facts.phase
    this.delivery = facts.delivery
    this.failure = facts.failure
    if (facts.answer !== undefined) {
      this.statusCode = facts.answer.statusCode
      this.headers = facts.answer.headers
    }
  }
}

/** The code of the innermost error that has one. */
export function errorCodeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'UNKNOWN'
  if ('code' in error && typeof error.code === 'string') return error.code
  return 'cause' in error && error.cause !== undefined ? errorCodeOf(error.cause) : 'UNKNOWN'
}

/** The first line of an error's message, with its code. */
export function textOf(error: unknown): string {
  const code = errorCodeOf(error)
  const text = error instanceof Error ? (error.message.split('\n')[0] ?? '').trim() : ''
  // OpenSSL's message is a file and line of its own source. An AggregateError has an empty message.
  if (text === '' || code.startsWith('ERR_SSL_')) return code
  return code === 'UNKNOWN' || text.includes(code) ? text : `${text} (${code})`
}

export function isTlsAlert(bytes: Uint8Array): boolean {
  return bytes[0] === 0x15 && (bytes.length < 2 || bytes[1] === 3)
}

/** The other side refused the client certificate, or its absence. TLS 1.2 has only a general alert for that. */
export function isClientCertAlert(code: string): boolean {
  return /ALERT.*(CERT|UNKNOWN_CA|HANDSHAKE_FAILURE)/.test(code)
}

/** Returns the first bytes for a message: text if possible, else hexadecimal. */
export function quoteBytes(bytes: Uint8Array): string {
  const first = Buffer.from(bytes.subarray(0, 24))
  const text = first.toString('latin1')
  return /^[\x20-\x7e\r\n]+$/.test(text) ? JSON.stringify(text.split('\r\n')[0]) : `bytes ${first.toString('hex')}`
}
