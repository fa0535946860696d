/** Asks an S3 server through the AWS SDK, which finds the credentials and signs. Each request goes over a route of Sluice. */
import type { GetObjectCommandOutput, ListObjectsV2CommandOutput, S3Client } from '@aws-sdk/client-s3'
import { env } from 'node:process'
import { Readable } from 'node:stream'
import { fail, failure, isSluiceError, quote, SluiceError } from '../../base/failure/failure.js'
import { bucketAndKey } from '../../base/text/source-url.js'
import { checkedAnswer } from './checked-answer.js'
import { refusalOf } from './judge-answer.js'
import type { SourceRoutes } from './routes.js'
import type { Answer, WantedPart } from './store.js'
import { withoutLogins } from './without-logins.js'

export type Sdk = typeof import('@aws-sdk/client-s3')

/** A request as the SDK has signed it. */
interface SignedRequest {
  readonly method: string
  readonly protocol: string
  readonly hostname: string
  readonly port?: number
  readonly path: string
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

interface Listing extends WantedPart {
  readonly prefix: string
  readonly after: string | undefined
}

export class Buckets {
  readonly #sdk: Sdk
  readonly #routes: SourceRoutes
  #s3: S3Client | undefined
  #settings: { readonly region?: string; readonly forcePathStyle: boolean } = { forcePathStyle: false }

  constructor(sdk: Sdk, routes: SourceRoutes) {
    this.#sdk = sdk
    this.#routes = routes
  }

  /** See `Store.get`. */
  async get(name: string, wanted: WantedPart): Promise<Answer> {
    const { bucket: Bucket, key: Key } = bucketAndKey(name)
    const { range, etag } = wanted
    const given = {
      Bucket,
      Key,
      ...(range === undefined ? {} : { Range: `bytes=${range.from}-${range.to - 1}` }),
      ...(etag === undefined ? {} : { IfMatch: etag }),
    }
    const said = await this.#ask(name, wanted, async (s3, options) => {
      return await s3.send(new this.#sdk.GetObjectCommand(given), options)
    })
    const body = said.Body instanceof Readable ? said.Body : Readable.from([])
    return checkedAnswer(name, { status: said.$metadata.httpStatusCode ?? 200, headers: headersOf(said), body }, wanted)
  }

