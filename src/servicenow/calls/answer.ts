import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { RouteResponse } from '../../proxy/route-request.js'
import { retryAfterMs } from '../../time/retry.js'

/** Ten thousand rows with every field are tens of megabytes. */
const LONGEST_BYTES = 256 * 1024 * 1024

const unzip = promisify(gunzip)

/** An answer, read whole. */
export interface InstanceAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** There was more than one may hold, and the rest was not read. */
  readonly isTooLong: boolean
}

/** Rejects with RouteError if the connection breaks in the middle. */
export async function readInstanceAnswer({ statusCode, headers, body }: RouteResponse): Promise<InstanceAnswer> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > LONGEST_BYTES) break
    parts.push(part)
  }
  if (bytes > LONGEST_BYTES) body.destroy()
  const whole = Buffer.concat(parts)
  const isZipped = String(headers['content-encoding'] ?? '').toLowerCase() === 'gzip'
  const plain = isZipped && whole.length > 0 ? await unzipped(whole) : whole
  const isTooLong = bytes > LONGEST_BYTES || plain === 'too long'
  return { status: statusCode, headers, text: isTooLong ? '' : plain.toString('utf8'), isTooLong }
}

/** Returns the bytes as they are if they are not gzip. They will not parse either, and get a name then. */
async function unzipped(bytes: Buffer): Promise<Buffer | 'too long'> {
  try {
    return await unzip(bytes, { maxOutputLength: LONGEST_BYTES })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too long' : bytes
  }
}

/** The first value of a header. */
export function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** Above it a number of X-RateLimit-Reset is a time in seconds since 1970, below it a number of seconds from now. */
const LONGEST_WAIT_S = 1e9

/**
 * Returns how long the instance asks us to wait, in milliseconds, by Retry-After or else X-RateLimit-Reset. Returns undefined if it
 * sends neither. `now` is milliseconds since 1970.
 */
export function askedWaitMs(headers: IncomingHttpHeaders, now: number): number | undefined {
  const after = retryAfterMs(headers['retry-after'], now)
  if (after !== undefined) return after
  const reset = header(headers, 'x-ratelimit-reset')?.trim()
  if (reset === undefined || !/^\d+$/.test(reset)) return undefined
  const seconds = Number(reset)
  return seconds < LONGEST_WAIT_S ? seconds * 1000 : Math.max(0, seconds * 1000 - now)
}
