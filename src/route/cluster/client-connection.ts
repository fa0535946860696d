import { constants } from 'node:buffer'
import { Readable } from 'node:stream'
import { explain, type Failure, failure, fixesFor, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import { type ClusterAnswer, describeAnswer, nameRefusal, whoAnswered } from './answers.js'
import { isJson, product } from './read-only.js'
import { RouteError } from '../proxy/route-error.js'
import type { Route } from '../proxy/route.js'
import type { RouteResponse } from '../proxy/route-request.js'
import {
  type ConnectionClass,
  NodeConnection,
  type NodeRequest,
  type NodeRequestOptions,
  type NodeSettings,
} from './node-connection.js'
import { readAnswer } from './read-answer.js'

/** How the requests to one node of a client leave. */
export interface NodeWay {
  readonly route: Route
  /** Returns the headers to send. Called for every request, because credentials may change. */
  headers(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
  /** Called when the client closes the connection. */
  close(): Promise<void>
}

interface Ways {
  /** Called with the first request. What it throws is an error of that request. */
  open(node: NodeConnection): NodeWay
  /** Throws for settings that no connection can fulfil. */
  readonly check?: (node: NodeSettings) => void
  /** Whether a managed ingest endpoint answers. It may leave the product header out, without which the client takes no answer. */
  readonly isManaged?: boolean
  /** Whether the cluster is only read. An older version leaves the product header out, too. */
  readonly isReadOnly?: boolean
  /** Whether errors name the cause for a person. Otherwise Sluice does that later, and needs every answer as it came. */
  readonly isNamed: boolean
}

/**
 * Makes the connection of an Elasticsearch client of any version over routes of ours. The client's own connections cannot use a
 * proxy, or lose its answer. Here a failure keeps its cause.
 */
export function connectionOver(ways: Ways): ConnectionClass {
  const RoutedConnection = class extends NodeConnection {
    #way: NodeWay | undefined
    #isClosed = false

    constructor(node: NodeSettings) {
      super(node)
      ways.check?.(node)
    }

    async request(params: NodeRequest, options: NodeRequestOptions): Promise<NodeAnswer> {
      try {
        if (this.#isClosed) throw this.error('ConnectionError', 'the client is closed')
        this.#way ??= ways.open(this)
        const answer = await exchange(this.#way, this, { params, options, isNamed: ways.isNamed })
        const mayBeUnsigned = ways.isManaged === true || (ways.isReadOnly === true && isJson(answer))
        const response =
          mayBeUnsigned && answer.statusCode < 300 ? { ...answer, headers: { ...answer.headers, ...product } } : answer
        // The client refuses such an answer. Unread, its body would hold the connection.
        const isRefused = response.statusCode < 300 && response.headers['x-elastic-product'] !== 'Elasticsearch'
        if (isRefused && response.body instanceof Readable) response.body.destroy()
        return response
      } catch (error) {
        throw ways.isNamed ? namedError(this, error) : clientError(this, error)
      }
    }

    async close(): Promise<void> {
      this.#isClosed = true
      await this.#way?.close()
      this.#way = undefined
    }
  }
  return RoutedConnection as unknown as ConnectionClass
}

interface NodeAnswer {
  readonly statusCode: number
  readonly headers: RouteResponse['headers']
  readonly body: string | Buffer | Readable
}

interface Asked {
  readonly params: NodeRequest
  readonly options: NodeRequestOptions
  readonly isNamed: boolean
}

async function exchange(
  { route, headers: complete }: NodeWay,
  node: NodeConnection,
  { params, options, isNamed }: Asked,
): Promise<NodeAnswer> {
  const response = await route.request({
    method: params.method,
    path: pathOf(node.url, params),
    headers: present(complete({ ...node.headers, ...params.headers })),
    body: (params.body ?? null) as Readable | null,
    ...(options.signal == null ? {} : { signal: options.signal }),
    // Elasticsearch reads whole bodies. A gateway may refuse early, and then read no further.
    isReader: headers => headers['x-elastic-product'] !== undefined,
    ...timeout(options.timeout ?? node.timeout),
  })
  const { statusCode, headers, body } = response
  const isForeign = isNamed && statusCode >= 400 && headers['x-elastic-product'] === undefined
  if (options.asStream === true && !isForeign) return { statusCode, headers, body }
  node.diagnostic?.emit('deserialization', null, options)
  const bytes = await readBody(node, response, options)
  if (isForeign) await refuseForeign({ statusCode, headers, body: bytes }, route)
  if (options.asStream === true) return { statusCode, headers, body: Readable.from([bytes]) }
  return { statusCode, headers, body: isCompressed(headers) || isBinary(headers) ? bytes : bytes.toString('utf8') }
}

/** Throws if the proxy or the IP filter answered, or a 404 is not one of Elasticsearch: a client would read that as a missing document. */
async function refuseForeign(answer: ClusterAnswer, route: Route): Promise<void> {
  const read = await readAnswer({ ...answer, body: Readable.from([answer.body]) }, JUDGED_BYTES, route.target.origin)
    // Its sender is unknown, so the client gets it unchanged.
    .catch(() => undefined)
  if (read === undefined) return
  const answered = whoAnswered(read, route)
  const isOfProxy = answered.by === 'proxy' || answered.by === 'filter'
  const isMissing = answer.statusCode === 404 && answered.by !== 'elasticsearch'
  if (isOfProxy || isMissing) throw new SluiceError(nameRefusal(read, answered, route.target.origin))
}

const JUDGED_BYTES = 1 << 20

/** Leaves out the headers that have no value. */
function present(headers: Readonly<Record<string, unknown>>): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value != null)) as Record<string, string>
}

/**
 * Replaces media types of a version that the cluster does not know: Elasticsearch 8 refuses those of a 9.x client. Every version accepts
 * the plain ones.
 */
export function plainMediaTypes(
  headers: Readonly<Record<string, unknown>>,
  isUnknown: (version: number) => boolean = () => true,
): Record<string, unknown> {
  const plain = { ...headers }
  for (const name of ['accept', 'content-type']) {
    const value = plain[name]
    if (typeof value !== 'string') continue
    plain[name] = value.replaceAll(
      /application\/vnd\.elasticsearch\+(x-ndjson|json);\s*compatible-with=(\d+)/g,
      (given, type: string, version: string) => (isUnknown(Number(version)) ? `application/${type}` : given),
    )
  }
  return plain
}

function pathOf(url: URL, params: NodeRequest): string {
  const prefix = url.pathname.replace(/\/$/, '')
  const query = params.querystring == null || params.querystring === '' ? '' : `?${params.querystring}`
  const path = `${prefix}${params.path.startsWith('/') ? '' : '/'}${params.path}${query}`
  if (/[^\u0021-\u00ff]/.test(path)) throw new TypeError(`ERR_UNESCAPED_CHARACTERS: ${path}`)
  return path
}

function timeout(ms: number | null): { timeoutMs?: number } {
  return ms === null || ms <= 0 ? {} : { timeoutMs: ms }
}

function isCompressed(headers: RouteResponse['headers']): boolean {
  return /gzip|deflate/i.test(String(headers['content-encoding'] ?? ''))
}

function isBinary(headers: RouteResponse['headers']): boolean {
  return /mapbox-vector-tile|arrow.stream|smile|cbor/.test(String(headers['content-type'] ?? ''))
}

/** Reads an answer within the client's size limits. */
async function readBody(node: NodeConnection, response: RouteResponse, options: NodeRequestOptions): Promise<Buffer> {
  const limit = isCompressed(response.headers)
    ? (options.maxCompressedResponseSize ?? constants.MAX_LENGTH)
    : (options.maxResponseSize ?? constants.MAX_STRING_LENGTH)
  const parts: Uint8Array[] = []
  let size = Number(response.headers['content-length'] ?? 0)
  if (size <= limit) {
    size = 0
    for await (const part of response.body as AsyncIterable<Uint8Array>) {
      size += part.length
      if (size > limit) break
      parts.push(part)
    }
  }
  if (size > limit) {
    response.body.destroy()
    const message = `The content length (${size}) is bigger than the maximum allowed (${limit})`
    throw node.error('RequestAbortedError', message)
  }
  return Buffer.concat(parts)
}

/** Makes an error that the client knows. */
function clientError(node: NodeConnection, error: unknown): unknown {
  return error instanceof RouteError ? node.error(nameOf(error), error.message, error) : error
}

/** Makes an error that the client knows, whose message holds the code and the first fix. */
function namedError(node: NodeConnection, error: unknown): unknown {
  if (error instanceof RouteError && error.code === 'ABORTED')
    return node.error('RequestAbortedError', 'Request aborted', error)
  const cause = error instanceof RouteError ? new SluiceError(error.failure, { cause: error }) : error
  if (!isSluiceError(cause)) return error
  const { code, message } = cause.failure
  const [fix = ''] = fixesFor(code, message, cause.failure.evidence['next'])
  const name = error instanceof RouteError ? nameOf(error) : 'ConnectionError'
  return node.error(name, `${code}: ${message.replace(/\.$/, '')}. ${fix}`.trim(), cause)
}

function nameOf({ code }: RouteError): 'ConnectionError' | 'TimeoutError' | 'RequestAbortedError' {
  if (code === 'TIMEOUT') return 'TimeoutError'
  return code === 'ABORTED' ? 'RequestAbortedError' : 'ConnectionError'
}

/** Returns the RouteError that is the cause of a client's error, if there is one. */
export function routeErrorOf(error: unknown): RouteError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at instanceof RouteError) return at
  }
  return undefined
}

