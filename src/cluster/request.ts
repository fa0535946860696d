/** Sends one request to the cluster. The caller judges the answer, except with `call`. */
import type { Client } from '@elastic/elasticsearch'
import type { Readable } from 'node:stream'
import { fail } from '../failure/fail.js'
import type { Failure } from '../failure/failure.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import { RouteError } from '../proxy/route-error.js'
import type { Route } from '../proxy/route.js'
import { type ClusterAnswer, jsonIn, nameRefusal, readAnswer, whoAnswered } from './answers.js'
import { type Bounds, bounded, notAsked } from './bounds.js'
import { lostAnswer, routeErrorOf } from './client-connection.js'

/** A cluster that requests can be sent to. */
export interface ReachedCluster {
  readonly client: Client
  readonly route: Route
  /** The URL without credentials, for messages. */
  readonly display: string
  /** Limits its small requests. Absent: only the time limit of a request holds. */
  readonly bounds?: Bounds
}

interface Question {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object
  /** Expected bytes of the answer, if known. A budget of bytes uses it. */
  readonly answerBytes?: number
}

export interface Call extends Question {
  /** Refusals of Elasticsearch that are an answer: types of error, or a status that has no type. */
  readonly expects?: readonly (string | number)[]
}

export interface Called {
  readonly status: number
  /** Empty if the answer is no JSON object. */
  readonly json: Readonly<Record<string, unknown>>
  /** Both are empty unless the cluster refused the request. */
  readonly type: string
  readonly reason: string
}

/** A mapping of many thousand fields is a few megabytes. */
const CALL_BYTES = 32 << 20

/**
 * Sends one small request about an index or alias, and judges the answer.
 * @throws SluiceError INDEX_REQUEST_REFUSED, RUN_INTERRUPTED (see `inquire`), and every failure of the route. After a failure of the
 * route the cluster may have carried out the request.
 */
export async function call(cluster: ReachedCluster, { expects = [], ...question }: Call): Promise<Called> {
  const answer = await inquire(cluster, { ...question, maxAnswerBytes: CALL_BYTES }).catch((error: unknown) => {
    if (isSluiceError(error)) throw error
    throw new SluiceError(lostAnswer(error, cluster.display).failure, { cause: routeErrorOf(error) })
  })
  const { statusCode: status } = answer
  const answered = whoAnswered(answer, cluster.route)
  if (answered.by !== 'elasticsearch') throw new SluiceError(nameRefusal(answer, answered, cluster.display))
  const { type = '', reason = '' } = answered
  if (status < 300 || expects.includes(type === '' ? status : type))
    return { status, json: jsonIn(answer), type, reason }
  const named = nameRefusal(answer, answered, cluster.display)
  if (named.code !== 'REQUEST_REFUSED') throw new SluiceError(named)
  const request = `${question.method} ${decodeURIComponent(question.path)}`
  throw fail('INDEX_REQUEST_REFUSED', { cluster: cluster.display, request, status, reason: `${type}: ${reason}` })
}

export interface Inquiry extends Question {
  /** Sluice reads no more of an answer. */
  readonly maxAnswerBytes: number
  /** Default: the signal of the cluster's bounds, if any. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends one small request that may be repeated. Resolves to the answer whatever its status. Throws the client's error, with a
 * RouteError as its cause if the route failed.
 * @throws SluiceError RUN_INTERRUPTED if the request was given up, or does not fit into the budget
 */
export async function inquire(
  { client, bounds }: Pick<ReachedCluster, 'client' | 'bounds'>,
  { method, path, query = {}, body, signal = bounds?.givenUp, maxAnswerBytes, answerBytes }: Inquiry,
): Promise<ClusterAnswer> {
  const json = body === undefined ? undefined : JSON.stringify(body)
  const sentBytes = json === undefined ? 0 : Buffer.byteLength(json)
  return await bounded(bounds?.budget?.admitQuestion(sentBytes, answerBytes), async admitted => {
    try {
      const answer = await exchange(
        client,
        { method, path, querystring: { ...query }, ...(json === undefined ? {} : { body: json }) },
        json === undefined ? {} : { 'content-type': 'application/json' },
        { maxAnswerBytes, signal },
      )
      admitted?.answered(answer.body.length)
      return answer
    } catch (error) {
      throw isAbort(error) ? notAsked('Sluice gave the request up') : error
    }
  })
}

export interface Post {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  /** Sluice does not change it before the answer arrives. */
  readonly body: Buffer
  /** Sluice reads no more of an answer. */
  readonly maxAnswerBytes: number
  readonly signal?: AbortSignal | undefined
}

/** Sends one bulk request. Resolves to the answer whatever its status. Throws the client's error, as `inquire` does. */
export async function postBulk(
  { client }: Pick<ReachedCluster, 'client'>,
  { path, query, headers, body, maxAnswerBytes, signal }: Post,
): Promise<ClusterAnswer> {
  return await exchange(
    client,
    { method: 'POST', path, querystring: { ...query }, bulkBody: body },
    { ...headers, 'content-type': 'application/x-ndjson' },
    { maxAnswerBytes, signal },
  )
}

async function exchange(
  client: Client,
  request: Parameters<Client['transport']['request']>[0],
  headers: Readonly<Record<string, string>>,
  { maxAnswerBytes, signal }: { readonly maxAnswerBytes: number; readonly signal: AbortSignal | undefined },
): Promise<ClusterAnswer> {
  const {
    statusCode,
    headers: answered,
    body,
  } = await client.transport.request<Readable>(request, {
    meta: true,
    // The client would parse every item of an answer. Sluice reads only the fields that it needs.
    asStream: true,
    // The default walks every byte of a body for each error. Sluice turns these errors into verdicts and failures.
    redaction: { type: 'off' },
    headers: { accept: 'application/json', ...headers },
    ...(signal === undefined ? {} : { signal }),
  })
  return { statusCode: statusCode ?? 0, headers: answered, body: await readAnswer(body, answered, maxAnswerBytes) }
}

/** True also if the request was aborted before the client used the route. */
function isAbort(error: unknown): boolean {
  const lost = routeErrorOf(error)
  if (lost !== undefined) return lost.code === 'ABORTED'
  return error instanceof Error && error.name === 'RequestAbortedError'
}

/** GET / answers with half a kilobyte. */
const ASKED_BYTES = 1 << 20

interface FreshQuestion {
  /** Default GET. */
  readonly method?: string | undefined
  readonly path: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** Sends one request on a fresh connection, without the client. Resolves to the answer or to the failure of the route. Throws an abort. */
export async function ask(route: Route, question: FreshQuestion): Promise<ClusterAnswer | Failure> {
  const { method = 'GET', body, headers, signal, ...request } = question
  try {
    const response = await route.once({
      ...request,
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body ?? null,
      signal,
    })
    const { statusCode, headers: answered } = response
    return { statusCode, headers: answered, body: await readAnswer(response.body, answered, ASKED_BYTES) }
  } catch (error) {
    if (error instanceof RouteError && error.code !== 'ABORTED') return error.failure
    throw error
  }
}