  async list(name: string, { prefix, after, ...wanted }: Listing): Promise<ListObjectsV2CommandOutput> {
    const { bucket: Bucket } = bucketAndKey(name)
    const given = { Bucket, Prefix: prefix, ...(after === undefined ? {} : { ContinuationToken: after }) }
    return await this.#ask(name, wanted, async (s3, options) => {
      return await s3.send(new this.#sdk.ListObjectsV2Command(given), options)
    })
  }

  async #ask<T>(
    input: string,
    { signal, timeoutMs }: WantedPart,
    send: (s3: S3Client, options: { abortSignal: AbortSignal; requestTimeout?: number }) => Promise<T>,
  ): Promise<T> {
    const options = { abortSignal: signal, ...(timeoutMs === undefined ? {} : { requestTimeout: timeoutMs }) }
    const settings = this.#settings
    try {
      return await send((this.#s3 ??= this.#open(input)), options)
    } catch (error) {
      signal.throwIfAborted()
      // Requests that were under way together find out the same. The first one has changed the settings for all.
      if (settings === this.#settings && !this.#adapt(error)) throw refused(input, error)
      return await this.#ask(input, { signal, timeoutMs }, send)
    }
  }

  /** Returns whether the request is to be made again, with other settings. */
  #adapt(error: unknown): boolean {
    const { region, forcePathStyle } = this.#settings
    // Users of servers other than Amazon's often set no region. From this one, Amazon redirects to the right one.
    const isPlaceless = region === undefined && error instanceof Error && /region is missing/i.test(error.message)
    const isForeign = !forcePathStyle && error instanceof ForeignServer
    if (!isPlaceless && !isForeign) return false
    if (isPlaceless) this.#settings = { forcePathStyle, region: 'us-east-1' }
    // Other servers seldom have a host name for each bucket.
    if (isForeign) this.#settings = { ...this.#settings, forcePathStyle: true }
    this.#s3 = undefined
    return true
  }

  #open(input: string): S3Client {
    // The SDK would print which versions of Node it will support next year. A load that ends well prints nothing.
    env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
    const { forcePathStyle } = this.#settings
    const handler = {
      handle: async (request: SignedRequest, options: { abortSignal?: AbortSignal; requestTimeout?: number } = {}) => {
        const { abortSignal: signal, requestTimeout: timeoutMs } = options
        const { method, headers, protocol, hostname, port } = request
        if (!forcePathStyle && isForeign(hostname)) throw new ForeignServer()
        const origin = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`
        const asked = { method, path: pathOf(request), headers, signal, timeoutMs }
        const response = await this.#routes.ask(input, origin, asked)
        return { response: { ...response, reason: undefined } }
      },
    }
    return new this.#sdk.S3Client({
      ...this.#settings,
      // Sluice retries by itself, and continues where an answer broke off.
      maxAttempts: 1,
      followRegionRedirects: true,
      // TLS checks what comes in, and a part of an object has no checksum.
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: handler as never,
    })
  }
}

/** Returns whether it is not one of Amazon's. */
function isForeign(hostname: string): boolean {
  return !/\.(amazonaws\.com|amazonaws\.com\.cn|aws|api\.aws)$/.test(hostname)
}

/** Not sent: the name of the bucket belongs into the path. */
class ForeignServer extends Error {}

function pathOf({ path, query = {} }: SignedRequest): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map(value => (value === null ? encoded(name) : `${encoded(name)}=${encoded(value)}`)),
  )
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
}

/** As it was signed. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, one => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}

function headersOf({ ETag, ContentRange, ContentLength, LastModified, ContentEncoding }: GetObjectCommandOutput) {
  return {
    etag: ETag,
    'content-range': ContentRange,
    'content-length': ContentLength?.toString(),
    'last-modified': LastModified?.toUTCString(),
    'content-encoding': ContentEncoding,
  }
}

/** A client is opened for the first object, and asks for all of them. */
function named(error: SluiceError, input: string): SluiceError {
  const { code, evidence } = error.failure
  if (code !== 'SOURCE_UNAVAILABLE' || evidence['input'] === input) return error
  return new SluiceError(failure(code, { ...evidence, observed: String(evidence['observed']), input }), {
    cause: error,
  })
}

/** The error that the SDK throws for an answer. */
interface ServiceError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> }
}

/** Names what the SDK throws, without secrets. */
export function refused(input: string, error: unknown): unknown {
  const own = isSluiceError(error)
    ? error
    : error instanceof Error && isSluiceError(error.cause)
      ? error.cause
      : undefined
  if (own !== undefined) return named(own, input)
  if (!(error instanceof Error)) return error
  const { name: code, $metadata: { httpStatusCode: status } = {}, $response }: ServiceError = error
  const message = withoutLogins(error.message, [
    env['AWS_ACCESS_KEY_ID'],
    env['AWS_SECRET_ACCESS_KEY'],
    env['AWS_SESSION_TOKEN'],
  ])
  const headers = $response?.headers ?? {}
  if (status !== undefined && status >= 300)
    return new SluiceError(refusalOf(input, { status, code, message, headers }, Date.now()), { cause: error })
  if (/credential|token|sso|profile/i.test(`${code} ${message}`))
    return fail(
      'SOURCE_REFUSED',
      { input, observed: `no AWS credentials can be used: ${quote(message, 160)}` },
      { cause: error },
    )
  return fail('INPUT_UNREADABLE', { input, problem: quote(`${code}: ${message}`, 200) }, { cause: error })
}