/** A request that got no answer, or not one of Elasticsearch. */
interface LostAnswer {
  readonly failure: Failure
  readonly mayPass: boolean
  readonly delivery: 'none' | 'possible'
}

/** Returns why a request got no answer. Throws any other error again, without the credentials that an error of the client holds. */
export function lostAnswer(error: unknown, cluster: string): LostAnswer {
  const lost = routeErrorOf(error)
  if (lost !== undefined) {
    const mayPass = explain(lost.failure.code).retry === 'later'
    return { failure: lost.failure, mayPass, delivery: lost.delivery }
  }
  if (error instanceof Error && error.name === 'ProductNotSupportedError') {
    const { statusCode = 0, headers = {} } = (error as Error & { meta?: Partial<ClusterAnswer> }).meta ?? {}
    const observed = describeAnswer({ statusCode, headers }, 'no x-elastic-product header')
    return { failure: failure('CLUSTER_UNAVAILABLE', { cluster, observed }), mayPass: true, delivery: 'possible' }
  }
  throw error instanceof Error && 'meta' in error ? new Error(`${error.name}: ${error.message}`) : error
}

/** Returns why a question that no run depends on got no answer. Treats a bug as one more reason. */
export function whyUnanswered(error: unknown, cluster: string): Failure {
  if (isSluiceError(error)) return error.failure
  return routeErrorOf(error)?.failure ?? failure('CLUSTER_UNAVAILABLE', { cluster, observed: 'no answer' })
}
