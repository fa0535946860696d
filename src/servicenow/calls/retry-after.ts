import type { IncomingHttpHeaders } from 'node:http'
import { header } from './answer.js'

/** Above it a number of X-RateLimit-Reset is a time in seconds since 1970, below it a number of seconds from now. */
const LONGEST_WAIT_S = 1e9

/**
 * How long the instance wants to be left alone, in milliseconds: Retry-After (seconds or a date), else X-RateLimit-Reset. Undefined
 * where it says neither. `now`: milliseconds since 1970.
 */
export function retryAfterMs(headers: IncomingHttpHeaders, now: number): number | undefined {
  const after = header(headers, 'retry-after')?.trim()
  if (after !== undefined) {
    if (/^\d+$/.test(after)) return Number(after) * 1000
    const date = Date.parse(after)
    if (!Number.isNaN(date)) return Math.max(0, date - now)
  }
  const reset = header(headers, 'x-ratelimit-reset')?.trim()
  if (reset === undefined || !/^\d+$/.test(reset)) return undefined
  const seconds = Number(reset)
  return seconds < LONGEST_WAIT_S ? seconds * 1000 : Math.max(0, seconds * 1000 - now)
}
