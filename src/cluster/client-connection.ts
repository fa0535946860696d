import { BaseConnection, errors } from '@elastic/elasticsearch'
import { constants } from 'node:buffer'
import { Readable } from 'node:stream'
import { explain } from '../failure/catalogue.js'
import { type Failure, failure, isSluiceError } from '../failure/failure.js'
import { describeAnswer } from './answers.js'
import { RouteError } from '../proxy/route-error.js'
import type { Route } from '../proxy/route.js'

type Params = Parameters<BaseConnection['request']>[0]
type Options = Parameters<BaseConnection['request']>[1]

interface Over {
  /** Called for every request, because credentials may change. */
  ownHeaders(): Record<string, string>
  /** Whether a managed ingest endpoint answers. It may leave the product header out, without which the client takes no answer. */
  readonly isManaged: boolean
}

/**
 * Makes the Elasticsearch client's connection over a route of ours. The client's own connections cannot use a proxy, or lose its
 * answer. Here a failure keeps its cause, a RouteError.
 */
export function connectionOver(route: Route, { ownHeaders, isManaged }: Over): typeof BaseConnection {
  return class RoutedConnection extends BaseConnection {
    override async request(params: Params, options: Options): Promise<never> {
      const headers = { ...ownHeaders(), ...params.headers }
      const answer = await exchange(route, this, { ...params, headers }, options)
      const response =
        isManaged && answer.statusCode < 300 ? { ...answer, headers: { ...answer.headers, ...product } } : answer
      // The client refuses such an answer. Unread, its body would hold the connection.
      const isRefused = response.statusCode < 300 && response.headers['x-elastic-product'] !== 'Elasticsearch'
      if (isRefused && response.body instanceof Readable) response.body.destroy()
      // The base class types the result by three overloads (stream, meta, plain) that no single implementation satisfies.
      return response as never
    }

    override async close(): Promise<void> {
      await route.close()
    }
  }
}

const product = { 'x-elastic-product': 'Elasticsearch' }

async function exchange(route: Route, connection: BaseConnection, params: Params, options: Options) {
  const path = pathOf(connection.url, params)
  try {
    const response = await route.request({
      method: params.method,
      path,
      headers: plainMediaTypes({ ...connection.headers, ...params.headers }),
      body: params.body ?? null,
      ...(options.signal == null ? {} : { signal: options.signal }),
      // Elasticsearch reads whole bodies. A gateway may refuse early, and then read no further.
      isReader: headers => headers['x-elastic-product'] !== undefined,
      ...timeout(options.timeout ?? connection.timeout),
    })
    const { statusCode, headers, body } = response
    if (options.asStream === true) return { statusCode, headers, body }
    connection.diagnostic.emit('deserialization', null, options)
    return { statusCode, headers, body: await readBody(response, options) }
  } catch (error) {
    throw clientError(error)
  }
}

/** Elasticsearch 8 refuses the `compatible-with=9` media types of a 9.x client. Every version accepts the plain ones. */
function plainMediaTypes(headers: Record<string, unknown>): Record<string, string | string[]> {
  const plain: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || value === null) continue
    plain[name] =
      typeof value === 'string' && (name === 'accept' || name === 'content-type')
        ? value.replaceAll(/application\/vnd\.elasticsearch\+(x-ndjson|json);\s*compatible-with=\d+/g, 'application/$1')
        : (value as string | string[])
  }
  return plain
}

function pathOf(url: URL, params: Params): string {
  const prefix = url.pathname.replace(/\/$/, '')
  const query = params.querystring == null || params.querystring === '' ? '' : `?${params.querystring}`
  const path = `${prefix}${params.path.startsWith('/') ? '' : '/'}${params.path}${query}`
  if (/[^\u0021-\u00ff]/.test(path)) throw new TypeError(`ERR_UNESCAPED_CHARACTERS: ${path}`)
  return path
}

function timeout(ms: number | null): { timeoutMs?: number } {
  return ms === null || ms <= 0 ? {} : { timeoutMs: ms }
}

/** Reads text, or bytes if the answer is compressed or binary, within the client's size limits. */
async function readBody(response: Awaited<ReturnType<Route['request']>>, options: Options): Promise<string | Buffer> {
  const encoding = String(response.headers['content-encoding'] ?? '').toLowerCase()
  const compressed = encoding.includes('gzip') || encoding.includes('deflate')
  const binary = /mapbox-vector-tile|arrow.stream|smile|cbor/.test(String(response.headers['content-type'] ?? ''))
  const limit = compressed
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
    throw new errors.RequestAbortedError(`The content length (${size}) is bigger than the maximum allowed (${limit})`)
  }
  const bytes = Buffer.concat(parts)
  return compressed || binary ? bytes : bytes.toString('utf8')
}

/** Makes an error of the class that the client expects. */
function clientError(error: unknown): unknown {
  if (!(error instanceof RouteError)) return error
  const details = { cause: error } as never
  if (error.code === 'TIMEOUT') return new errors.TimeoutError(error.message, undefined, details)
  if (error.code === 'ABORTED') return new errors.RequestAbortedError(error.message, undefined, details)
  return new errors.ConnectionError(error.message, undefined, details)
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
  if (error instanceof errors.ProductNotSupportedError) {
    const { statusCode = 0, headers = {} } = error.meta ?? {}
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
