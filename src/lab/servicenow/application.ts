import { isWithin } from './address-rules.js'
import { type Answer, Refused, failed, html, notAuthenticated, tokenRefused } from './answers.js'
import { authenticate } from './authenticate.js'
import { answerAuthorize } from './authorize-endpoint.js'
import type { Call } from './call.js'
import { answerAttachments } from './attachment-api.js'
import { answerTable } from './table-api.js'
import { answerToken } from './token-endpoint.js'

/** The API that a path belongs to. */
export function apiOf(path: string): 'table' | 'oauth' | 'attachment' | 'other' {
  if (path === '/oauth_token.do') return 'oauth'
  if (attachmentPath.test(path)) return 'attachment'
  return tablePath.test(path) ? 'table' : 'other'
}

const tablePath = /^\/api\/now\/(?:v[12]\/)?table\/([^/]+)(?:\/([^/]+))?\/?$/

const attachmentPath = /^\/api\/now\/(?:v1\/)?attachment(?:\/([^/]+)(\/file)?)?\/?$/

export interface Answered {
  readonly answer: Answer
  /** Whom the request acted for. */
  readonly username: string | undefined
}

/** Answers a request that got past the platform's edge. */
export function answerOfApplication(call: Call): Answered {
  const { platform, url, from, method } = call
  const { access, faults } = platform
  const path = url.pathname
  const api = apiOf(path)
  const { adaptive } = access
  if (adaptive && !adaptive.ranges.some(range => isWithin(from, range))) {
    return { answer: outside(api, adaptive.status), username: undefined }
  }
  const isRefused = faults.strike('login', api, method) !== undefined
  if (api === 'oauth') {
    const mayAsk = !isRefused && access.permits('oauth', from)
    return { answer: mayAsk ? answerToken(call) : tokenRefused(), username: undefined }
  }
  if (path === '/oauth_auth.do') return { answer: answerAuthorize(call), username: undefined }
  if (!path.startsWith('/api/'))
    return { answer: html(404, '<html><body>Page not found</body></html>'), username: undefined }
  const username = isRefused ? undefined : authenticate(platform, call.request)
  const isPermitted = api !== 'table' || access.permits('table', from)
  if (username === undefined || !isPermitted) return { answer: notAuthenticated(), username: undefined }
  return { answer: answerUser(call, username), username }
}

function answerUser(call: Call, username: string): Answer {
  const { platform, url, method } = call
  const [, table, id] = tablePath.exec(url.pathname) ?? []
  const attachment = attachmentPath.exec(url.pathname)
  if (attachment !== null) return answerAttachments(call, username, attachment[1], attachment[2] !== undefined)
  if (table === undefined) return failed(400, 'Requested URI does not represent any resource', null)
  const now = platform.clock.now()
  const planted = platform.faults.strike('rateRule', 'table', method)
  if (planted) {
    const { limit = 10, retryAfterSeconds = 1800 } = planted
    return platform.rateLimit.refuse(limit, now + retryAfterSeconds * 1000, now)
  }
  const limited = platform.rateLimit.refusal(username, now)
  if (limited) return limited
  try {
    return answerTable(call, username, decodeURIComponent(table), id)
  } catch (error) {
    if (error instanceof Refused) return error.answer
    throw error
  }
}

/** Adaptive authentication refuses other addresses, even with good credentials. */
function outside(api: ReturnType<typeof apiOf>, status: 401 | 403): Answer {
  if (status === 403) return failed(403, 'User Not Authorized', 'Access denied by authentication policy')
  return api === 'oauth' ? tokenRefused() : notAuthenticated()
}
