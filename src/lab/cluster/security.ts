import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { because } from '../refusals.js'
import { answer } from './answers.js'
import type { Principal } from './permissions.js'

const scheme = ['Basic realm="security", charset="UTF-8"', 'ApiKey']

/** The privileges that `write` implies. */
const write = ['write', 'create_doc', 'create', 'index', 'delete', 'auto_configure']

/** Holds users and keys of the lab's cluster, new for each lab. */
export class Security {
  /** Called after each change of the API key. */
  onRotate: () => void = () => {}
  readonly username = 'elastic'
  readonly password = randomBytes(15).toString('base64url')
  /** May write to `least-*`, and nothing else. */
  readonly leastPrivilegeApiKey: string
  /** May send to the managed ingest endpoint, and nothing else. */
  readonly eventApiKey: string
  readonly eventKeyName = 'event'
  #apiKey: string
  readonly #keys = new Map<string, { readonly secret: string; principal: Principal }>()

  constructor() {
    this.#apiKey = this.#newKey('lab')
    this.leastPrivilegeApiKey = this.#newKey('least', { pattern: /^least-/, privileges: new Set(write) })
    this.eventApiKey = this.#newKey(this.eventKeyName, { pattern: /^$/, privileges: new Set() })
  }

  /** Encoded as the Authorization header takes it. */
  get apiKey(): string {
    return this.#apiKey
  }

  /** Makes a new API key. The cluster refuses the old one from now on. */
  rotateApiKey(): void {
    this.#keys.delete(idOf(this.#apiKey))
    this.#apiKey = this.#newKey('lab')
    this.onRotate()
  }

  /** Leaves the API key these privileges of the indices that match, and `monitor`. Undefined: all privileges. */
  limitApiKey(indexPrivileges?: NonNullable<Principal['indexPrivileges']>): void {
    const key = this.#keys.get(idOf(this.#apiKey))
    if (key === undefined) return
    const { username, apiKey } = key.principal
    const limits = indexPrivileges && { indexPrivileges, clusterPrivileges: new Set(['monitor']) }
    key.principal = { username, ...(apiKey && { apiKey }), ...limits }
  }

  /** Returns the sender of a request. Otherwise answers 401 and returns undefined. */
  authenticate(request: IncomingMessage, response: ServerResponse): Principal | undefined {
    const header = request.headers.authorization
    const path = (request.url ?? '/').split('?')[0]
    if (header === undefined) {
      refuse(response, { reason: `missing authentication credentials for REST request [${path}]` })
      return undefined
    }
    const [, kind = '', credentials = ''] = /^(\S+) +(.*)$/.exec(header) ?? []
    if (kind.toLowerCase() === 'basic') return this.#basic(credentials, path ?? '/', response)
    if (kind.toLowerCase() === 'apikey') return this.#key(credentials, response)
    refuseCredentials(response, 'oauth2 token: invalid token')
    return undefined
  }

  #basic(credentials: string, path: string, response: ServerResponse): Principal | undefined {
    const decoded = Buffer.from(credentials, 'base64').toString()
    const colon = decoded.indexOf(':')
    const username = decoded.slice(0, Math.max(colon, 0))
    const isUser = isSame(username, this.username)
    const isPassword = isSame(decoded.slice(colon + 1), this.password)
    if (isUser && isPassword) return { username }
    refuse(response, { reason: `unable to authenticate user [${username}] for REST request [${path}]` })
    return undefined
  }

  #key(credentials: string, response: ServerResponse): Principal | undefined {
    const illegal = /[^A-Za-z0-9+/=]/.exec(credentials)?.[0]
    if (illegal !== undefined) {
      refuseCredentials(response, `API key: Illegal base64 character ${illegal.charCodeAt(0).toString(16)}`)
      return undefined
    }
    const [id = '', secret = ''] = Buffer.from(credentials, 'base64').toString().split(':', 2)
    const key = this.#keys.get(id)
    if (key && isSame(secret, key.secret)) return key.principal
    const problem = key ? `invalid credentials for API key [${id}]` : `unable to find apikey with id ${id}`
    refuseCredentials(response, `API key: ${problem}`)
    return undefined
  }

  #newKey(name: string, indexPrivileges?: Principal['indexPrivileges']): string {
    const id = randomBytes(15).toString('base64url')
    const secret = randomBytes(16).toString('base64url')
    const principal = { username: this.username, apiKey: { id, name }, ...(indexPrivileges && { indexPrivileges }) }
    this.#keys.set(id, { secret, principal })
    return Buffer.from(`${id}:${secret}`).toString('base64')
  }
}

function idOf(apiKey: string): string {
  return Buffer.from(apiKey, 'base64').toString().split(':', 1)[0] ?? ''
}

/** `_security/_authenticate` */
export function describePrincipal({ username, apiKey }: Principal): Record<string, unknown> {
  const realm = apiKey ? { name: '_es_api_key', type: '_es_api_key' } : { name: 'default_file', type: 'file' }
  return {
    username,
    roles: apiKey ? [] : ['superuser'],
    full_name: null,
    email: null,
    metadata: {},
    enabled: true,
    authentication_realm: realm,
    lookup_realm: realm,
    authentication_type: apiKey ? 'api_key' : 'realm',
    ...(apiKey && { api_key: apiKey }),
  }
}

function refuseCredentials(response: ServerResponse, problem: string): void {
  refuse(response, {
    reason: 'unable to authenticate with provided credentials and anonymous access is not allowed for this request',
    additional_unsuccessful_credentials: problem,
  })
}

function refuse(
  response: ServerResponse,
  parts: { reason: string; additional_unsuccessful_credentials?: string },
): void {
  because(response, parts.additional_unsuccessful_credentials ?? parts.reason)
  const error = { type: 'security_exception', ...parts, header: { 'WWW-Authenticate': scheme } }
  answer(response, 401, JSON.stringify({ error: { root_cause: [error], ...error }, status: 401 }), {
    product: false,
    headers: { 'WWW-Authenticate': scheme },
  })
}

function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
