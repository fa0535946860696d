/** Puts errors, and the first bytes of an answer, into the words and codes that failures use. */
import type { RouteTarget } from './destination.js'

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

export function proxyOf(way: RouteTarget): string {
  return way.proxy?.display ?? '(none)'
}
