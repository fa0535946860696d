/** Sends one request to the cluster. The caller judges the answer, except with `call`. */
import type { Readable } from 'node:stream'
import type { Client } from '@elastic/elasticsearch'
import { fail, type Failure, failure, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import { RouteError } from '../proxy/route-error.js'
import type { Route } from '../proxy/route.js'
import { type ClusterAnswer, jsonIn, nameLaterRefusal, whoAnswered } from './answers.js'
import { ANSWER_UNREADABLE, readAnswer, type ReceivedAnswer } from './read-answer.js'
import { isLoopback } from '../../base/addresses.js'
import { bounded, type Bounds, notAsked } from './bounds.js'
import { lostAnswer, routeErrorOf } from './client-connection.js'

export type { ClusterAnswer }

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
  /** Sent as JSON. A string is JSON already, and a buffer is NDJSON. */
  readonly body?: object | string | Buffer
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
export async function call(cluster: ReachedCluster, question: Call): Promise<Called> {
  const { answer, ...answered } = await judged(cluster, { ...question, maxAnswerBytes: CALL_BYTES })
  return { ...answered, json: jsonIn(answer) }
}

/** Documents of 100 MB are possible, and a page has one at least. */
const DOCUMENTS_BYTES = 256 << 20

/** The same for an answer that holds documents: resolves to its bytes, so that numbers keep their digits. */
export async function callForBytes(
  cluster: ReachedCluster,
  question: Question & Pick<Inquiry, 'signal'>,
): Promise<Buffer> {
  const { answer } = await judged(cluster, { ...question, maxAnswerBytes: DOCUMENTS_BYTES })
  return answer.body
}

async function judged(cluster: ReachedCluster, { expects = [], ...question }: Call & Inquiry) {
  const answer = await inquire(cluster, question).catch((error: unknown) => {
    if (isSluiceError(error)) throw error
    throw new SluiceError(lostAnswer(error, cluster.display).failure, { cause: routeErrorOf(error) })
  })
  const { statusCode: status } = answer
  const answered = whoAnswered(answer, cluster.route)
  if (answered.by !== 'elasticsearch') throw new SluiceError(nameLaterRefusal(answer, answered, cluster.display))
  const { type = '', reason = '' } = answered
  // An error that is only a text has no type of its own.
  const isTyped = type !== '' && type !== 'error'
  if (status < 300 || expects.includes(isTyped ? type : status)) return { status, answer, type, reason }
  const named = nameLaterRefusal(answer, answered, cluster.display)
  if (named.code !== 'REQUEST_REFUSED') throw new SluiceError(named)
  const request = `${question.method} ${decodeURIComponent(question.path)}`
  throw fail('INDEX_REQUEST_REFUSED', { cluster: cluster.display, request, status, reason: `${type}: ${reason}` })
}

interface Inquiry extends Question {
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
  cluster: ReachedCluster,
  { method, path, query = {}, body, signal = cluster.bounds?.givenUp, maxAnswerBytes, answerBytes }: Inquiry,
): Promise<ClusterAnswer> {
  const { bounds } = cluster
  const sent = Buffer.isBuffer(body) ? body : Buffer.from(textOf(body))
  const type = Buffer.isBuffer(body) ? 'application/x-ndjson' : 'application/json'
  return await bounded(bounds?.budget?.admitQuestion(sent.length, answerBytes), async admitted => {
    try {
      const answer = await exchange(
        cluster,
        { method, path, querystring: { ...query }, ...(body === undefined ? {} : { body: sent }) },
        body === undefined ? {} : { 'content-type': type },
        { maxAnswerBytes, signal },
      )
      admitted?.answered(answer.wireBytes)
      return answer
    } catch (error) {
      throw isAbort(error) ? notAsked('Sluice gave up on the request') : error
    }
  })
}

function textOf(body: object | string | undefined): string {
  if (typeof body === 'string') return body
  return body === undefined ? '' : JSON.stringify(body)
}

export interface Post {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  /** Sluice does not change it before the answer arrives. */
  readonly body: Buffer
  /** Sluice holds no more of an answer. */
  readonly maxAnswerBytes: number
  /** How many bytes more an answer may have, because its errors quote the documents. */
  readonly quotedBytes: number
  readonly signal?: AbortSignal | undefined
}

/** Sends one bulk request. Resolves to the answer whatever its status. Throws the client's error, as `inquire` does. */
export async function postBulk(
  cluster: ReachedCluster,
  { path, query, headers, body, maxAnswerBytes, quotedBytes, signal }: Post,
): Promise<ReceivedAnswer> {
  return await exchange(
    cluster,
    { method: 'POST', path, querystring: { ...query }, bulkBody: body },
    { ...headers, 'content-type': 'application/x-ndjson' },
    { maxAnswerBytes, quotedBytes, signal },
  )
}

interface ExchangeLimits {
  readonly maxAnswerBytes: number
  readonly quotedBytes?: number
  readonly signal: AbortSignal | undefined
}

async function exchange(
  { client, display, route }: ReachedCluster,
  request: Parameters<Client['transport']['request']>[0],
  headers: Readonly<Record<string, string>>,
  { maxAnswerBytes, quotedBytes, signal }: ExchangeLimits,
): Promise<ReceivedAnswer> {
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
    headers: { accept: 'application/json', ...(isMetered(route) ? { 'accept-encoding': 'gzip' } : {}), ...headers },
    ...(signal === undefined ? {} : { signal }),
  })
  return await readAnswer({ statusCode, headers: answered, body }, maxAnswerBytes, display, quotedBytes)
}

/** Through a proxy, bytes are paid for and slow. On this machine, compression only costs time. */
function isMetered({ proxy, target }: Route): boolean {
  return proxy !== undefined || !isLoopback(target.hostname)
}

/** True also if the request was aborted before the client used the route. */
function isAbort(error: unknown): boolean {
  const lost = routeErrorOf(error)
  if (lost !== undefined) return lost.code === 'ABORTED'
  return error instanceof Error && error.name === 'RequestAbortedError'
}

/** GET / answers with half a kilobyte. */
const ASKED_BYTES = 1 << 20

export interface FreshQuestion {
  /** Default GET. */
  readonly method?: string | undefined
  readonly path: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
  /** Whether the pool uses the connection afterwards. */
  readonly isKept?: boolean
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** Sends one request on a fresh connection, without the client. Resolves to the answer or to the failure of the route. Throws an abort. */
export async function ask(route: Route, question: FreshQuestion): Promise<ClusterAnswer | Failure> {
  const { method = 'GET', body, headers, signal, isKept = false, ...request } = question
  try {
    const response = await route[isKept ? 'onceAndKeep' : 'once']({
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
    const isWithLogin = headers?.['authorization'] !== undefined
    return { ...(await readAnswer(response, ASKED_BYTES, route.target.origin)), isWithLogin }
  } catch (error) {
    if (!(error instanceof RouteError) || error.code === 'ABORTED') throw error
    if (error.code !== ANSWER_UNREADABLE) return error.failure
    const observed = String(error.failure.evidence['observed'])
    return failure('CLUSTER_NOT_ELASTICSEARCH', { cluster: route.target.origin, observed })
  }
}
