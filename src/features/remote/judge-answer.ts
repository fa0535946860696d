/** Judges what a server of objects answers: names who refused, and what may pass. Pure. */
import { createHash } from 'node:crypto'
import { type Failure, failure, quote } from '../../base/failure/failure.js'
import type { faultIn } from '../../route/connect/route-to.js'
import { retryAfterMs } from '../../base/time/retry.js'
import type { ObjectFacts } from './store.js'
import { withoutLogins } from './without-logins.js'

type RouteFault = NonNullable<ReturnType<typeof faultIn>>

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

export interface Said {
  readonly status: number
  readonly headers: Headers
  /** The name of the error that an S3 server gives, such as NoSuchKey. */
  readonly code?: string | undefined
  readonly message?: string | undefined
}

/** Returns why there is no object in an answer. `now`: milliseconds since the epoch. */
export function refusalOf(input: string, said: Said, now: number): Failure {
  const { status, headers, code, message } = said
  const words = [code, message === undefined ? undefined : quote(withoutLogins(message), 120)].filter(
    word => word !== undefined,
  )
  const observed = [`status ${status}`, ...words].join(', ')
  const isGone = status === 404 || status === 410
  if (isGone) return failure('INPUT_NOT_FOUND', { input })
  if (status === 412) return failure('INPUT_REPLACED', { input, observed: 'it has another ETag now' })
  if (status === 416) return failure('INPUT_REPLACED', { input, observed: shorter(headers) })
  if (isPassing(status, code)) {
    const waitMs = retryAfterMs(headers, now)
    return failure('SOURCE_UNAVAILABLE', { input, observed, ...(waitMs === undefined ? {} : { waitMs }) })
  }
  return failure('SOURCE_REFUSED', { input, observed })
}

/** Returns what an answer says about its object. */
export function factsOf(status: number, headers: Headers): ObjectFacts {
  const total = status === 206 ? rangeOf(headers)?.total : wholeNumber(headerText(headers['content-length']))
  const etag = headerText(headers['etag'])
  return {
    size: total,
    etag: strong(etag),
    modifiedMs: Math.max(0, Date.parse(headerText(headers['last-modified'])) || 0),
    encoding: headerText(headers['content-encoding']).toLowerCase() || undefined,
  }
}

/** Returns the ETag if it stands for exactly these bytes. */
export function strong(etag: string | undefined): string | undefined {
  return etag !== undefined && /^"[^"]+"$/.test(etag) ? etag : undefined
}

/** Returns what Content-Range says. `total`: undefined if the server does not know it. */
export function rangeOf(
  headers: Headers,
): { readonly from: number; readonly to: number; readonly total: number | undefined } | undefined {
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(headerText(headers['content-range'])) ?? []
  if (first === undefined || last === undefined) return undefined
  return { from: Number(first), to: Number(last) + 1, total: wholeNumber(total) }
}

/** Names a connection that could not be made, or that broke. The route calls its target a cluster. */
export function lostSourceAnswer(input: string, { failure: known, phase, cause }: RouteFault): Failure {
  const { problem, observed, limitMs } = known.evidence
  switch (known.code) {
    case 'CLUSTER_CERT_INVALID':
      return failure('SOURCE_CERT_INVALID', { input, problem: String(problem ?? cause) })
    case 'CLUSTER_CLIENT_CERT':
      return failure('SOURCE_CERT_INVALID', {
        input,
        problem: `it requires a client certificate (${String(observed)})`,
      })
    case 'CLUSTER_TLS_MISMATCH':
    case 'CLUSTER_UNAVAILABLE':
      return failure('SOURCE_UNAVAILABLE', { input, observed: String(observed) })
    case 'CLUSTER_TIMEOUT':
      return failure('SOURCE_UNAVAILABLE', {
        input,
        observed: `no whole answer within ${Number(limitMs) / 1000} s (${phase})`,
      })
    default:
      return known
  }
}

/** Returns a number of 52 bits that stands for a text. Never 0. */
export function hashNumber(text: string): number {
  const digest = createHash('sha256').update(text).digest()
  return digest.readUIntBE(0, 6) * 16 + (digest.readUInt8(6) >> 4) + 1
}

/** Returns 0 if there is none. */
export function etagNumberOf(etag: string | undefined): number {
  return etag === undefined ? 0 : hashNumber(etag)
}

function isPassing(status: number, code: string | undefined): boolean {
  return status === 408 || status === 429 || status >= 500 || code === 'SlowDown' || code === 'RequestTimeout'
}

function shorter(headers: Headers): string {
  const [, size] = /^bytes \*\/(\d+)$/i.exec(headerText(headers['content-range'])) ?? []
  return size === undefined ? 'it is shorter now' : `it has only ${Number(size).toLocaleString('en-US')} bytes now`
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

export function headerText(header: Headers[string]): string {
  return (typeof header === 'object' ? (header[0] ?? '') : (header ?? '')).trim()
}
