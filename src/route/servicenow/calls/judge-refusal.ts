import { type Failure, failure } from '../../../base/failure/failure.js'
import { isObject, parseJson } from '../../../base/json/parse-json.js'
import type { IncomingHttpHeaders } from 'node:http'
import { retryAfterMs, sentAtMs } from '../../../base/time/retry.js'

export interface InstanceAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The answer was longer than Sluice reads. */
  readonly isTooLong: boolean
}

/** Most bytes of an answer to search. Refusals are shorter. */
const SEARCHED = 64 * 1024

export interface InstanceJudging {
  /** Scheme, host and port. */
  readonly instance: string
  /** Milliseconds since 1970. */
  readonly now: number
  /** Returns foreign text that is safe to show. */
  quote(text: string, length?: number): string
}

/**
 * Judges answers that mean the same for every request, or that do not come from the application. Undefined: the
 * request decides.
 */
export function judgeRefusal(answer: InstanceAnswer, judging: InstanceJudging): Refusal | undefined {
  const { status } = answer
  const { instance } = judging
  if (isHibernating(answer)) return { is: 'stop', failure: failure('SERVICENOW_HIBERNATING', { instance, status }) }
  if (status >= 300 && status < 400) return { is: 'stop', failure: notAnInstance(answer, judging) }
  if (status === 429) return judgeLimit(answer, judging)
  if (status === 403 && !isJsonAnswer(answer)) {
    const observed = describeInstanceAnswer(answer, judging)
    return { is: 'stop', failure: failure('SERVICENOW_ADDRESS_REFUSED', { instance, observed, status }) }
  }
  if (status === 408 || (status >= 500 && status <= 504 && status !== 501)) {
    const afterMs = askedWaitMs(answer.headers, judging.now)
    const said = errorOf(answer)
    const observed =
      said === undefined ? describeInstanceAnswer(answer, judging) : `status ${status}, ${judging.quote(said.reason)}`
    const named = failure('SERVICENOW_UNREACHABLE', { instance, observed, status })
    return { is: 'later', failure: named, undone: false, afterMs }
  }
  return undefined
}

/** A hibernating instance sends this page for every path. It may redirect programs to the developer site. */
function isHibernating({ status, headers, text }: InstanceAnswer): boolean {
  if (status >= 300 && status < 400) {
    const location = header(headers, 'location') ?? ''
    return /^https:\/\/developer\.servicenow\.com\//i.test(location) || /[?&]wu=true\b/.test(location)
  }
  return !isJsonAnswer({ headers, text }) && /\bhibernating\b/i.test(text.slice(0, SEARCHED))
}

function judgeLimit(answer: InstanceAnswer, judging: InstanceJudging): Refusal {
  const { headers } = answer
  const afterMs = askedWaitMs(headers, judging.now)
  const rule = header(headers, 'x-ratelimit-limit')
  const said = errorOf(answer)
  const observed = [
    afterMs === undefined ? 'without Retry-After' : `Retry-After ${Math.ceil(afterMs / 1000)} s`,
    ...(rule === undefined ? [] : [`its limit is ${judging.quote(rule, 40)}`]),
    ...(said === undefined ? [] : [judging.quote(said.reason)]),
  ].join(', ')
  const named = failure('SERVICENOW_RATE_LIMITED', { instance: judging.instance, observed })
  return { is: 'later', failure: named, undone: true, afterMs }
}

export function notAnInstance(answer: InstanceAnswer, judging: InstanceJudging): Failure {
  const observed = describeInstanceAnswer(answer, judging)
  return failure('SERVICENOW_NOT_AN_INSTANCE', { instance: judging.instance, observed, status: answer.status })
}

/** Shows the target of a redirect without path and query, which may hold secrets. */
export function describeInstanceAnswer({ status, headers, text }: InstanceAnswer, { quote }: InstanceJudging): string {
  const location = header(headers, 'location')
  const to = location === undefined || !URL.canParse(location) ? undefined : new URL(location).origin
  const type = header(headers, 'content-type')?.split(';')[0]?.trim()
  const words = quote(text, 100)
  return [
    `status ${status}`,
    ...(status >= 300 && status < 400 ? [to === undefined ? 'a redirect' : `a redirect to ${quote(to, 80)}`] : []),
    ...(type === undefined || type === '' ? [] : [quote(type, 40)]),
    ...(words === '' ? [] : [`"${words}"`]),
  ].join(', ')
}

export function isJsonAnswer({ headers, text }: Pick<InstanceAnswer, 'headers' | 'text'>): boolean {
  const type = header(headers, 'content-type') ?? ''
  const start = text.slice(0, SEARCHED)
  if (/^\s*</.test(start)) return false
  return /[/+]json\b/i.test(type) || /^\s*\{/.test(start)
}

/** Returns the error of the application's envelope, `{"error":{"message","detail"},"status":"failure"}`. */
export function errorOf({ text }: Pick<InstanceAnswer, 'text'>): ApplicationError | undefined {
  return text.length > SEARCHED ? undefined : errorIn(parseJson(text))
}

export function errorIn(value: unknown): ApplicationError | undefined {
  if (!isObject(value) || !isObject(value['error'])) return undefined
  const { message, detail } = value['error']
  if (typeof message !== 'string') return undefined
  return { message, reason: typeof detail === 'string' && detail !== '' ? `${message}: ${detail}` : message }
}

export function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** A larger number in X-RateLimit-Reset is a time in seconds since 1970, a smaller one counts from now. */
const LONGEST_WAIT_S = 1e9

/** Returns how long the instance asks us to wait, by Retry-After or else X-RateLimit-Reset. */
function askedWaitMs(headers: IncomingHttpHeaders, now: number): number | undefined {
  const after = retryAfterMs(headers, now)
  if (after !== undefined) return after
  const reset = header(headers, 'x-ratelimit-reset')?.trim()
  if (reset === undefined || !/^\d+$/.test(reset)) return undefined
  const seconds = Number(reset)
  return seconds < LONGEST_WAIT_S ? seconds * 1000 : Math.max(0, seconds * 1000 - (sentAtMs(headers) ?? now))
}

interface ApplicationError {
  readonly message: string
  /** The message with its detail. */
  readonly reason: string
}

/** The meaning of an answer, or of a missing one. */
export type InstanceVerdict<T> = { readonly is: 'done'; readonly value: T } | Refusal

export type Refusal =
  /** A retry may succeed. `undone`: the instance certainly did not do it. `afterMs`: how long it asks to wait. */
  | { readonly is: 'later'; readonly failure: Failure; readonly undone: boolean; readonly afterMs?: number | undefined }
  /** The instance does not accept the credentials, or says so. It did nothing. */
  | { readonly is: 'unauthenticated'; readonly failure: Failure }
  | { readonly is: 'stop'; readonly failure: Failure }

/** Says which credentials were refused, so that the failure has the right fixes. */
export function ofApiKey({ evidence }: Failure): Failure {
  const reason = `${String(evidence['reason']).replace(/\.$/, '')}. Sluice sent an API key`
  return failure('SERVICENOW_AUTH_REJECTED', { ...evidence, instance: String(evidence['instance']), reason })
}
