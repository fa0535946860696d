/** A connection as every version of the Elasticsearch client expects it, without the client itself. */
import { inspect } from 'node:util'

/** The settings that the pool of a client passes for each node. */
export interface NodeSettings {
  readonly url: URL
  readonly id?: string | undefined
  readonly headers?: Readonly<Record<string, unknown>> | undefined
  readonly auth?: NodeLogin | null | undefined
  readonly status?: string | undefined
  readonly timeout?: number | null | undefined
  readonly tls?: object | null | undefined
  readonly agent?: unknown
  readonly proxy?: unknown
  readonly caFingerprint?: string | null | undefined
  readonly diagnostic?: Diagnostic | undefined
  readonly roles?: unknown
  readonly maxEventListeners?: number | undefined
}

interface NodeLogin {
  readonly username?: string
  readonly password?: string
  readonly bearer?: string
  readonly apiKey?: string | { readonly id: string; readonly api_key: string }
}

/** Where a client reports its requests. */
interface Diagnostic {
  emit(event: string, ...given: unknown[]): unknown
  on(event: string, listener: (error: unknown, result: unknown) => void): unknown
}

export interface NodeRequest {
  readonly method: string
  readonly path: string
  readonly querystring?: string | null | undefined
  readonly headers?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
}

export interface NodeRequestOptions {
  readonly signal?: AbortSignal | null | undefined
  readonly timeout?: number | null | undefined
  readonly maxResponseSize?: number | null | undefined
  readonly maxCompressedResponseSize?: number | null | undefined
  readonly asStream?: boolean | undefined
}

/**
 * The class that a client takes as `Connection`. Each version of the client has a class of its own, whose private symbols no other class
 * can have. So the type says no more of a connection than what a client needs to accept it.
 */
export interface ConnectionClass {
  new (node: { readonly url: URL }): never
  readonly prototype: never
  readonly statuses: { ALIVE: string; DEAD: string }
}

const statuses = { ALIVE: 'alive', DEAD: 'dead' }

/** The fields that pools of clients read and write. A pool may make one connection out of another, so all are public. */
export class NodeConnection {
  static readonly statuses = statuses
  url: URL
  id: string
  tls: object | null
  headers: Record<string, unknown>
  timeout: number | null
  status: string
  deadCount = 0
  resurrectTimeout = 0
  weight = 0
  _openRequests = 0
  maxEventListeners: number
  roles: unknown
  caFingerprint: string | null
  diagnostic: Diagnostic | undefined
  readonly #causes = new Map<string, unknown>()

  constructor(node: NodeSettings) {
    this.url = node.url
    this.id = node.id ?? withoutLogin(node.url)
    this.tls = node.tls ?? null
    this.headers = { ...loginHeader(node), ...node.headers }
    this.timeout = node.timeout ?? null
    this.status = node.status ?? statuses.ALIVE
    this.maxEventListeners = node.maxEventListeners ?? 100
    this.roles = node.roles
    this.caFingerprint = node.caFingerprint ?? null
    this.diagnostic = node.diagnostic
    addCauses(this.diagnostic)
  }

  /**
   * Returns an error that a client knows by its name. The client throws one of its own class with the same message. Clients of
   * version 8 leave the cause out, and `addCauses` adds it again.
   */
  error(name: 'ConnectionError' | 'TimeoutError' | 'RequestAbortedError', message: string, cause?: unknown): Error {
    if (cause !== undefined) {
      this.#causes.delete(message)
      this.#causes.set(message, cause)
      const [oldest] = this.#causes.keys()
      if (this.#causes.size > MOST_CAUSES && oldest !== undefined) this.#causes.delete(oldest)
    }
    const error = Object.assign(new Error(message, { cause }), { name })
    made.add(error)
    return error
  }

  causeOf(message: string): unknown {
    return this.#causes.get(message)
  }

  /** Shows no credentials, and no TLS key. */
  toJSON(): object {
    const { authorization: _, ...headers } = this.headers
    return { url: withoutLogin(this.url), id: this.id, headers, status: this.status }
  }

  [inspect.custom](): object {
    return this.toJSON()
  }
}

/** Most messages of a node whose causes are remembered. They are the same again and again. */
const MOST_CAUSES = 16

/** Errors of ours. Clients of version 9 make them the cause of their own. */
const made = new WeakSet<Error>()

const heard = new WeakSet<object>()

/** Gives the errors of a client the cause behind their message. */
function addCauses(diagnostic: Diagnostic | undefined): void {
  if (diagnostic === undefined || heard.has(diagnostic)) return
  heard.add(diagnostic)
  diagnostic.on('response', (error, result) => {
    const { connection } = (result as { meta?: { connection?: unknown } } | undefined)?.meta ?? {}
    if (!(error instanceof Error) || !(connection instanceof NodeConnection)) return
    // Another request may have ended with the same message since, for another cause.
    const own = error.cause instanceof Error && made.has(error.cause) ? error.cause.cause : undefined
    const cause = own ?? connection.causeOf(error.message)
    if (cause !== undefined) error.cause = cause
  })
}

function loginHeader({ auth, headers }: NodeSettings): { authorization?: string } {
  if (auth == null || headers?.['authorization'] != null) return {}
  const { apiKey, bearer, username, password } = auth
  if (apiKey != null) {
    const key = typeof apiKey === 'string' ? apiKey : base64(`${apiKey.id}:${apiKey.api_key}`)
    return { authorization: `ApiKey ${key}` }
  }
  if (bearer != null) return { authorization: `Bearer ${bearer}` }
  if (username == null || password == null) return {}
  return { authorization: `Basic ${base64(`${username}:${password}`)}` }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function withoutLogin({ href }: URL): string {
  return href.replace(/\/\/[^/@]*@/, '//')
}
